"""Ordinary differential equations: the only room that speaks diffrax."""

from typing import ClassVar, Literal

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States


class ClassicRK4(diffrax.AbstractERK):
    """The classic fourth-order Runge-Kutta method, which diffrax does not ship."""

    tableau: ClassVar[diffrax.ButcherTableau] = diffrax.ButcherTableau(
        c=np.array([0.5, 0.5, 1.0]),
        a_lower=(np.array([0.5]), np.array([0.0, 0.5]), np.array([0.0, 0.0, 1.0])),
        b_sol=np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
        b_error=np.zeros(4),
    )
    interpolation_cls: ClassVar = diffrax.LocalLinearInterpolation

    def order(self, terms) -> int:
        return 4


class FixedSteps(AbstractIntegrator):
    """Classic RK4 with the same number of steps in every interval, however long it is."""

    steps: int = eqx.field(static=True, default=1)

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        term = _term(rates)
        solver = ClassicRK4()
        length = (interval.end - interval.start) / self.steps

        def step(number: int | Int[Array, ""], states: States) -> States:
            start = interval.start + jnp.asarray(number, length.dtype) * length
            after, *_ = solver.step(
                term, start, start + length, states, interval, None, made_jump=False
            )
            return after

        if self.steps == 1:
            return step(0, states)
        return jax.lax.fori_loop(0, self.steps, step, states)


class AdaptiveSteps(AbstractIntegrator):
    """Steps chosen by error control, for prediction."""

    method: Literal["tsit5", "dopri5"] = eqx.field(static=True, default="tsit5")
    rtol: float = eqx.field(static=True, default=1e-4)
    atol: float = eqx.field(static=True, default=1e-6)
    max_steps: int = eqx.field(static=True, default=4096)

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
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
        )
        assert solution.ys is not None
        return solution.ys[0]


def _term(rates: Rates) -> diffrax.ODETerm:
    return diffrax.ODETerm(lambda time, states, interval: rates(states, time, interval))
