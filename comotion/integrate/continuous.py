"""Ordinary differential equations: the only room that speaks diffrax."""

from typing import TYPE_CHECKING, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States, Time

if TYPE_CHECKING:
    import diffrax


class FixedSteps(AbstractIntegrator):
    """Classic RK4 with the same number of steps in every interval, however long it is."""

    steps: int = eqx.field(static=True, default=1)
    looped: bool = eqx.field(static=True, default=False)
    """the law stands once in a program instead of four times, so it compiles sooner; a gradient
    through the loop takes longer than through its stages"""

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        length = (interval.end - interval.start) / self.steps
        rates, rule = _written_once(rates), _rk4_looped if self.looped else _rk4

        def step(number: int | Int[Array, ""], states: States) -> States:
            start = interval.start + jnp.asarray(number, length.dtype) * length
            return rule(rates, states, start, length, interval)

        if self.steps == 1:
            return step(0, states)
        return jax.lax.fori_loop(0, self.steps, step, states)

    def step(self, length: float) -> float:
        return length / self.steps

    def without_gradient(self) -> "FixedSteps":
        return FixedSteps(self.steps, looped=True)


def _written_once(rates: Rates) -> Rates:
    """Traced and lowered once for all stages of all steps, which takes half as long as compiling.

    XLA puts the program in at each place, so what runs is the same.
    """
    return jax.jit(lambda states, time, interval: rates(states, time, interval))


def _rk4(rates: Rates, states: States, start: Time, length: Time, interval: Interval) -> States:
    # Not a diffrax solver: its loop over the stages cost more in the backward pass than the
    # stages themselves.
    middle, end = start + 0.5 * length, start + length
    first = rates(states, start, interval)
    second = rates(states + 0.5 * length * first, middle, interval)
    third = rates(states + 0.5 * length * second, middle, interval)
    fourth = rates(states + length * third, end, interval)
    return states + length / 6 * (first + 2 * second + 2 * third + fourth)


STAGES = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))
"""Of the classic rule: how far along the step, and the weight in sixths."""


def _rk4_looped(
    rates: Rates, states: States, start: Time, length: Time, interval: Interval
) -> States:
    def stage(so_far: tuple[States, States], row: Float[Array, "2"]) -> tuple[tuple, None]:
        last, total = so_far
        way, weight = row[0] * length, row[1]
        rate = rates(states + way * last, start + way, interval)
        return (rate, total + weight * rate), None

    none = jnp.zeros_like(states)
    _, total = jax.lax.scan(stage, (none, none), jnp.asarray(STAGES, length.dtype))[0]
    return states + length / 6 * total


class AdaptiveSteps(AbstractIntegrator):
    """Steps chosen by error control, for prediction; not a number where they run out."""

    method: Literal["tsit5", "dopri5"] = eqx.field(static=True, default="tsit5")
    rtol: float = eqx.field(static=True, default=1e-4)
    atol: float = eqx.field(static=True, default=1e-6)
    max_steps: int = eqx.field(static=True, default=4096)

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        import diffrax  # half a second that only those who ask for it wait for

        solver = {"tsit5": diffrax.Tsit5, "dopri5": diffrax.Dopri5}[self.method]()
        solution = diffrax.diffeqsolve(
            _term(rates),
            solver,
            interval.start,
            interval.end,
            dt0=None,
            y0=states,
            args=interval,
            saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=diffrax.PIDController(rtol=self.rtol, atol=self.atol),
            max_steps=self.max_steps,
            throw=False,
        )
        assert solution.ys is not None
        done = solution.result == diffrax.RESULTS.successful
        return jnp.where(done, solution.ys[0], jnp.nan)


def _term(rates: Rates) -> "diffrax.ODETerm":
    import diffrax

    return diffrax.ODETerm(
        lambda time, states, interval: rates(states, jnp.asarray(time), interval)
    )
