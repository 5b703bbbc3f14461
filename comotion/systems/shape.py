"""What a model must know about the data it is built for."""

import math
from dataclasses import astuple, dataclass

import numpy as np
from jaxtyping import Bool

from comotion.config import SystemConfig
from comotion.coordinates import ALONE, PAIR, AbstractAloneCoordinates, AbstractPairCoordinates
from comotion.coordinates.layout import Layout
from comotion.data.trajectories import Trajectories
from comotion.data.units import FRAMES, UNKNOWN, Units
from comotion.errors import BadInput

IRREGULAR = 0.01


@dataclass(frozen=True)
class DataShape:
    """The columns of the data, how many objects a sequence has, and the step between frames."""

    features: tuple[str, ...]
    spatial: int
    velocities_observed: bool
    properties: tuple[str, ...]
    controls: tuple[str, ...]
    objects: int
    step: float
    irregular: bool
    units: Units = UNKNOWN


def data_shape(data: Trajectories) -> DataShape:
    steps = np.diff(data.times, axis=1)
    steps = steps[np.isfinite(steps)]
    if steps.size == 0:
        raise BadInput("no sequence has two frames, so nothing is seen to move; give longer ones")
    median = float(np.median(steps))
    return DataShape(
        features=data.features,
        spatial=data.spatial,
        velocities_observed=data.velocities_observed,
        properties=data.static_names,
        controls=data.control_names,
        objects=data.values.shape[2],
        step=median,
        irregular=bool(np.any(np.abs(steps - median) > IRREGULAR * median)),
        units=data.units,
    )


def check_data(config: SystemConfig, shape: DataShape, data: Trajectories) -> None:
    """Refuses data that a model of this shape could not read, or would read wrongly."""
    _same("features", data.features, shape.features)
    if config.properties == "observed":
        _same("static properties", data.static_names, shape.properties)
        _check_known("static property", np.isnan(data.static), data.static_names, data)
    _same("controls", data.control_names, shape.controls)
    _same_units(data.units, shape.units)
    unknown = np.asarray(np.isnan(data.controls).all(axis=1))
    _check_known("control", unknown, data.control_names, data)
    objects = data.values.shape[2]
    fixed = config.who == "joint" or config.accumulation == "nonlinear"
    if fixed and objects != shape.objects:
        raise BadInput(
            f"system '{config.name}' is one function of exactly {shape.objects} objects, but the "
            f"data have {objects}; use an interacting system (I-…) for other numbers"
        )


def _same(what: str, got: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    if got != wanted:
        raise BadInput(
            f"the model was fitted to {what} {_names(wanted)}, but the data have {_names(got)}; "
            "give the same columns in the same order"
        )


def _same_units(got: Units, wanted: Units) -> None:
    for given, known in zip(astuple(got), astuple(wanted), strict=True):
        if given and known and given != known:
            fps = "; fps=… (--fps) makes seconds of frames" if FRAMES in (given, known) else ""
            raise BadInput(
                f"the model was fitted to data in {known}, but these are in {given}: give them in "
                f"the same units{fps}"
            )


def _check_known(
    what: str, unknown: Bool[np.ndarray, "P A C"], names: tuple[str, ...], data: Trajectories
) -> None:
    """What nobody knows must not be taken for zero."""
    missing = np.argwhere(unknown & data.exists[..., None])
    if len(missing):
        p, a, c = missing[0]
        raise BadInput(
            f"object '{data.object_names[p][a]}' of sequence '{data.sequence_names[p]}' has no "
            f"{what} '{names[c]}'; fill it in, or leave out the object or the column"
        )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) if names else "none"


def state_layout(config: SystemConfig, shape: DataShape) -> Layout:
    """The state holds velocities if they are observed, or hidden but part of the system.

    Data without positions have a state that is hidden as a whole.
    """
    hidden = shape.spatial == 0
    spatial = config.hidden_axes if hidden else shape.spatial
    has_velocity = shape.velocities_observed or config.hidden_velocity
    moving = spatial * (2 if has_velocity else 1)
    observed_moving = spatial * (2 if shape.velocities_observed else 1)
    others = 0 if hidden else len(shape.features) - observed_moving
    extra = max(others, config.latent - moving)
    layout = Layout(
        spatial=spatial,
        has_velocity=has_velocity,
        extra=extra,
        properties=_property_count(config, shape),
        controls=len(shape.controls),
        hidden=hidden,
    )
    _check(config, layout, shape, others)
    return layout


def coordinates(
    config: SystemConfig, layout: Layout
) -> tuple[AbstractAloneCoordinates, AbstractPairCoordinates]:
    vectors = layout.vectors if config.order == 1 else 1
    return ALONE[config.alone](layout, vectors), PAIR[config.pair](layout, vectors)


def _property_count(config: SystemConfig, shape: DataShape) -> int:
    counts = {"none": 0, "observed": len(shape.properties), "inferred": config.property_count}
    return counts[config.properties]


def _check(config: SystemConfig, layout: Layout, shape: DataShape, others: int) -> None:
    if layout.hidden and config.decoder == "identity":
        raise BadInput(
            f"none of the {len(shape.features)} features is a position, so nothing observed is the "
            "state itself; name the positions x, y, z, or use decoder='mlp'"
        )
    if layout.hidden and len(shape.features) < layout.spatial:
        raise BadInput(
            f"{len(shape.features)} features cannot tell {layout.spatial} hidden positions apart; "
            "set hidden_axes to no more than there are features"
        )
    if layout.extra and not all(part.takes_extra for part in coordinates(config, layout)):
        raise BadInput(
            f"coordinates '{config.alone}' and '{config.pair}' speak of positions and velocities "
            f"only, but the state has {layout.extra} more entries; use alone='raw' and "
            "pair='relative', or drop the other features"
        )
    if config.order == 2 and not layout.has_velocity:
        raise BadInput("second order needs velocities in the state; set hidden_velocity=true")
    if config.order == 2 and config.time == "discrete":
        raise BadInput(
            "second order says that velocity is the rate of position, which needs "
            "time='continuous'; use order=1 with time='discrete'"
        )
    if math.isfinite(config.radius) and config.scaling == "units":
        raise BadInput(
            f"radius={config.radius:g} is in the data's units, which scaling='units' changes; "
            "use scaling='none', or nearest instead of radius"
        )
    unfit = layout.hidden or layout.extra or not layout.has_velocity
    if config.encoder == "smoother" and unfit:
        raise BadInput(
            "the smoothing encoder is for states of observed positions and velocities only; "
            "use encoder='gru'"
        )
    if config.properties == "inferred" and config.property_reading == "local" and layout.hidden:
        raise BadInput(
            "there is no line between objects whose positions are hidden; "
            "use property_reading='features'"
        )
    if others and layout.has_velocity and not shape.velocities_observed:
        raise BadInput(
            f"features {', '.join(shape.features[shape.spatial :])} stand where hidden velocities "
            "would be in the state; drop them, or observe the velocities"
        )
