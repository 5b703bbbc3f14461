"""What would happen if: an object less or more, an edge cut, a velocity or a property set.

Both worlds share the draws of the law, of the start and of all noise, so that their difference is
the effect of the change alone, with what the posterior leaves open about it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from comotion._types import FAST
from comotion.data.trajectories import Trajectories
from comotion.encode import OriginFilter
from comotion.errors import BadInput
from comotion.predict.change import Change
from comotion.predict.effect import Effect, effect
from comotion.predict.fitted import FittedModel
from comotion.predict.forecast import Forecast
from comotion.predict.probes import state_units

Vectors = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A change in the names and units of the data."""

    remove: Sequence[str] = ()
    cut: Sequence[tuple[str, str]] = ()
    velocity: Vectors = field(default_factory=dict)
    position: Vectors = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def named(self) -> set[str]:
        pairs = {str(name) for pair in self.cut for name in pair}
        return (
            pairs
            | {str(n) for n in (*self.remove, *self.velocity, *self.position)}
            | {str(name) for name in self.properties}
        )


def what_if(
    fitted: FittedModel,
    data: Trajectories,
    *,
    remove: Sequence[str] = (),
    cut: Sequence[tuple[str, str]] = (),
    velocity: Vectors | None = None,
    position: Vectors | None = None,
    properties: Mapping[str, Mapping[str, float]] | None = None,
    add: Mapping[str, tuple[Any, Any]] | None = None,
    **options: Any,
) -> Effect:
    """The effect of a change at the start of a forecast, on every object.

    - `remove`: objects that are gone; `cut`: pairs who no longer hear each other;
    - `velocity`, `position`, `properties`: by the object's name, in the data's units;
    - `add`: new objects by name, each a position and a velocity.

    `options` go to `predict` (draws, times, seed).
    """
    remove = [remove] if isinstance(remove, str) else list(remove)
    added = dict(add or {})
    wanted = Wanted(
        remove,
        cut,
        {**(velocity or {}), **{name: moving for name, (_, moving) in added.items()}},
        {**(position or {}), **{name: place for name, (place, _) in added.items()}},
        properties or {},
    )
    whole = _with_more(data, added) if added else data
    _check_names(whole, wanted.named)
    before = make_change(fitted, whole, Wanted(remove=list(added)))
    after = make_change(fitted, whole, wanted)
    base = fitted.predict(whole, change=before, **options)
    return effect(fitted.predict(whole, change=after, **options), base)


def without_some_of(
    fitted: FittedModel, like: Forecast, data: Trajectories
) -> tuple[Change, Trajectories]:
    """Who of an earlier forecast's objects are not in `data`, and what that forecast has seen."""
    if like.seen is None:
        raise BadInput("like=… needs a forecast that predict just made: make it again.")
    old, new = (
        [{name for name in row if name} for row in one.object_names] for one in (like.seen, data)
    )
    if len(old) != len(new) or any(b - a for a, b in zip(old, new, strict=True)):
        raise BadInput(
            "like=… takes the data of that forecast without some of its objects; "
            "use what_if(add=…) for new ones."
        )
    change = make_change(fitted, like.seen, Wanted())
    gone = [[name not in kept for name in row] for row, kept in zip(like.names, new, strict=True)]
    present = change.present & ~jnp.asarray(np.array(gone))
    return dataclasses.replace(change, present=present), like.seen


def simulate(
    fitted: FittedModel,
    states: np.ndarray,
    times: np.ndarray,
    *,
    objects: Sequence[str] | None = None,
    static: np.ndarray | None = None,
    **options: Any,
) -> Forecast:
    """Futures from states that are given exactly: a row of position and velocity for each object.

    `static` holds the properties that the model was given in training, a row for each object.
    """
    d, times = fitted.shape.spatial, np.sort(times)
    if states.ndim != 2 or states.shape[1] != 2 * d or len(times) < 2:
        raise BadInput(
            f"states have shape {states.shape} and there are {len(times)} times: give {2 * d} "
            "numbers for each object, positions and then velocities, and at least two times."
        )
    names = [str(a) for a in range(len(states))] if objects is None else list(map(str, objects))
    data = _straight(fitted, states[:, :d], states[:, d:], times[0], names, static)
    rows = dict(zip(names, states, strict=True))
    wanted = Wanted(
        velocity={name: row[d:] for name, row in rows.items()},
        position={name: row[:d] for name, row in rows.items()},
    )
    return fitted.predict(data, times=times, change=make_change(fitted, data, wanted), **options)


