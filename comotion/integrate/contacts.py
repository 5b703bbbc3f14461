"""Kick, drift that bounces exactly, kick.

Between kicks everything flies straight, so times of contact have a closed form. Each round takes
all objects to the next contact of any of them. Rounds are bounded; what they leave over is
counted, and made harmless: nothing goes further into a wall or another object.
"""

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
Vectors = Float[Array, "A d"]


class Bouncing(AbstractIntegrator):
    """Second-order laws with hard contacts; `rounds` bounds the contacts of one step."""

    contacts: Contacts
    layout: Layout = eqx.field(static=True)
    steps: int = eqx.field(static=True, default=1)
    rounds: int = eqx.field(static=True, default=4)

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        return self.advance_counting(rates, states, interval)[0]

    def advance_counting(
        self, rates: Rates, states: States, interval: Interval
    ) -> tuple[States, Float[Array, ""]]:
        """The states at the end, and in how many steps not all contacts could be followed."""
        length = (interval.end - interval.start) / self.steps
        active = interval.known[0]

        def step(
            carry: tuple[States, Float[Array, ""]], number: Float[Array, ""]
        ) -> tuple[tuple[States, Float[Array, ""]], None]:
            states, missed = carry
            start = interval.start + number * length
            states = self._kick(rates, states, start, length / 2, interval)
            x, v = states[:, self.layout.position], states[:, self.layout.velocity]
            x, v, over = drift(self.contacts, x, v, length, active, self.rounds)
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
    return 4 + objects // 2


class _Flight(NamedTuple):
    x: Vectors
    v: Vectors
    left: Float[Array, ""]


class _Meetings(NamedTuple):
    """Waits until every contact: walls by object and wall, pairs by pair."""

    walls: Float[Array, "A W"]
    pairs: Float[Array, " E"]

    @property
    def first(self) -> Float[Array, ""]:
        return jnp.min(self.all)

    @property
    def all(self) -> Float[Array, " n"]:
        return jnp.concatenate([self.walls.reshape(-1), self.pairs, jnp.full(1, jnp.inf)])

    def is_first(self) -> "_Meetings":
        """One in the place of the earliest, zero elsewhere."""
        every = self.all
        hot = (jnp.arange(every.shape[0]) == jnp.argmin(every)).astype(every.dtype)
        walls = hot[: self.walls.size].reshape(self.walls.shape)
        return _Meetings(walls, hot[self.walls.size : -1])


def drift(
    contacts: Contacts,
    x: Vectors,
    v: Vectors,
    length: Float[Array, ""],
    active: Bool[Array, " A"],
    rounds: int,
) -> tuple[Vectors, Vectors, Float[Array, ""]]:
    """Straight flight for `length` with all contacts on the way; absent objects stand still."""
    standing = jnp.where(active[:, None], v, 0.0)
    flight = _Flight(x, standing, length)

    def one_round(flight: _Flight, _: None) -> tuple[_Flight, None]:
        return _to_next(contacts, flight, active), None

    flight = jax.lax.scan(one_round, flight, None, length=rounds)[0]
    over = _meetings(contacts, flight, active).first < flight.left
    x, v = flight.x + flight.left * flight.v, flight.v
    x, v = _hold_apart(contacts, x, v, active)
    x, v = _slide(contacts, x, v, active)
    return x, jnp.where(active[:, None], v, standing), over.astype(x.dtype)


def _to_next(contacts: Contacts, flight: _Flight, active: Bool[Array, " A"]) -> _Flight:
    """To the next contact and out of it, or to the end."""
    meetings = _meetings(contacts, flight, active)
    wait = jnp.minimum(meetings.first, flight.left)
    hit = (meetings.first < flight.left).astype(flight.x.dtype)
    x = flight.x + wait * flight.v
    first = meetings.is_first()
    change = _wall_changes(contacts, x, flight.v, hit * first.walls)
    if meetings.pairs.size:
        change = change + _pair_changes(contacts, x, flight.v, hit * first.pairs)
    return _Flight(x, flight.v + change, flight.left - wait)


