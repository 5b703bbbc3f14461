"""Kick, drift, kick: laws of second order with soft contacts, whose energy stays."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.contacts import Contacts
from comotion.coordinates.layout import Layout
from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States, kicked


class Yielding(AbstractIntegrator):
    """Steps so short that a touch takes several; contacts push by where objects are alone."""

    contacts: Contacts
    layout: Layout = eqx.field(static=True)
    steps: int = eqx.field(static=True, default=1)
    meets: Bool[Array, "A A"] | None = None
    """who may touch whom; by default all"""

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        length = (interval.end - interval.start) / self.steps
        active, layout = interval.known[0], self.layout

        def pushed(states: States) -> Float[Array, "A d"]:
            return self.contacts.pushes(states[:, layout.position], active, self.meets)

        def step(
            carry: tuple[States, Float[Array, "A d"]], number: Float[Array, ""]
        ) -> tuple[tuple[States, Float[Array, "A d"]], None]:
            states, push = carry
            start = interval.start + number * length
            states = kicked(rates, states, start, length / 2, interval, layout.spatial)
            states = states.at[:, layout.velocity].add(length / 2 * push)
            way = jnp.where(active[:, None], length * states[:, layout.velocity], 0.0)
            states = states.at[:, layout.position].add(way)
            push = pushed(states)
            states = states.at[:, layout.velocity].add(length / 2 * push)
            states = kicked(rates, states, start + length, length / 2, interval, layout.spatial)
            return (states, push), None

        numbers = jnp.arange(self.steps, dtype=states.dtype)
        return jax.lax.scan(step, (states, pushed(states)), numbers)[0][0]

    def step(self, length: float) -> float:
        return length / self.steps
