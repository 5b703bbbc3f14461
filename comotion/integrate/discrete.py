"""Discrete time: one jump per interval, whatever its length (a state-space model)."""

from typing import ClassVar

import jax.numpy as jnp

from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States


class FrameSteps(AbstractIntegrator):
    """The law gives the change of the state from one frame to the next; padding changes nothing."""

    jumps: ClassVar[bool] = True

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        change = rates(states, interval.start, interval)
        return states + jnp.where(interval.end > interval.start, change, 0.0)

    def step(self, length: float) -> float:
        return 1.0
