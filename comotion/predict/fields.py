"""Draws of the learned functions themselves, on grids of positions and in the data's units."""

import math
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.backend.keys import key_for
from comotion.contacts import Contacts
from comotion.coordinates import Actor
from comotion.dynamics import InteractingDynamics
from comotion.errors import BadInput
from comotion.model import FirstEntries
from comotion.predict.fitted import FittedModel
from comotion.predict.probes import Probes, probes

if TYPE_CHECKING:
    import xarray as xr

AXES = ("x", "y", "z")


def fields(
    fitted: FittedModel,
    *,
    draws: int = 50,
    seed: int = 0,
    resolution: int = 21,
    speed: float | None = None,
) -> "xr.Dataset":
    """Draws of f_s over positions and of f_b over relative positions, as `report.fields` wants.

    f_s is shown for an object that moves to the right at `speed` (by default the typical speed of
    the training data), f_b for an object in the middle of the scene and a neighbour that close in
    on each other at `speed`, each at half of it: what bounces shows itself only to what moves.
    Properties are one unit of the model's scaling, everything else is at its mean. Functions of
    discrete time are shown as changes per frame. Draw k is the law of draw k of a forecast with
    the same seed and number of draws. Where the law knows hard contacts,
    walls stand beside them, and `contact_distance` if all objects are of one size.
    """
    dynamics = _interacting(fitted)
    speed = typical_speed(fitted) if speed is None else float(speed)
    _check(draws, resolution, speed)
    asked = probes(fitted, dynamics.layout, resolution, speed)
    keys = jax.random.split(key_for("forecast", seed), draws)
    drawn = _draw(dynamics, asked.lonely(), *asked.couples(), keys)
    f_s, f_b = (asked.units.rates(np.asarray(values, np.float64)) for values in drawn[:2])
    dataset = _dataset(fitted, dynamics, asked, f_s, f_b)
    return dataset if drawn[2] is None else _with_contacts(dataset, fitted, drawn[2])


def _with_contacts(dataset: "xr.Dataset", fitted: FittedModel, drawn: Contacts) -> "xr.Dataset":
    """Walls and the distance of contact, as the pictures want them."""
    outline = fitted.outline
    assert outline is not None
    shown = dataset.assign(
        walls=(("wall", "end", "axis"), np.reshape(outline.segments, (-1, 2, 2))),
        round_walls=(("round_wall", "circle"), np.reshape(outline.circles, (-1, 3))),
    )
    if drawn.radii.shape[1] == 1:
        distances = 2 * np.asarray(drawn.radii, float)[:, 0] * float(fitted.scaling.scale[0])
        shown = shown.assign(contact_distance=("draw", distances))
    return shown.assign_attrs(contacts=fitted.contacts, only_contacts=int(drawn.only))


def typical_speed(fitted: FittedModel) -> float:
    """Root mean square speed of the training data.

    Where velocities are hidden, how wrong straight flight and standing still are together, over
    the time it took: for motion in a bounded scene that is about the speed.
    """
    spatial, summary = fitted.shape.spatial, fitted.summary
    if fitted.shape.velocities_observed:
        velocity = slice(spatial, 2 * spatial)
        squares = summary.sd[velocity] ** 2 + summary.mean[velocity] ** 2
        return float(np.sqrt(squares.sum()))
    squares = summary.drift_sd[-1, :spatial] ** 2 + summary.sd[:spatial] ** 2
    return float(np.sqrt(squares.sum())) / max(float(summary.lead[-1]), fitted.shape.step)


def _interacting(fitted: FittedModel) -> InteractingDynamics:
    dynamics, name = fitted.model.dynamics, fitted.config.system.name
    if not isinstance(dynamics, InteractingDynamics):
        raise BadInput(
            f"system '{name}' is one function of all objects, so there is no f_s and no f_b to "
            "show; use an interacting system (I-…)"
        )
    if not isinstance(fitted.model.observation.decoder, FirstEntries):
        raise BadInput(
            f"system '{name}' decodes observations from a hidden state in which no entry is a "
            "position, so its functions cannot be shown over positions; use decoder='identity'"
        )
    return dynamics


