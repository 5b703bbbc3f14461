"""Kalman filters per axis: the strongest forecasts that know of nobody else and of no place.

Observation noise and process noise are found by maximum likelihood on training tracks.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize

from comotion.data import Trajectories
from comotion.scoring.distributions import GaussianPaths
from comotion.scoring.kalman_filter import Driven, Parameters, run_filter
from comotion.scoring.references import AbstractReference, last_state
from comotion.scoring.rolling import Origins, Protocol
from comotion.scoring.tracks import (
    KalmanTracks,
    TrackUnits,
    at_origins,
    pieces,
    rms_speed,
    rows,
    units_of,
)

START_NOISE = 0.05  # of a median step: tracks are smooth, so noise is far smaller than a step
START_PUSH = 0.1
START_RATES = (0.05, 0.5)  # per frame
SLOWEST, FASTEST = 1e-4, 4.0
LEARNED = np.nan
UNDAMPED = 1e-7  # so slow that no recording is long enough to see it
SMALLEST_NOISE = 1e-4


@dataclass(frozen=True, eq=False)
class AbstractKalman(AbstractReference):
    """A filter; a subclass says what white noise drives and how fast velocities decay."""

    parameters: Parameters
    units: TrackUnits
    speed: float
    log_likelihood: float  # per measurement, in the data's units

    driven: ClassVar[Driven]
    damping: ClassVar[float]
    """per frame, or `LEARNED`"""

    @classmethod
    def fit(cls, data: Trajectories, protocol: Protocol) -> "AbstractKalman":
        units = units_of(data)
        tracks = pieces(data, units)
        speed = rms_speed(tracks)
        rates = START_RATES if cls.driven == "acceleration" else START_RATES[:1]
        found = [_maximise(tracks, speed, rate, cls.driven, cls.damping) for rate in rates]
        parameters, likelihood = max(found, key=lambda one: one[1])
        return cls(parameters, units, speed, likelihood - np.log(units.length))

    def forecast(self, origins: Origins) -> GaussianPaths:
        shape = origins.future.shape
        start = last_state(origins)[0]
        tracks = at_origins(origins, start, self.units)
        mean, variance, _ = run_filter(self.parameters, tracks, self.speed, self.driven)
        sd = jnp.sqrt(variance + self.parameters.noise[0] ** 2)
        mean, sd = (rows(cells, shape) * self.units.length for cells in (mean, sd))
        return GaussianPaths.independent(mean + start[:, None], sd)


class OUAcceleration(AbstractKalman):
    """Accelerations persist for a while, velocities decay: most things that move by themselves."""

    driven = "acceleration"
    damping = LEARNED


class DampedVelocity(AbstractKalman):
    """Velocities are pushed and forgotten: what comes to rest, or jitters about."""

    driven = "velocity"
    damping = LEARNED


class WhiteAcceleration(AbstractKalman):
    """Velocities change by independent pushes only: constant velocity with learned noise."""

    driven = "velocity"
    damping = UNDAMPED


class Wandering(AbstractKalman):
    """Places change by independent pushes: nothing goes on by itself."""

    driven = "velocity"
    damping = FASTEST


def _maximise(
    tracks: KalmanTracks, speed: float, rate: float, driven: Driven, damping: float
) -> tuple[Parameters, float]:
    """SciPy searches: a search inside the program has many filters in it to be compiled."""
    m = tracks.values.shape[1]
    start = [*np.log([START_NOISE] * m), np.log(START_PUSH), _to_free(0.01), _to_free(rate)]

    def loss(free: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _loss(jnp.asarray(free), tracks, jnp.asarray(speed), driven, damping)
        return float(value), np.asarray(slope)

    found = minimize(loss, start, jac=True, method="BFGS", options={"maxiter": 60, "gtol": 1e-4})
    return _parameters(jnp.asarray(found.x), damping), -float(found.fun)


@partial(jax.jit, static_argnames="driven")
def _loss(
    free: Float[Array, " k"],
    tracks: KalmanTracks,
    speed: Float[Array, ""],
    driven: Driven,
    damping: Float[Array, ""] | float,
) -> tuple[Float[Array, ""], Float[Array, " k"]]:
    """Per measurement, and its gradient."""

    def loss(free: Float[Array, " k"]) -> Float[Array, ""]:
        return -run_filter(_parameters(free, damping), tracks, speed, driven)[2]

    return jax.value_and_grad(loss)(free)


def _parameters(free: Float[Array, " k"], given: Float[Array, ""] | float) -> Parameters:
    """From free numbers: noise above a floor, rates within what frames can show."""
    noise = SMALLEST_NOISE + jnp.exp(free[:-3])
    share = jax.nn.sigmoid(free[-2:])
    damping, forgetting = jnp.exp(np.log(SLOWEST) + share * np.log(FASTEST / SLOWEST))
    damping = jnp.where(jnp.isnan(given), damping, given)
    return Parameters(noise, jnp.exp(free[-3]), damping, forgetting)


def _to_free(rate: float) -> float:
    share = np.log(rate / SLOWEST) / np.log(FASTEST / SLOWEST)
    return float(np.log(share / (1 - share)))