def _meetings(contacts: Contacts, flight: _Flight, active: Bool[Array, " A"]) -> _Meetings:
    x, v = flight.x, flight.v
    extents = contacts.extents(len(x))
    waits, closing = zip(*(s.waits(x, v, extents) for s in contacts.surfaces), strict=True)
    speed = _length(v)
    walls, closing = jnp.concatenate(waits, axis=1), jnp.concatenate(closing, axis=1)
    real = (closing > GRAZING * speed) & active[:, None]
    return _Meetings(jnp.where(real, walls, jnp.inf), _pair_waits(contacts, x, v, active))


def _pair_waits(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, " A"]
) -> Float[Array, " E"]:
    """The earlier root of |gap + t·drift| = distance, in the form that does not cancel."""
    if not contacts.radii.size:
        return jnp.zeros(0, x.dtype)
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


def _wall_changes(contacts: Contacts, x: Vectors, v: Vectors, hit: Float[Array, "A W"]) -> Vectors:
    normals = _normals(contacts, x)
    closing = jnp.sum(normals * v[:, None], axis=2)
    places = jnp.broadcast_to(x[:, None], normals.shape)
    bounce = 1.0 + contacts.wall.restitution(closing, places)
    sliding = v[:, None] - closing[..., None] * normals
    change = bounce[..., None] * closing[..., None] * normals + contacts.wall.loss * sliding
    return -jnp.sum(hit[..., None] * change, axis=1)


def _pair_changes(contacts: Contacts, x: Vectors, v: Vectors, hit: Float[Array, " E"]) -> Vectors:
    first, second = _pairs(len(x))
    gap, drift = x[first] - x[second], v[first] - v[second]
    normal = gap / _length(gap)
    parting = jnp.sum(normal * drift, axis=1)
    bounce = 1.0 + contacts.pair.restitution(-parting, 0.5 * (x[first] + x[second]))
    sliding = drift - parting[:, None] * normal
    change = (bounce * parting)[:, None] * normal + contacts.pair.loss * sliding
    own, other = _shares(contacts, len(x))
    change = hit[:, None] * change
    return _collect(-own[:, None] * change, other[:, None] * change, len(x))


def _hold_apart(
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, " A"]
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
    contacts: Contacts, x: Vectors, v: Vectors, active: Bool[Array, " A"]
) -> tuple[Vectors, Vectors]:
    """What went straight on beyond a wall: back onto it, and along it."""
    for surfaces in contacts.surfaces:
        for wall in range(surfaces.count):
            depth = surfaces.depths(x, contacts.extents(len(x)))[:, wall, None]
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


def _normals(contacts: Contacts, x: Vectors) -> Float[Array, "A W d"]:
    return jnp.concatenate([s.normals_at(x) for s in contacts.surfaces], axis=1)


def _shares(contacts: Contacts, objects: int) -> tuple[Float[Array, " E"], Float[Array, " E"]]:
    """Of what happens to a pair, how much each of the two gets: the lighter one gets more."""
    first, second = _pairs(objects)
    masses = contacts.masses(objects)
    own = masses[second] / (masses[first] + masses[second])
    return own, 1.0 - own


def _collect(
    of_first: Float[Array, "E d"], of_second: Float[Array, "E d"], objects: int
) -> Vectors:
    to_first, to_second = _incidence(objects)
    dtype = of_first.dtype
    return jnp.asarray(to_first, dtype) @ of_first + jnp.asarray(to_second, dtype) @ of_second


def _length(vectors: Float[Array, "n d"]) -> Float[Array, "n 1"]:
    # Not the root of zero: objects at rest must not spoil a gradient.
    return jnp.sqrt(jnp.maximum(jnp.sum(vectors**2, axis=1, keepdims=True), TINY))


def _pairs(objects: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.triu_indices(objects, k=1)
    return first, second


def _incidence(objects: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = _pairs(objects)
    everyone = np.arange(objects)[:, None]
    return everyone == first[None], everyone == second[None]
