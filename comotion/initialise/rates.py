"""States and rates that the data show, interval by interval."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion._types import FAST, Key
from comotion.coordinates import Actor
from comotion.data.windows import Window
from comotion.dynamics.graph import AbstractGraph
from comotion.encode import RecurrentEncoder
from comotion.encode.differences import finite_differences
from comotion.errors import BadInput
from comotion.model import Model

MOST_TOGETHER = 16
"""Of a crowd, those whose rates are looked at in one interval."""


class Paths(eqx.Module):
    """All objects over many intervals: where they start and end, and their mean rates.

    `after` is None where rates are those of a moment.
    """

    actors: Actor  # leaves have axes (interval, object, entry)
    after: Float[Array, "F A D"] | None
    rates: Float[Array, "F A R"]
    known: Bool[Array, "F A"]
    neighbours: Bool[Array, "F A A"]

    def at(self, rows: Int[np.ndarray, " f"]) -> "Paths":
        """Some of the intervals."""
        return jax.tree.map(lambda leaf: leaf[rows], self)


def given_paths(
    states: Float[Array, "F A D"],
    rates: Float[Array, "F A R"],
    properties: Float[Array, "F A C"] | None = None,
    neighbours: Bool[Array, "A A"] | None = None,
) -> Paths:
    """Rates that are known beside the states, moment by moment, whatever lies between these.

    `neighbours` says who may hear whom; by default everyone hears all others.
    """
    F, A, _ = states.shape
    nothing = jnp.zeros((F, A, 0), states.dtype)
    actors = Actor(states, nothing if properties is None else properties, nothing)
    known = jnp.all(jnp.isfinite(states), axis=-1) & jnp.all(jnp.isfinite(rates), axis=-1)
    heard = ~jnp.eye(A, dtype=bool) if neighbours is None else neighbours
    others = jnp.broadcast_to(heard[None], (F, A, A))
    return Paths(jax.tree.map(jnp.nan_to_num, actors), None, jnp.nan_to_num(rates), known, others)


def observed_paths(model: Model, windows: Window, *, properties_known: bool, key: Key) -> Paths:
    """Properties still to be inferred are drawn from their prior.

    Where positions are hidden, the leading components of what is seen stand in for them.
    """
    layout, order = model.dynamics.layout, model.dynamics.order
    if isinstance(model.encoder, RecurrentEncoder) and model.encoder.glance is not None:
        windows = _with_scores(windows, model.encoder.glance.scores(windows.values), layout.spatial)
    differences = eqx.filter_jit(finite_differences)
    seen = differences(windows, layout, jumps=model.integrator.jumps)
    if not jnp.any(seen.known):
        raise BadInput(
            "no object is observed in two frames in a row with nothing missing, so there is "
            "nothing to start from; fill some gaps, or drop sequences that are mostly empty"
        )
    P, J, A, _ = seen.states.shape
    properties = windows.properties[..., : layout.properties]
    if not properties_known:
        properties = jax.random.normal(key, (P, A, layout.properties), FAST)
    per_frame = jnp.broadcast_to(properties[:, None], (P, J, A, layout.properties))
    learned = seen.rates if order == 1 else seen.rates[..., layout.spatial :]
    actors = Actor(seen.states, per_frame, windows.controls[:, :-1])
    neighbours = jnp.broadcast_to(windows.neighbours[:, None], (P, J, A, A))
    leaves = (actors, seen.after, learned, seen.known, neighbours)
    return Paths(*jax.tree.map(lambda leaf: leaf.reshape(P * J, *leaf.shape[2:]), leaves))


def _with_scores(windows: Window, scores: Float[Array, "P N A G"], axes: int) -> Window:
    """Windows in which the leading components are observed instead of the features."""
    scores = scores[..., :axes]
    complete = jnp.all(windows.present, axis=-1, keepdims=True)
    present = jnp.broadcast_to(complete, scores.shape)
    return eqx.tree_at(lambda w: (w.values, w.present), windows, (scores, present))


def heard_by(graph: AbstractGraph, paths: Paths, spatial: int, *, key: Key) -> Paths:
    """Who hears whom as the graph has it, where that depends on where everyone is.

    Of a crowd those who are nearest to one of them are kept in each interval: what all of them
    hear of each other is too much to regress on.
    """
    if not graph.by_place:
        return paths
    keys = jax.random.split(key, paths.known.shape[0])
    return jax.jit(jax.vmap(lambda path, key: _heard(graph, path, spatial, key)))(paths, keys)


def _heard(graph: AbstractGraph, path: Paths, spatial: int, key: Key) -> Paths:
    """In one interval."""
    places, count = path.actors.state[:, :spatial], path.known.shape[0]
    middle = jnp.argmax(jnp.where(path.known, jax.random.uniform(key, (count,)), -1.0))
    squared = jnp.sum((places - places[middle][None]) ** 2, axis=-1)
    kept = jnp.argsort(jnp.where(path.known, squared, jnp.inf))[:MOST_TOGETHER]
    found = graph(places[kept], path.neighbours[kept][:, kept], path.known[kept])
    objects = jnp.arange(len(kept))
    heard = jnp.zeros((len(kept), len(kept)), bool)
    heard = heard.at[objects[:, None], found.index].max(found.heard)
    few = jax.tree.map(lambda leaf: leaf[kept], path)
    return eqx.tree_at(lambda p: p.neighbours, few, heard)


def some_rows(
    known: Bool[Array, "F A"], most: int, *, key: Key
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Intervals and objects, at random: choosing by the size of a rate would bias what is learned
    from them, and buys nothing."""
    frames, objects = np.nonzero(np.asarray(known))
    rows = np.asarray(jax.random.permutation(key, len(frames)))[:most]
    return frames[rows], objects[rows]