def _check(draws: int, resolution: int, speed: float) -> None:
    if draws < 1 or resolution < 2:
        raise BadInput(
            f"draws={draws} and resolution={resolution} make no picture; give at least 1 draw "
            "and a resolution of at least 2"
        )
    if not (math.isfinite(speed) and speed >= 0):
        raise BadInput(f"speed={speed:g} is no speed; give a finite number of at least 0")


@eqx.filter_jit
def _draw(
    dynamics: InteractingDynamics, lonely: Actor, hearing: Actor, heard: Actor, keys: Array
) -> tuple[Float[Array, "L B R"], Float[Array, "L E R"], Contacts | None]:
    def one(key: Key) -> tuple[Float[Array, "B R"], Float[Array, "E R"], Contacts | None]:
        key_field, _, _ = jax.random.split(key, 3)  # as a forecast splits the key of a draw
        field = dynamics.draw(key=key_field)
        own, received = field.independent(lonely), field.interaction(hearing, heard)
        return own, received, field.contact

    return jax.lax.map(one, keys)


def _dataset(
    fitted: FittedModel,
    dynamics: InteractingDynamics,
    asked: Probes,
    f_s: Float[np.ndarray, "L B R"],
    f_b: Float[np.ndarray, "L E R"],
) -> "xr.Dataset":
    import xarray as xr

    names = AXES[: asked.positions.planar]
    gaps = tuple(f"d{name}" for name in names)
    resolution, layout = asked.positions.resolution, dynamics.layout
    grid = (len(f_s), *[resolution] * len(names), f_s.shape[-1])
    around, line = f_b[:, :-resolution], f_b[:, -resolution:]
    # With the neighbour on the left, x points away from it and y across.
    x = layout.spatial if dynamics.order == 1 and layout.has_velocity else 0
    return xr.Dataset(
        {
            "f_s": (("draw", *reversed(names), "component"), f_s.reshape(grid)),
            "f_b": (("draw", *reversed(gaps), "component"), around.reshape(grid)),
            "f_b_line": (("draw", "distance", "direction"), line[..., x : x + len(names)]),
        },
        coords={
            **dict(zip(names, asked.positions.axes, strict=True)),
            **dict(zip(gaps, asked.gaps.axes, strict=True)),
            "component": _components(fitted, dynamics),
            "distance": asked.distances,
            "direction": ["radial", "tangential"][: len(names)],
        },
        attrs=_attributes(fitted, dynamics, asked),
    )


def _components(fitted: FittedModel, dynamics: InteractingDynamics) -> list[str]:
    """Accelerations go by the names of the axes; first-order rates by those of the state."""
    layout = dynamics.layout
    vector = list(AXES[: layout.spatial])
    moving = vector
    if dynamics.order == 1 and layout.has_velocity:
        moving = vector + [f"v{name}" for name in vector]
    others = list(fitted.shape.features[layout.spatial * layout.vectors :])
    hidden = [f"hidden {k + 1}" for k in range(layout.extra - len(others))]
    return moving + others + hidden


def _attributes(
    fitted: FittedModel, dynamics: InteractingDynamics, asked: Probes
) -> dict[str, str]:
    """At what the functions were asked, in words."""
    units, layout = fitted.shape.units, dynamics.layout
    attributes = {"system": fitted.config.system.name} | units.attributes
    if layout.has_velocity:
        attributes["velocity"] = f"({asked.speed:.3g}{', 0' * (layout.spatial - 1)})"
        attributes["closing_speed"] = f"{asked.speed:.3g}, half of it by each object"
    if layout.properties and fitted.model.gives_properties:
        units = np.asarray(fitted.scaling.property_scale)
        pairs = zip(fitted.shape.properties, units, strict=True)
        attributes["properties"] = ", ".join(f"{name} = {unit:.3g}" for name, unit in pairs)
    elif layout.properties:
        attributes["properties"] = "each inferred property = 1"
    return attributes
