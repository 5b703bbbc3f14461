"""The nearest of many points, exactly, without comparing all pairs.

Points are sorted into boxes of a few (sort-tile-recursive packing: sorted along the first axis,
cut into slabs, each slab along the next axis, …), so that boxes are small where points are dense.
Every box then looks through the other boxes, the nearest first and some at a time, until none that
is left can hold anything nearer: the result is that of a search through all pairs, whatever the
points look like, and memory grows with points, not with pairs.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

POINTS = 16
"""About so many points in a box."""
BOXES = 8
"""A box looks through so many others together."""
PARTS = 32
"""One in so many boxes looks around at a time: most are done at once, outliers take longer."""
FAR = 1e15
"""Where nobody is: its square is finite."""
ROUNDED = 1.0 - 1e-5
"""Distances of boxes are shortened by this, so that rounding never hides a point."""


class Nearest(NamedTuple):
    """Of each point, the nearest others in turn: which, and the square of how far."""

    who: Int[Array, "*A K"]
    squared: Float[Array, "*A K"]


class Boxes(NamedTuple):
    """Points by box, with the smallest and largest coordinates of those that are there."""

    which: Int[Array, "n B"]
    place: Float[Array, "n B d"]
    there: Bool[Array, "n B"]
    low: Float[Array, "n d"]
    high: Float[Array, "n d"]


def among_all(positions: Float[Array, "A d"], count: int, allowed: Bool[Array, "A A"]) -> Nearest:
    """By comparing all pairs; a distance is infinite where nobody is allowed."""
    offsets = positions[:, None, :] - positions[None, :, :]
    squared = jnp.where(allowed, jnp.sum(offsets**2, axis=-1), jnp.inf)
    # Not a sort: of a thousand points it would cost more than the messages of the nearest.
    nearness, index = jax.lax.top_k(-squared, count)
    return Nearest(index, -nearness)


def by_boxes(
    positions: Float[Array, "A d"],
    count: int,
    hears: Bool[Array, "A A"],
    active: Bool[Array, " A"],
    radius: float,
) -> Nearest:
    """The same, where an object also has to be `active`; beyond `radius` nobody needs be found."""
    boxes = packed(positions, active)
    n, size, axes = boxes.place.shape
    gaps = ROUNDED * _gaps(boxes)
    together, rows = min(BOXES, n), -(-n // PARTS)

    def search(now: Searching) -> Searching:
        """Some boxes that are not done look through the nearest they have not seen."""
        _, mine = jax.lax.top_k(now.undone.astype(gaps.dtype), rows)
        gap, chosen = jax.lax.top_k(-now.unseen[mine], together)
        others = boxes.which[chosen].reshape(rows, 1, -1)
        places = boxes.place[chosen].reshape(rows, 1, -1, axes)
        squared = jnp.sum((boxes.place[mine][:, :, None] - places) ** 2, axis=-1)  # (r, B, m B)
        new = boxes.there[chosen] & jnp.isfinite(gap)[:, :, None]
        heard = hears[boxes.which[mine][:, :, None], others] & new.reshape(rows, 1, -1)
        others = jnp.broadcast_to(others, heard.shape)
        found = _nearest_of(
            Nearest(now.who[mine], now.squared[mine]),
            Nearest(others, jnp.where(heard, squared, jnp.inf)),
        )
        unseen = now.unseen[mine].at[jnp.arange(rows)[:, None], chosen].set(jnp.inf)
        farthest = jnp.where(boxes.there[mine], found.squared[..., -1], 0.0).max(axis=1)
        undone = jnp.minimum(farthest, radius**2) > unseen.min(axis=1)
        return Searching(
            now.who.at[mine].set(found.who),
            now.squared.at[mine].set(found.squared),
            now.unseen.at[mine].set(unseen),
            now.undone.at[mine].set(undone),
        )

    found = jax.lax.while_loop(
        lambda now: jnp.any(now.undone),
        search,
        Searching(
            jnp.zeros((n, size, count), jnp.int32),
            jnp.full((n, size, count), jnp.inf, gaps.dtype),
            gaps,
            boxes.there.any(axis=1),
        ),
    )
    rank = jnp.zeros(n * size, jnp.int32)
    rank = rank.at[boxes.which.ravel()].set(jnp.arange(n * size, dtype=jnp.int32))
    rank = rank[: len(positions)]
    return Nearest(*(part.reshape(n * size, count)[rank] for part in (found.who, found.squared)))


class Searching(NamedTuple):
    """What was found so far, how far boxes are that were not looked through, and who goes on."""

    who: Int[Array, "n B K"]
    squared: Float[Array, "n B K"]
    unseen: Float[Array, "n n"]
    undone: Bool[Array, " n"]


def _nearest_of(known: Nearest, further: Nearest) -> Nearest:
    """As many as were known, of all."""
    who, squared = (jnp.concatenate(parts, axis=-1) for parts in zip(known, further, strict=True))
    nearness, kept = jax.lax.top_k(-squared, known.who.shape[-1])
    return Nearest(jnp.take_along_axis(who, kept, axis=-1), -nearness)


def packed(positions: Float[Array, "A d"], active: Bool[Array, " A"]) -> Boxes:
    """Every point in a box, as many in each; the last places hold nobody."""
    count, axes = positions.shape
    cuts = max(1, round((count / POINTS) ** (1 / axes)))
    n = cuts**axes
    size = -(-count // n)
    places = jnp.where(active[:, None], positions, FAR)
    places = jnp.concatenate([places, jnp.full((n * size - count, axes), FAR, places.dtype)])
    order = jnp.arange(n * size, dtype=jnp.int32)[None]
    for axis in range(axes):
        along = places[order, axis]
        _, order = jax.lax.sort_key_val(along, order, dimension=1)
        order = order.reshape(order.shape[0] * cuts, -1)
    place = places[order]
    there = place[..., 0] < FAR
    low = jnp.where(there[..., None], place, FAR).min(axis=1)
    high = jnp.where(there[..., None], place, -FAR).max(axis=1)
    return Boxes(order, place, there, low, high)


def _gaps(boxes: Boxes) -> Float[Array, "n n"]:
    """Squares of the distances of all boxes; infinite where a box holds nobody."""
    apart = jnp.maximum(
        boxes.low[:, None] - boxes.high[None], boxes.low[None] - boxes.high[:, None]
    )
    squared = jnp.sum(jnp.maximum(apart, 0.0) ** 2, axis=-1)
    empty = ~boxes.there.any(axis=1)
    return jnp.where(empty[:, None] | empty[None], jnp.inf, squared)