def make_change(fitted: FittedModel, data: Trajectories, wanted: Wanted) -> Change:
    layout = fitted.model.dynamics.layout
    P, A = data.exists.shape
    present, heard = np.ones((P, A), bool), np.ones((P, A, A), bool)
    state = np.full((P, A, layout.state), np.nan)
    properties = np.full((P, A, layout.properties), np.nan)
    units = state_units(fitted, layout)
    scale = np.asarray(fitted.scaling.property_scale)
    for p, row in enumerate(data.object_names):
        slot = {name: a for a, name in enumerate(row) if name}
        for name in wanted.remove:
            present[p, slot.get(str(name), [])] = False
        for one, other in wanted.cut:
            a, b = slot.get(str(one)), slot.get(str(other))
            if a is not None and b is not None:
                heard[p, a, b] = heard[p, b, a] = False
        for where, vectors in (
            (layout.position, wanted.position),
            (layout.velocity, wanted.velocity),
        ):
            for name, vector in vectors.items():
                if str(name) in slot:
                    given = (np.asarray(vector) - units.shift[where]) / units.scale[where]
                    state[p, slot[str(name)], where] = given
        for name, values in wanted.properties.items():
            for what, value in values.items():
                c = _property(fitted, what)
                if str(name) in slot:
                    properties[p, slot[str(name)], c] = value / scale[c]
    return Change(
        jnp.asarray(present),
        jnp.asarray(heard),
        jnp.asarray(state, FAST),
        jnp.asarray(properties, FAST),
    )


def _property(fitted: FittedModel, name: str) -> int:
    names = fitted.shape.properties
    if name not in names or not fitted.model.gives_properties:
        raise BadInput(
            f"The model was given no property {name!r}: it knows {', '.join(names) or 'none'}."
        )
    return names.index(name)


def _check_names(data: Trajectories, named: set[str]) -> None:
    known = {name for row in data.object_names for name in row}
    strangers = sorted(named - known)
    if strangers:
        listed = ", ".join(sorted(known - {""})[:10])
        raise BadInput(f"There is no object {strangers[0]!r} to change; there are {listed}.")


def _with_more(
    data: Trajectories,
    added: Mapping[str, tuple[Any, Any]],
) -> Trajectories:
    """Further slots with objects that fly straight on, so that something can be encoded."""
    d, extra = data.spatial, len(added)
    P, N, A, features = data.values.shape
    values = np.concatenate([data.values, np.full((P, N, extra, features), np.nan)], axis=2)
    controls = np.concatenate([data.controls, np.zeros((P, N, extra, data.controls.shape[-1]))], 2)
    usual = np.nanmean(data.static, axis=1, keepdims=True)  # unless properties are set as well
    static = np.concatenate([data.static, np.repeat(usual, extra, axis=1)], axis=1)
    for i, (place, moving) in enumerate(added.values()):
        since = (data.times - data.times[:, :1])[..., None]
        values[:, :, A + i, :d] = np.asarray(place) + since * np.asarray(moving)
        if data.velocities_observed:
            values[:, :, A + i, d : 2 * d] = np.where(np.isnan(since), np.nan, np.asarray(moving))
    controls[np.isnan(data.times)] = np.nan
    graph = None
    if data.graph is not None:
        graph = np.ones((P, A + extra, A + extra), bool) & ~np.eye(A + extra, dtype=bool)
        graph[:, :A, :A] = data.graph
    return dataclasses.replace(
        data,
        values=values,
        controls=controls,
        static=static,
        graph=graph,
        object_names=tuple((*row, *map(str, added)) for row in data.object_names),
    )


def _straight(
    fitted: FittedModel,
    places: np.ndarray,
    moving: np.ndarray,
    start: float,
    names: Sequence[str],
    static: np.ndarray | None,
) -> Trajectories:
    """A few frames from `start` on, as the model wants to see them; their motion is replaced."""
    shape, d = fitted.shape, fitted.shape.spatial
    frames = max(2, fitted.config.system.encoder_frames)
    since = shape.step * np.arange(frames)
    if isinstance(fitted.model.encoder, OriginFilter):
        since -= since[-1]  # such a model starts at the last frame, others at the first
    times = start + since
    values = np.zeros((1, frames, len(places), len(shape.features)))
    values[0, ..., :d] = places + since[:, None, None] * moving
    if shape.velocities_observed:
        values[0, ..., d : 2 * d] = moving
    return Trajectories.from_arrays(
        values,
        times,
        features=shape.features,
        static=np.full((len(places), len(shape.properties)), np.nan) if static is None else static,
        static_names=shape.properties,
        controls=np.zeros((frames, len(places), len(shape.controls))),
        control_names=shape.controls,
        object_names=[list(names)],
        units=shape.units,
    )
