"""Kick, drift that bounces exactly, kick.

Between kicks everything flies straight, so times of contact have a closed form. Each round takes
all objects to the next contact of any of them. Rounds are bounded; what they leave over is
counted, and made harmless: nothing goes further into a wall or another object.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion.contacts import Contacts
from comotion.coordinates.layout import Layout
from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States, Time

GRAZING = 1e-5
"""Slower closing than this share of the speed is sliding along: no event."""
SHALLOW = 0.3
"""Up to this slope a slide follows a curved wall without losing speed."""
TINY = 1e-30
FEW = 6
"""So many objects have their changes written out: shorter than a product of matrices."""
Vectors = Float[Array, "A d *#B"]


class Bouncing(AbstractIntegrator):
    """Second-order laws with hard contacts; `rounds` bounds the contacts of one step."""

    contacts: Contacts
    layout: Layout = eqx.field(static=True)
    steps: int = eqx.field(static=True, default=1)
    rounds: int | None = eqx.field(static=True, default=None)
    """by default as many as the number of objects asks for"""

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        return self.advance_counting(rates, states, interval)[0]

    def advance_counting(
        self, rates: Rates, states: States, interval: Interval
    ) -> tuple[States, Float[Array, ""]]:
        """The states at the end, and in how many steps not all contacts could be followed."""
        length = (interval.end - interval.start) / self.steps
        active = interval.known[0]
        met = len(states) if self.contacts.radii.size else 1
        rounds = self.rounds or rounds_for(met)

        def step(
            carry: tuple[States, Float[Array, ""]], number: Float[Array, ""]
        ) -> tuple[tuple[States, Float[Array, ""]], None]:
            states, missed = carry
            start = interval.start + number * length
            states = self._kick(rates, states, start, length / 2, interval)
            x, v = states[:, self.layout.position], states[:, self.layout.velocity]
            x, v, over = _drift_with_slopes(self.contacts, x, v, length, active, rounds)
            states = states.at[:, self.layout.position].set(x)
            states = states.at[:, self.layout.velocity].set(v)
            states = self._kick(rates, states, start + length, length / 2, interval)
            return (states, missed + over), None

        none = jnp.zeros((), states.dtype)
        numbers = jnp.arange(self.steps, dtype=states.dtype)
        return jax.lax.scan(step, (states, none), numbers)[0]

    def step(self, length: float) -> float:
        return length / self.steps

    def _kick(
        self, rates: Rates, states: States, time: Time, length: Time, interval: Interval
    ) -> States:
        """Everything but positions changes; by the midpoint rule, since rates may depend on it."""
        moving = jnp.arange(states.shape[1]) >= self.layout.spatial

        def change(states: States) -> States:
            return jnp.where(moving[None], rates(states, time, interval), 0.0)

        middle = states + 0.5 * length * change(states)
        return states + length * change(middle)


def rounds_for(objects: int) -> int:
    """Enough for a step in which most objects meet something."""
    return 3 + objects // 2


def drift(
    contacts: Contacts,
    x: Vectors,
    v: Vectors,
    length: Float[Array, "*#B"],
    active: Bool[Array, "A *#B"],
    rounds: int,
) -> tuple[Vectors, Vectors, Float[Array, "*#B"]]:
    """Straight flight for `length` with all contacts on the way; absent objects stand still."""
    standing = jnp.where(active[:, None], v, 0.0)
    flight = _Flight(x, standing, length)

    def one_round(flight: _Flight, _: None) -> tuple[_Flight, None]:
        return _to_next(contacts, flight, active), None

    flight = jax.lax.scan(one_round, flight, None, length=rounds)[0]
    over = jnp.min(_waits(contacts, flight, active), axis=0) < flight.left
    end = flight.x + flight.left[None, None] * flight.v
    end, moved = _slide(contacts, *_hold_apart(contacts, end, flight.v, active), active)
    # Who is not there yet keeps the velocity it will enter with.
    return end, jnp.where(active[:, None], moved, v), over.astype(x.dtype)


def _drift_with_slopes(
    contacts: Contacts, x: Vectors, v: Vectors, length: Time, active: Bool[Array, " A"], rounds: int
) -> tuple[Vectors, Vectors, Float[Array, ""]]:
    """The same, with bounded derivatives for training: those of a slide along what was met.

    The derivative of a time of contact grows without bound where an object grazes a wall, and no
    derivative tells what it would be to miss it.
    """
    still = jax.lax.stop_gradient((contacts, x, v, length, active))
    if contacts.radii.size:
        later, after, over = _drift_of_many(rounds)(*still)
    else:
        later, after, over = _drift_apart(*still, rounds)
    push = still[2] - after
    normal = push / _length(push)

    def along(slopes: Vectors) -> Vectors:
        return slopes - jnp.sum(slopes * normal, axis=1, keepdims=True) * normal

    free = jnp.where(active[:, None], x + length * v, x)
    later = later + along(free - jax.lax.stop_gradient(free))
    return later, after + along(v - jax.lax.stop_gradient(v)), over


def _drift_apart(
    contacts: Contacts, x: Vectors, v: Vectors, length: Time, active: Bool[Array, " A"], rounds: int
) -> tuple[Vectors, Vectors, Float[Array, ""]]:
    """Where only walls are met: every object is a scene of its own."""
    lengths = jnp.broadcast_to(length, (len(x),))
    contacts = jax.tree.map(lambda leaf: leaf[..., None], contacts)
    x, v, over = drift(contacts, x.T[None], v.T[None], lengths, active[None], rounds)
    return x[0].T, v[0].T, jnp.max(over)


@lru_cache
def _drift_of_many(rounds: int) -> Callable[..., tuple[Array, Array, Array]]:
    """The same; scenes that are mapped over become the last axis, where they cost least."""

    @jax.custom_batching.custom_vmap
    def one(contacts, x, v, length, active):
        return drift(contacts, x, v, length, active, rounds)

    @one.def_vmap
    def many(size, batched, *arguments):
        def to_end(leaf: Array, is_batched: bool) -> Array:
            return jnp.moveaxis(leaf, 0, -1) if is_batched else leaf[..., None]

        contacts, *rest = jax.tree.map(to_end, arguments, tuple(batched))
        rest = [jnp.broadcast_to(leaf, (*leaf.shape[:-1], size)) for leaf in rest]
        found = one(contacts, *rest)
        return tuple(jnp.moveaxis(part, -1, 0) for part in found), (True, True, True)

    return one


def overlaps(contacts: Contacts, x: Vectors, there: Bool[Array, "A *#B"]) -> Bool[Array, "*#B"]:
    """Whether anything is beyond a wall or inside something else."""
    extents = contacts.extents(len(x))
    depths = jnp.concatenate([s.depths(x, extents) for s in contacts.surfaces], axis=1)
    outside = jnp.any((depths > 0) & there[:, None], axis=(0, 1))
    if not contacts.radii.size or len(x) < 2:
        return outside
    first, second = _pairs(len(x))
    reach = contacts.reach(len(x))
    apart = jnp.sum((x[first] - x[second]) ** 2, axis=1)
    inside = (apart < (reach[first] + reach[second]) ** 2) & there[first] & there[second]
    return outside | jnp.any(inside, axis=0)


class _Flight(NamedTuple):
    x: Vectors
    v: Vectors
    left: Float[Array, "*#B"]


def _to_next(contacts: Contacts, flight: _Flight, active: Bool[Array, "A *#B"]) -> _Flight:
    """To the next contact and out of it, or to the end."""
    waits = _waits(contacts, flight, active)
    first = jnp.min(waits, axis=0)
    wait = jnp.minimum(first, flight.left)
    x = flight.x + wait[None, None] * flight.v
    hit = _is_first(waits, first) * (first < flight.left).astype(x.dtype)[None]
    walls, objects = sum(s.count for s in contacts.surfaces), len(x)
    change = jnp.zeros_like(x)
    if walls:
        at_walls = hit[: objects * walls].reshape(objects, walls, *hit.shape[1:])
        change = change + _wall_changes(contacts, x, flight.v, at_walls)
    if contacts.radii.size and objects > 1:
        change = change + _pair_changes(contacts, x, flight.v, hit[objects * walls :])
    return _Flight(x, flight.v + change, flight.left - wait)


def _is_first(waits: Float[Array, "n *#B"], first: Float[Array, "*#B"]) -> Float[Array, "n *#B"]:
    """One in the place of the earliest, zero elsewhere; of several at once the first in order."""
    count = waits.shape[0]
    order = jnp.arange(count, dtype=jnp.int32).reshape(count, *[1] * first.ndim)
    number = jnp.min(jnp.where(waits == first[None], order, count), axis=0)
    return (order == number[None]).astype(waits.dtype)


def _waits(
    contacts: Contacts, flight: _Flight, active: Bool[Array, "A *#B"]
) -> Float[Array, "n *#B"]:
    """Until every contact: walls by object and wall, then pairs."""
    x, v = flight.x, flight.v
    extents, speed = contacts.extents(len(x)), _length(v)
    parts = []
    for surfaces in contacts.surfaces:
        if surfaces.count:
            waits, closing = surfaces.waits(x, v, extents)
            real = (closing > GRAZING * speed) & active[:, None]
            parts.append(jnp.where(real, waits, jnp.inf))
    shape = flight.left.shape
    walls = [jnp.concatenate(parts, axis=1).reshape(-1, *shape)] if parts else []
    never = jnp.full((0 if walls or contacts.radii.size else 1, *shape), jnp.inf, x.dtype)
    return jnp.concatenate([*walls, _pair_waits(contacts, x, v, active), never])


def _pair_waits(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, "A *#B"]
) -> Float[Array, "E *#B"]:
    """The earlier root of |gap + t·drift| = distance, in the form that does not cancel."""
    if not contacts.radii.size:
        return jnp.zeros((0, *x.shape[2:]), x.dtype)
    first, second = _pairs(len(x))
    gap, drift = x[first] - x[second], v[first] - v[second]
    approach = -jnp.sum(gap * drift, axis=1)
    reach = contacts.reach(len(x))
    distance = reach[first] + reach[second]
    room = jnp.sum(gap**2, axis=1) - distance**2
    square = jnp.sum(drift**2, axis=1)
    discriminant = approach**2 - square * room
    grazing = GRAZING * distance * jnp.sqrt(jnp.where(square > 0, square, TINY))
    root = jnp.sqrt(jnp.where(discriminant > 0, discriminant, TINY))
    meets = (approach > grazing) & (discriminant > 0) & ((room < 0) | (root > grazing))
    meets = meets & active[first] & active[second]
    wait = jnp.maximum(room, 0.0) / jnp.where(meets, approach + root, 1.0)
    return jnp.where(meets, wait, jnp.inf)


def _wall_changes(
    contacts: Contacts, x: Vectors, v: Vectors, hit: Float[Array, "A W *#B"]
) -> Vectors:
    """Of one contact at most for each object, so one normal is enough."""
    parts = [s.normals_at(x) for s in contacts.surfaces if s.count]
    normal = jnp.sum(hit[:, :, None] * jnp.concatenate(parts, axis=1), axis=1)
    closing = jnp.sum(normal * v, axis=1)
    bounce = 1.0 + contacts.wall.restitution(closing, x)
    sliding = jnp.sum(hit, axis=1)[:, None] * v - closing[:, None] * normal
    return -((bounce * closing)[:, None] * normal + contacts.wall.loss[None, None] * sliding)


def _pair_changes(
    contacts: Contacts, x: Vectors, v: Vectors, hit: Float[Array, "E *#B"]
) -> Vectors:
    first, second = _pairs(len(x))
    gap, drift = x[first] - x[second], v[first] - v[second]
    normal = gap / _length(gap)
    parting = jnp.sum(normal * drift, axis=1)
    bounce = 1.0 + contacts.pair.restitution(-parting, 0.5 * (x[first] + x[second]))
    sliding = drift - parting[:, None] * normal
    change = (bounce * parting)[:, None] * normal + contacts.pair.loss[None, None] * sliding
    own, other = _shares(contacts, len(x))
    change = hit[:, None] * change
    return _collect(-own[:, None] * change, other[:, None] * change, len(x))


def _hold_apart(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, "A *#B"]
) -> tuple[Vectors, Vectors]:
    """Pairs inside each other that still approach: back to their distance, approaching no more."""
    if not contacts.radii.size or len(x) < 2:
        return x, v
    first, second = _pairs(len(x))
    gap, drift = x[first] - x[second], v[first] - v[second]
    apart = _length(gap)
    normal = gap / apart
    reach = contacts.reach(len(x))
    depth = reach[first] + reach[second] - apart[:, 0]
    parting = jnp.sum(normal * drift, axis=1)
    held = (depth > 0) & (parting < 0) & active[first] & active[second]
    own, other = _shares(contacts, len(x))
    back = jnp.where(held, depth, 0.0)[:, None] * normal
    slow = jnp.where(held, parting, 0.0)[:, None] * normal
    x = x + _collect(own[:, None] * back, -other[:, None] * back, len(x))
    return x, v + _collect(-own[:, None] * slow, other[:, None] * slow, len(x))


def _slide(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, "A *#B"]
) -> tuple[Vectors, Vectors]:
    """What went straight on beyond a wall: back onto it, and along it."""
    extents = contacts.extents(len(x))
    for surfaces in contacts.surfaces:
        for wall in range(surfaces.count):
            depth = surfaces.depths(x, extents)[:, wall, None]
            normal = surfaces.normals_at(x)[:, wall]
            outward = jnp.sum(v * normal, axis=1, keepdims=True)
            held = (depth > 0) & (outward > 0) & active[:, None]
            along = v - outward * normal
            speed = _length(along)
            shallow = outward < SHALLOW * speed
            kept = jnp.where(shallow, _length(v) / speed, 1.0)
            x = x - jnp.where(held, depth, 0.0) * normal
            v = jnp.where(held, kept * along, v)
    return x, v


def _shares(contacts: Contacts, objects: int) -> tuple[Float[Array, "E *b"], Float[Array, "E *b"]]:
    """Of what happens to a pair, how much each of the two gets: the lighter one gets more."""
    first, second = _pairs(objects)
    masses = contacts.masses(objects)
    own = masses[second] / (masses[first] + masses[second])
    return own, 1.0 - own


def _collect(
    of_first: Float[Array, "E d *#B"], of_second: Float[Array, "E d *#B"], objects: int
) -> Vectors:
    first, second = _pairs(objects)
    if objects <= FEW:
        rows = [
            sum([of_first[e] for e in np.flatnonzero(first == a)])
            + sum([of_second[e] for e in np.flatnonzero(second == a)])
            for a in range(objects)
        ]
        return jnp.stack([jnp.asarray(row) for row in rows])
    everyone, dtype = np.arange(objects)[:, None], of_first.dtype
    to_first, to_second = (jnp.asarray(everyone == side[None], dtype) for side in (first, second))
    return jnp.tensordot(to_first, of_first, 1) + jnp.tensordot(to_second, of_second, 1)


def _length(vectors: Float[Array, "n d *#B"]) -> Float[Array, "n 1 *#B"]:
    # Not the root of zero: objects at rest must not spoil a gradient.
    return jnp.sqrt(jnp.maximum(jnp.sum(vectors**2, axis=1, keepdims=True), TINY))


def _pairs(objects: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(objects, k=1)
    return first, second
