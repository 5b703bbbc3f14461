"""Everything the explorable page knows: recordings, drawn laws, and how to follow them.

`SCHEMA` is the version of what is written. New parts are added beside the old ones; a page
refuses a version it does not know.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from comotion import __version__
from comotion.backend.keys import key_for
from comotion.coordinates.layout import Layout
from comotion.data import Trajectories
from comotion.dynamics import InteractingDynamics, JointDynamics, Nonlinear
from comotion.errors import BadInput
from comotion.model import FirstEntries, Model, Start
from comotion.predict import FittedModel
from comotion.predict.origin import CANDIDATES, MOVES, Search
from comotion.predict.probes import state_units
from comotion.report.explorer.laws import describe, once_where_equal
from comotion.report.explorer.scenes import Drawn, Seen, draw, origins, seen_by
from comotion.systems import check_data

SCHEMA = 1
MOST_NUMBERS = 1_500_000
"""of all drawn laws together: six megabytes of a file, and what a drag can wait for"""


@dataclasses.dataclass(frozen=True)
class Extent:
    """How much of a model and its data a page carries."""

    draws: int = 30
    sequences: int = 8
    frames: int = 100
    """frames to forecast, also beyond the end of a recording"""
    origins: int = 12
    """moments of each sequence to forecast from"""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("draws", "sequences", "frames", "origins"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name}={getattr(self, name)} leaves nothing to explore; give 1")


def explorable(
    fitted: FittedModel, data: Trajectories, extent: Extent, title: str
) -> dict[str, Any]:
    """The content of a page, as `pack` wants it."""
    _check_positions(fitted, data)
    check_data(fitted.config.system, fitted.shape, data)
    data, model = data[: extent.sequences], fitted.model
    seen = seen_by(fitted)
    frames = origins(data, seen.frames, extent.origins)
    draws = _affordable(model, extent.draws)
    keys = jax.random.split(key_for("forecast", extent.seed), draws)
    bounces = fitted.contact_law is not None
    search = Search(1, seen.frames, MOVES) if bounces else Search(CANDIDATES, seen.frames)
    drawn = draw(model, fitted.excerpts(data), search, jnp.asarray(frames), keys)
    layout = model.dynamics.layout
    return {
        "schema": SCHEMA,
        "made_by": f"comotion {__version__}",
        "title": title,
        "system": fitted.system,
        "draws": draws,
        "seed": extent.seed,
        "frames": extent.frames,
        "step": fitted.shape.step,
        "features": list(data.features),
        "properties": _property_names(fitted, layout),
        "units": _units(fitted, layout),
        "stretch": dataclasses.asdict(fitted.stretch),
        "can": _allowed(model),
        "layout": describe(layout),
        "field": once_where_equal(describe(drawn.field)),
        "outline": None if fitted.outline is None else dataclasses.asdict(fitted.outline),
        "integrator": describe(model.integrator),
        "noise": describe(model.process_noise),
        "decoder": describe(model.observation.decoder),
        "sequences": [
            _sequence(data, drawn, p, frames, seen, _slots(model, data, p))
            for p in range(len(data))
        ],
    }


def _check_positions(fitted: FittedModel, data: Trajectories) -> None:
    if fitted.shape.spatial == 0 or len(data) == 0:
        raise BadInput(
            f"system '{fitted.system}' was fitted to features without positions, so there is no "
            "scene to explore; name the positions x, y, z"
        )


def _affordable(model: Model, draws: int) -> int:
    """Large networks are many numbers each; fewer of them keep the file small."""
    functions = model.dynamics.functions().values()
    shapes = [jax.eval_shape(lambda f=f: f.draw(key=jax.random.key(0))) for f in functions]
    size = sum(leaf.size for leaf in jax.tree.leaves(shapes))
    return max(1, min(draws, MOST_NUMBERS // size))


def _property_names(fitted: FittedModel, layout: Layout) -> list[str]:
    if fitted.model.gives_properties:
        return list(fitted.shape.properties)
    return [f"inferred property {c + 1}" for c in range(layout.properties)]


def _units(fitted: FittedModel, layout: Layout) -> dict[str, Any]:
    """Zero and unit of observed features, of all entries of a state, of time and properties, and
    what lengths, times and speeds are measured in, as people write it."""
    units, scaling = state_units(fitted, layout), fitted.scaling
    properties = np.ones(layout.properties)
    if fitted.model.gives_properties:
        properties = np.asarray(scaling.property_scale)
    return {
        "feature_shift": np.asarray(scaling.shift, np.float64),
        "feature_scale": np.asarray(scaling.scale, np.float64),
        "state_shift": units.shift,
        "state_scale": units.scale,
        "time": float(scaling.time),
        "properties": np.asarray(properties, np.float64),
        "names": {name: getattr(fitted.shape.units, name) for name in ("length", "time", "speed")},
    }


def _allowed(model: Model) -> dict[str, bool]:
    """What a visitor may do without asking the law for something it does not say."""
    dynamics = model.dynamics
    interacting = isinstance(dynamics, InteractingDynamics)
    any_number = interacting and not isinstance(dynamics.accumulation, Nonlinear)
    assert interacting or isinstance(dynamics, JointDynamics)
    return {
        "move": isinstance(model.observation.decoder, FirstEntries),
        "remove": interacting,
        "cut": interacting,
        "duplicate": any_number,
    }


def _slots(model: Model, data: Trajectories, p: int) -> np.ndarray:
    """The objects of a sequence; a law of a fixed number of objects needs its empty places too."""
    if _allowed(model)["duplicate"]:
        return np.flatnonzero(data.exists[p])
    return np.arange(data.values.shape[2])


def _habits(starts: Start, p: int) -> Float[np.ndarray, "L origins A d"]:
    """What process noise with a memory begins with: acceleration, speed, variation, activity."""
    known = starts.habits
    if known is None:
        return np.asarray(starts.initial)[:1, :, p, :, :0]
    alone = np.stack([known.speed, known.variation, known.activity], axis=-1)
    return np.concatenate([known.acceleration, alone], axis=-1)[:, :, p].astype(np.float32)


def _sequence(
    data: Trajectories, drawn: Drawn, p: int, frames: np.ndarray, seen: Seen, slots: np.ndarray
) -> dict[str, Any]:
    length = int(data.lengths[p])
    return {
        "name": data.sequence_names[p],
        "objects": [data.object_names[p][a] for a in slots],
        "times": data.times[p, :length],
        "values": data.values[p, :length][:, slots].astype(np.float32),
        "alive": data.alive[p, :length][:, slots],
        "neighbours": data.neighbours[p][np.ix_(slots, slots)],
        "controls": np.nan_to_num(data.controls[p, :length][:, slots]).astype(np.float32),
        "origins": frames + seen.begins,
        "seen": seen.and_begun,
        "starts": np.asarray(drawn.starts.initial)[:, :, p][:, :, slots],  # L origins A D
        "habits": _habits(drawn.starts, p)[:, :, slots],
        "static": np.asarray(drawn.starts.properties)[:, 0, p][:, slots],  # L A C
    }
