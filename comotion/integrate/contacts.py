"""A straight drift that bounces exactly.

Everything flies straight, so times of contact have a closed form. Each round takes
all objects to the next contact of any of them. Rounds are bounded; what they leave over is
counted, and made harmless: nothing goes further into a wall or another object.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion.contacts import Contacts

GRAZING = 1e-5
"""Slower closing than this share of the speed is sliding along: no event."""
SHALLOW = 0.3
"""Up to this slope a slide follows a curved wall without losing speed."""
TINY = 1e-30
FEW = 6
"""So many objects have their changes written out: shorter than a product of matrices."""
Vectors = Float[Array, "A d *#B"]
Meets = Bool[Array, "A A *#B"] | None
"""who may touch whom; None: all"""


def drift(
    contacts: Contacts,
    x: Vectors,
    v: Vectors,
    length: Float[Array, "*#B"],
    active: Bool[Array, "A *#B"],
    rounds: int,
    meets: Meets = None,
) -> tuple[Vectors, Vectors, Float[Array, "*#B"]]:
    """Straight flight for `length` with all contacts on the way; absent objects stand still."""
    standing = jnp.where(active[:, None], v, 0.0)
    flight = _Flight(x, standing, length)
    begin = _Rounds(jnp.zeros((), jnp.int32), flight, _waits(contacts, flight, active, meets))

    def goes_on(now: _Rounds) -> Bool[Array, ""]:
        return (now.number < rounds) & jnp.any(now.ahead)

    def one_round(now: _Rounds) -> _Rounds:
        flight = _to_next(contacts, now.flight, now.waits)
        return _Rounds(now.number + 1, flight, _waits(contacts, flight, active, meets))

    _, flight, _ = last = jax.lax.while_loop(goes_on, one_round, begin)
    end = flight.x + flight.left[None, None] * flight.v
    end, moved = _slide(contacts, *_hold_apart(contacts, end, flight.v, active, meets), active)
    # Who is not there yet keeps the velocity it will enter with.
    return end, jnp.where(active[:, None], moved, v), last.ahead.astype(x.dtype)


def overlaps(
    contacts: Contacts, x: Vectors, there: Bool[Array, "A *#B"], meets: Meets = None
) -> Bool[Array, "*#B"]:
    """Whether anything is beyond a wall or inside something else."""
    extents = contacts.extents(len(x))
    depths = jnp.concatenate([s.depths(x, extents) for s in contacts.surfaces], axis=1)
    outside = jnp.any((depths > 0) & there[:, None], axis=(0, 1))
    if not contacts.radii.size or len(x) < 2:
        return outside
    first, second = _pairs(len(x))
    reach = contacts.reach(len(x))
    apart = jnp.sum((x[first] - x[second]) ** 2, axis=1)
    inside = (apart < (reach[first] + reach[second]) ** 2) & _can_touch(there, meets)
    return outside | jnp.any(inside, axis=0)


class _Flight(NamedTuple):
    x: Vectors
    v: Vectors
    left: Float[Array, "*#B"]


class _Rounds(NamedTuple):
    number: Int[Array, ""]
    flight: _Flight
    waits: Float[Array, "n *#B"]

    @property
    def ahead(self) -> Bool[Array, "*#B"]:
        """Where something is met before the end."""
        return jnp.min(self.waits, axis=0) < self.flight.left


def _to_next(contacts: Contacts, flight: _Flight, waits: Float[Array, "n *#B"]) -> _Flight:
    """To the next contact and out of it, or to the end."""
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
    contacts: Contacts, flight: _Flight, active: Bool[Array, "A *#B"], meets: Meets
) -> Float[Array, "n *#B"]:
    """Until every contact: walls by object and wall, then pairs."""
    x, v = flight.x, flight.v
    extents, speed = contacts.extents(len(x)), length_of(v)
    parts = []
    for surfaces in contacts.surfaces:
        if surfaces.count:
            waits, closing = surfaces.waits(x, v, extents)
            real = (closing > GRAZING * speed) & active[:, None]
            parts.append(jnp.where(real, waits, jnp.inf))
    shape = flight.left.shape
    walls = [jnp.concatenate(parts, axis=1).reshape(-1, *shape)] if parts else []
    never = jnp.full((0 if walls or contacts.radii.size else 1, *shape), jnp.inf, x.dtype)
    return jnp.concatenate([*walls, _pair_waits(contacts, x, v, active, meets), never])


def _pair_waits(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, "A *#B"], meets: Meets
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
    real = (approach > grazing) & (discriminant > 0) & ((room < 0) | (root > grazing))
    real = real & _can_touch(active, meets)
    wait = jnp.maximum(room, 0.0) / jnp.where(real, approach + root, 1.0)
    return jnp.where(real, wait, jnp.inf)


def _can_touch(there: Bool[Array, "A *#B"], meets: Meets) -> Bool[Array, "E *#B"]:
    """Pairs that are there, unless both are deaf to each other."""
    first, second = _pairs(len(there))
    both = there[first] & there[second]
    return both if meets is None else both & (meets[first, second] | meets[second, first])


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
    normal = gap / length_of(gap)
    parting = jnp.sum(normal * drift, axis=1)
    bounce = 1.0 + contacts.pair.restitution(-parting, 0.5 * (x[first] + x[second]))
    sliding = drift - parting[:, None] * normal
    change = (bounce * parting)[:, None] * normal + contacts.pair.loss[None, None] * sliding
    own, other = _shares(contacts, len(x))
    change = hit[:, None] * change
    return _collect(-own[:, None] * change, other[:, None] * change, len(x))


def _hold_apart(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, "A *#B"], meets: Meets
) -> tuple[Vectors, Vectors]:
    """Pairs inside each other that still approach: back to their distance, approaching no more."""
    if not contacts.radii.size or len(x) < 2:
        return x, v
    first, second = _pairs(len(x))
    gap, drift = x[first] - x[second], v[first] - v[second]
    apart = length_of(gap)
    normal = gap / apart
    reach = contacts.reach(len(x))
    depth = reach[first] + reach[second] - apart[:, 0]
    parting = jnp.sum(normal * drift, axis=1)
    held = (depth > 0) & (parting < 0) & _can_touch(active, meets)
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
            speed = length_of(along)
            shallow = outward < SHALLOW * speed
            kept = jnp.where(shallow, length_of(v) / speed, 1.0)
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


def length_of(vectors: Float[Array, "n d *#B"]) -> Float[Array, "n 1 *#B"]:
    # Not the root of zero: objects at rest must not spoil a gradient.
    return jnp.sqrt(jnp.maximum(jnp.sum(vectors**2, axis=1, keepdims=True), TINY))


def _pairs(objects: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(objects, k=1)
    return first, second
