"""Where functions start: the inputs the data visit and the size of the rates they show."""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from comotion._types import FAST, Key
from comotion.config import SystemConfig
from comotion.coordinates import AbstractAloneCoordinates, AbstractPairCoordinates, Actor
from comotion.data.components import Components, principal_components
from comotion.data.derivatives import finite_differences
from comotion.data.windows import Window
from comotion.dynamics import ACCUMULATIONS, Encounters, joint_inputs
from comotion.errors import BadInput
from comotion.functions import FunctionRequest
from comotion.layout import Layout
from comotion.systems.shape import coordinates

MOST_ROWS = 10_000
GLANCE = 20


@dataclass(frozen=True)
class Start:
    """One entry per function: f_s, f_b and those of the accumulation, or f for joint systems."""

    functions: dict[str, FunctionRequest]
    feature_variance: Float[np.ndarray, " O"]
    glance: Components | None
    """what an encoder of hidden positions looks at first"""


@dataclass(frozen=True)
class Moments:
    """Object-frames whose state and rate the data show; rows keep objects of a frame together."""

    actors: Actor  # leaves have axes (frame, object)
    after: Float[Array, "F A D"]
    rates: Float[np.ndarray, "F A R"]
    known: np.ndarray  # (F, A)
    neighbours: np.ndarray  # (F, A, A)


def start_from_data(
    config: SystemConfig,
    layout: Layout,
    windows: Window,
    *,
    key: Key,
    smooth: Window | None = None,
) -> Start:
    """`smooth` are the windows without their measurement noise, where that could be taken away."""
    key_properties, key_rows = jax.random.split(key)
    shown = windows if smooth is None else smooth
    moments = observed_moments(config, layout, shown, key=key_properties)
    if not moments.known.any():
        raise BadInput(
            "no object is observed in two frames in a row with nothing missing, so there is "
            "nothing to start from; fill some gaps, or drop sequences that are mostly empty"
        )
    sizes = _rate_sizes(moments)
    return Start(
        functions=_function_starts(config, layout, moments, sizes, key=key_rows),
        feature_variance=_feature_variance(windows, together=layout.hidden),
        glance=glance(windows) if layout.hidden else None,
    )


def _rate_sizes(moments: Moments) -> Float[np.ndarray, " R"]:
    """Root mean squares; what is never seen to move (latent entries) is given a typical size."""
    sizes = np.sqrt(np.mean(moments.rates[moments.known] ** 2, axis=0))
    moving = sizes[sizes > 0]
    return np.where(sizes > 0, sizes, moving.mean() if moving.size else 1.0).clip(1e-6)


def blank_start(config: SystemConfig, layout: Layout, objects: int, observed: int) -> Start:
    """Stands in for data when every value will be replaced by those of a model file."""
    actors = Actor(
        jnp.zeros((1, objects, layout.state), FAST),
        jnp.zeros((1, objects, layout.properties), FAST),
        jnp.zeros((1, objects, layout.controls), FAST),
    )
    learned = layout.state if config.order == 1 else layout.state - layout.spatial
    moments = Moments(
        actors,
        after=actors.state,
        rates=np.zeros((1, objects, learned)),
        known=np.ones((1, objects), bool),
        neighbours=~np.eye(objects, dtype=bool)[None],
    )
    sizes, key = np.ones(learned), jax.random.key(0)
    functions = _function_starts(config, layout, moments, sizes, key=key)
    width = min(GLANCE, observed)
    blank = Components(jnp.zeros(observed, FAST), jnp.zeros((observed, width), FAST))
    return Start(functions, np.ones(observed), blank if layout.hidden else None)


def observed_moments(config: SystemConfig, layout: Layout, windows: Window, *, key: Key) -> Moments:
    """Properties still to be inferred are drawn from their prior.

    Where positions are hidden, the leading components of what is seen stand in for them.
    """
    if layout.hidden:
        windows = _with_scores(windows, glance(windows), layout.spatial)
    differences = eqx.filter_jit(finite_differences)
    seen = differences(windows, layout, jumps=config.time == "discrete")
    P, J, A, _ = seen.states.shape
    properties = {
        "none": jnp.zeros((P, A, 0), FAST),
        "observed": windows.properties,
        "inferred": jax.random.normal(key, (P, A, layout.properties), FAST),
    }[config.properties]
    per_frame = jnp.broadcast_to(properties[:, None], (P, J, A, properties.shape[-1]))
    actors = Actor(seen.states, per_frame, windows.controls[:, :-1])
    learned = seen.rates if config.order == 1 else seen.rates[..., layout.spatial :]
    neighbours = jnp.broadcast_to(windows.neighbours[:, None], (P, J, A, A))
    return Moments(
        actors=jax.tree.map(lambda leaf: leaf.reshape(P * J, A, leaf.shape[-1]), actors),
        after=seen.after.reshape(P * J, A, -1),
        rates=np.asarray(learned, np.float64).reshape(P * J, A, -1),
        known=np.asarray(seen.known).reshape(P * J, A),
        neighbours=np.asarray(neighbours).reshape(P * J, A, A),
    )


def glance(windows: Window) -> Components:
    """Enough components to tell where things are."""
    return principal_components(windows, min(GLANCE, windows.values.shape[-1]))


def _with_scores(windows: Window, components: Components, axes: int) -> Window:
    """Windows in which the leading components are observed instead of the features."""
    scores = components.scores(windows.values)[..., :axes]
    complete = jnp.all(windows.present, axis=-1, keepdims=True)
    present = jnp.broadcast_to(complete, scores.shape)
    return eqx.tree_at(lambda w: (w.values, w.present), windows, (scores, present))


