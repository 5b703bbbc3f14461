"""From a state and a law to states at all the times asked for."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

States = Float[Array, "A D"]
Time = Float[Array, ""]


class Interval(eqx.Module):
    """One stretch between two times, with whatever the rates need to know about it."""

    start: Float[Array, "*J"]
    end: Float[Array, "*J"]
    known: PyTree

    def progress(self, time: Time) -> Time:
        """0 at the start, 1 at the end; padding makes intervals of no length."""
        length = self.end - self.start
        return jnp.where(length > 0, (time - self.start) / jnp.where(length > 0, length, 1.0), 0.0)


Rates = Callable[[States, Time, Interval], States]


class AbstractIntegrator(eqx.Module):
    jumps: ClassVar[bool] = False
    """whether a rate is the whole change to the next time, and there is nothing between the two"""

    @abstractmethod
    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        """The states at the end of the interval."""

    def advance_counting(
        self, rates: Rates, states: States, interval: Interval
    ) -> tuple[States, Float[Array, ""]]:
        """The same, and in how many steps it could not follow all that happens."""
        return self.advance(rates, states, interval), jnp.zeros((), states.dtype)

    def step(self, length: float) -> float:
        """How long its steps are in an interval of this length."""
        return length


class OnceAnInterval(AbstractIntegrator):
    """Rates look around at the start of every interval, instead of at each call."""

    inner: AbstractIntegrator
    look: Callable[..., Rates] = eqx.field(static=True)

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        return self.inner.advance(self.look(rates, states, interval), states, interval)

    def advance_counting(
        self, rates: Rates, states: States, interval: Interval
    ) -> tuple[States, Float[Array, ""]]:
        return self.inner.advance_counting(self.look(rates, states, interval), states, interval)

    def step(self, length: float) -> float:
        return self.inner.step(length)


def trajectory(
    integrator: AbstractIntegrator,
    rates: Rates,
    initial: States,
    times: Float[Array, " K"],
    known: PyTree,
) -> Float[Array, "K A D"]:
    """States at all `times`, Eq. (5); `known` has a leading axis of one entry per interval.

    The backward pass keeps what the rates were called with, which is small; what is large is
    inside the drawn functions, and those compute it again (`backend.row_batching`).
    """

    def step(states: States, interval: Interval) -> tuple[States, States]:
        states = integrator.advance(rates, states, interval)
        return states, states

    _, later = jax.lax.scan(step, initial, Interval(times[:-1], times[1:], known))
    return jnp.concatenate([initial[None], later])
