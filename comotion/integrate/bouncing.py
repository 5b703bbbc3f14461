"""Kick, drift that bounces exactly, kick: laws of second order with hard contacts."""

from collections.abc import Callable
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.contacts import Contacts
from comotion.coordinates.layout import Layout
from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States, Time, kicked
from comotion.integrate.contacts import Vectors, drift, length_of


class Bouncing(AbstractIntegrator):
    """Second-order laws with hard contacts; `rounds` bounds the contacts of one step."""

    contacts: Contacts
    layout: Layout = eqx.field(static=True)
    steps: int = eqx.field(static=True, default=1)
    rounds: int | None = eqx.field(static=True, default=None)
    """by default as many as the number of objects asks for"""
    meets: Bool[Array, "A A"] | None = None
    """who may touch whom; by default all"""

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        return self.advance_counting(rates, states, interval)[0]

    def advance_counting(
        self, rates: Rates, states: States, interval: Interval
    ) -> tuple[States, Float[Array, ""]]:
        length = (interval.end - interval.start) / self.steps
        active = interval.known[0]
        met = len(states) if self.contacts.radii.size else 1
        rounds = self.rounds or rounds_for(met)

        def step(
            carry: tuple[States, Float[Array, ""]], number: Float[Array, ""]
        ) -> tuple[tuple[States, Float[Array, ""]], None]:
            states, missed = carry
            start = interval.start + number * length
            states = kicked(rates, states, start, length / 2, interval, self.layout.spatial)
            x, v = states[:, self.layout.position], states[:, self.layout.velocity]
            x, v, over = _drift_with_slopes(self.contacts, x, v, length, active, self.meets, rounds)
            states = states.at[:, self.layout.position].set(x)
            states = states.at[:, self.layout.velocity].set(v)
            end = start + length
            states = kicked(rates, states, end, length / 2, interval, self.layout.spatial)
            return (states, missed + over), None

        none = jnp.zeros((), states.dtype)
        numbers = jnp.arange(self.steps, dtype=states.dtype)
        return jax.lax.scan(step, (states, none), numbers)[0]

    def step(self, length: float) -> float:
        return length / self.steps


def rounds_for(objects: int) -> int:
    """Enough for a step in which every object meets several others; few steps need as many."""
    return 8 + 4 * objects


def _drift_with_slopes(
    contacts: Contacts,
    x: Vectors,
    v: Vectors,
    length: Time,
    active: Bool[Array, " A"],
    meets: Bool[Array, "A A"] | None,
    rounds: int,
) -> tuple[Vectors, Vectors, Float[Array, ""]]:
    """The same, with bounded derivatives for training: those of a slide along what was met.

    The derivative of a time of contact grows without bound where an object grazes a wall, and no
    derivative tells what it would be to miss it.
    """
    still = jax.lax.stop_gradient((contacts, x, v, length, active))
    if contacts.radii.size:
        later, after, over = _drift_of_many(rounds)(*still, meets)
    else:
        later, after, over = _drift_apart(*still, rounds)
    push = still[2] - after
    normal = push / length_of(push)

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
    def one(contacts, x, v, length, active, meets):
        return drift(contacts, x, v, length, active, rounds, meets)

    @one.def_vmap
    def many(size, batched, *arguments):
        def to_end(leaf: Array, is_batched: bool) -> Array:
            return jnp.moveaxis(leaf, 0, -1) if is_batched else leaf[..., None]

        contacts, *rest = jax.tree.map(to_end, arguments, tuple(batched))
        rest = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*leaf.shape[:-1], size)), rest)
        found = one(contacts, *rest)
        return tuple(jnp.moveaxis(part, -1, 0) for part in found), (True, True, True)

    return one
