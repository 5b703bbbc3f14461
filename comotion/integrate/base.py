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
STEEPEST = 10.0
"""Of a mean score, by the state of one object at one time."""


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

    def without_gradient(self) -> "AbstractIntegrator":
        """For forecasts, through which nothing is differentiated."""
        return self


def kicked(
    rates: Rates, states: States, time: Time, length: Time, interval: Interval, spatial: int
) -> States:
    """Everything but positions changes; by the midpoint rule, since rates may depend on it."""
    moving = jnp.arange(states.shape[1]) >= spatial

    def change(states: States) -> States:
        return jnp.where(moving[None], rates(states, time, interval), 0.0)

    middle = states + 0.5 * length * change(states)
    return states + length * change(middle)


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


@jax.custom_vjp
def with_sane_slopes(states: States) -> States:
    """The same states; backwards, a slope that has exploded is dropped.

    Of thousands of noisy paths a few run through stretches where every step multiplies what came
    before. Their slopes overflow on the way back and would spoil those of all others, while they
    say nothing: a mean score has slopes far below one.
    """
    return states


def _dropped(_: None, slopes: States) -> tuple[States]:
    sane = jnp.sum(slopes**2, axis=-1, keepdims=True) < STEEPEST**2  # neither if it is no number
    return (jnp.where(sane, slopes, 0.0),)


with_sane_slopes.defvjp(lambda states: (states, None), _dropped)


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