def eventful_rows(
    rates: Float[np.ndarray, "F A R"], known: np.ndarray, share: float, most: int, *, key: Key
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Frames and objects: a random sample, of which `share` is taken where rates are largest.

    Collisions are one frame in a hundred, and the only frames that show how objects collide.
    """
    frames, objects = np.nonzero(known)
    order = np.asarray(jax.random.permutation(key, len(frames)))
    count = min(most, len(frames))
    eventful = int(share * count)
    size = np.linalg.norm(rates[frames, objects], axis=1)
    ranked = order[np.argsort(-size[order], kind="stable")]
    rows = np.concatenate([ranked[:eventful], order[: count - eventful]])
    return frames[rows], objects[rows]


def _function_starts(
    config: SystemConfig,
    layout: Layout,
    moments: Moments,
    sizes: Float[np.ndarray, " R"],
    *,
    key: Key,
) -> dict[str, FunctionRequest]:
    if config.who == "joint":
        return _joint_start(config, layout, moments, sizes, key=key)
    return _interacting_start(config, layout, moments, sizes, key=key)


def _interacting_start(
    config: SystemConfig,
    layout: Layout,
    moments: Moments,
    sizes: Float[np.ndarray, " R"],
    *,
    key: Key,
) -> dict[str, FunctionRequest]:
    key_rows, key_accumulation = jax.random.split(key)
    alone, pair = coordinates(config, layout)
    frames, objects = eventful_rows(
        moments.rates, moments.known, config.events, MOST_ROWS, key=key_rows
    )
    actors, others = _pairs(moments, frames, objects)
    own = jax.tree.map(lambda leaf: leaf[frames, objects], moments.actors)
    everyone_else = moments.known.shape[1] - 1
    seen = Encounters(
        actors,
        others,
        rate_sizes=sizes,
        most_heard=min(config.nearest or everyone_else, everyone_else),
        layout=layout,
        config=config,
    )
    return {
        "f_s": FunctionRequest(
            _rows(jax.jit(jax.vmap(alone.inputs))(own)),
            _output_sizes(alone.rates, alone, sizes, own),
            "alone",
            layout,
            config,
        ),
        "f_b": seen.request(
            _rows(jax.jit(jax.vmap(pair.inputs))(actors, others)),
            _output_sizes(pair.rates, pair, sizes, actors, others),
        ),
        **ACCUMULATIONS[config.accumulation].requests(seen, key=key_accumulation),
    }


def _joint_start(
    config: SystemConfig,
    layout: Layout,
    moments: Moments,
    sizes: Float[np.ndarray, " R"],
    *,
    key: Key,
) -> dict[str, FunctionRequest]:
    complete = np.all(moments.known, axis=1)
    if not complete.any():
        raise BadInput(
            f"system '{config.name}' needs frames in which every object is seen, and there are "
            "none; use an interacting system (I-…), which takes objects as they come"
        )
    size = np.where(complete[:, None], np.linalg.norm(moments.rates, axis=2), 0.0)
    whole = complete[:, None]  # one row per frame: a frame counts as one object
    frames, _ = eventful_rows(
        size.max(axis=1)[:, None, None], whole, config.events, MOST_ROWS, key=key
    )
    chosen = jax.tree.map(lambda leaf: leaf[frames], moments.actors)
    inputs, scale = _rows(jax.vmap(joint_inputs)(chosen)), np.tile(sizes, moments.known.shape[1])
    replaces = tuple((part.in_size, part.out_size) for part in coordinates(config, layout))
    return {"f": FunctionRequest(inputs, scale, "alone", layout, config, replaces)}


def _pairs(moments: Moments, frames: np.ndarray, objects: np.ndarray) -> tuple[Actor, Actor]:
    """Every chosen object with every object it hears, where both are known."""
    heard = moments.neighbours[frames, objects] & moments.known[frames]  # (n, A)
    rows, others = np.nonzero(heard)
    if len(rows) == 0:  # a single object: the interaction exists but is never used
        rows, others = np.arange(len(frames)), objects
    actors = jax.tree.map(lambda leaf: leaf[frames[rows], objects[rows]], moments.actors)
    return actors, jax.tree.map(lambda leaf: leaf[frames[rows], others], moments.actors)


def _output_sizes(
    rates: Callable[..., Array],
    part: AbstractAloneCoordinates | AbstractPairCoordinates,
    sizes: Float[np.ndarray, " R"],
    *actors: Actor,
) -> Float[np.ndarray, " Q"]:
    """Each output is about as large as the rates it contributes to."""
    example = tuple(jax.tree.map(lambda leaf: leaf[0], actor) for actor in actors)
    shape = (*part.inputs(*example).shape[:-1], part.out_size)
    slopes = jax.jit(jax.jacobian(lambda outputs: rates(outputs, *example)))
    reach = slopes(jnp.ones(shape, FAST))
    reach = np.abs(np.asarray(reach, np.float64)).reshape(len(sizes), -1, part.out_size)
    reach = reach.sum(axis=1) + 1e-12  # (R, Q)
    return np.sqrt((reach * sizes[:, None] ** 2).sum(axis=0) / reach.sum(axis=0))


def _rows(inputs: Array) -> Float[np.ndarray, "N I"]:
    return np.asarray(inputs, np.float64).reshape(-1, inputs.shape[-1])


def _feature_variance(windows: Window, *, together: bool) -> Float[np.ndarray, " O"]:
    """`together`: the mean over all features for each, since some pixels are never lit."""
    values = np.where(windows.present, windows.values, np.nan)
    variance = np.nanvar(values, axis=(0, 1, 2))
    return (np.full_like(variance, variance.mean()) if together else variance).clip(1e-12)
