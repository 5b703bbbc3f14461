"""A Kalman filter of many tracks at once: position, velocity and acceleration of one axis.

The acceleration, or the velocity itself, is an Ornstein-Uhlenbeck process. Masks and irregular
times are ordinary; frames without a measurement are forecasts. A law may push beside: the filter is
linear in what it measures and in the pushes together.
"""

from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import EXACT
from comotion.scoring.tracks import KalmanTracks

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
Driven = Literal["velocity", "acceleration"]
DRIVEN: tuple[Driven, ...] = ("velocity", "acceleration")


class Parameters(NamedTuple):
    """In the units of the tracks; what is driven gains a variance of push² per unit of time.

    Velocities decay at the rate `damping`, accelerations at the rate `damping + forgetting`.
    """

    noise: Float[Array, " m"]
    push: Float[Array, ""]
    damping: Float[Array, ""]
    forgetting: Float[Array, ""]


class State(NamedTuple):
    """Belief about position, velocity and acceleration; `known` once a position was seen."""

    mean: Float[Array, "3 n"]
    covariance: Float[Array, "3 3 n"]
    known: Bool[Array, " n"]


def _decay(rate: Array, s: Array) -> tuple[Array, Array]:
    """What is left after `s` of something that decays, and its integral until then."""
    return jnp.exp(-rate * s), -jnp.expm1(-rate * s) / rate


def _responses(s: Float[Array, "*s"], parameters: Parameters) -> tuple[Array, Array]:
    """Position, velocity and acceleration a time `s` after a unit of velocity, of acceleration.

    The difference of two exponentials is written so that equal rates would not cancel.
    """
    _, _, damping, forgetting = parameters
    left, drifted = _decay(damping, s)
    _, built_up = _decay(forgetting, s)
    remembered, integral = _decay(damping + forgetting, s)
    return (
        jnp.stack([drifted, left, jnp.zeros_like(s)]),
        jnp.stack([(drifted - integral) / forgetting, left * built_up, remembered]),
    )


def _transition(steps: Float[Array, " u"], parameters: Parameters) -> Float[Array, "3 3 u"]:
    velocity, acceleration = _responses(steps, parameters)
    position = jnp.broadcast_to(jnp.asarray([[1.0], [0.0], [0.0]], EXACT), velocity.shape)
    return jnp.stack([position, velocity, acceleration], axis=1)


def _gained(
    steps: Float[Array, " u"], parameters: Parameters, driven: Driven
) -> Float[Array, "3 3 u"]:
    """Covariance after white noise drove the process for so long.

    The closed form of this integral cancels to nothing at small steps; quadrature does not.
    """
    s = steps[None] * (jnp.asarray(NODES)[:, None] + 1) / 2
    w = steps[None] * jnp.asarray(WEIGHTS)[:, None] / 2
    response = _responses(s, parameters)[DRIVEN.index(driven)]  # 3 s u
    covariance = (w[None, None] * response[:, None] * response[None]).sum(axis=2)
    return parameters.push**2 * covariance


class Foretold(NamedTuple):
    """Frame by frame: the position expected from those before and its variance, the belief after
    the frame about position and velocity, how far each measurement was off in units of its own
    standard deviation (zero where there is none), and the log-likelihood.

    An object's first position is not counted.
    """

    mean: Float[Array, "F n"]
    variance: Float[Array, "F n"]
    belief: Float[Array, "F 2 n"]
    surprise: Float[Array, "F m n"]
    log_likelihood: Float[Array, "F n"]


@partial(jax.jit, static_argnames="driven")
def run_filter(
    parameters: Parameters, tracks: KalmanTracks, speed: Float[Array, ""] | float, driven: Driven
) -> tuple[Float[Array, "F n"], Float[Array, "F n"], Float[Array, ""]]:
    """Position expected in each frame from those before, its variance, and the log-likelihood.

    The likelihood is the mean over measurements.
    """
    found = foretell(parameters, tracks, speed, driven)
    count = jnp.maximum(tracks.present.sum(), 1).astype(EXACT)
    return found.mean, found.variance, found.log_likelihood.sum() / count


def foretell(
    parameters: Parameters,
    tracks: KalmanTracks,
    speed: Float[Array, ""] | float,
    driven: Driven,
    pushes: Float[Array, "F n"] | None = None,
    order: Literal[1, 2] = 2,
) -> Foretold:
    """`pushes` are accelerations, of a first-order law velocities, since the frame before."""
    noise, push, damping, forgetting = parameters
    move = _transition(tracks.steps, parameters)
    gained = _gained(tracks.steps, parameters, driven)
    pushed = _pushed(tracks.steps, damping, order)
    n = tracks.values.shape[-1]
    persistent = push**2 / (2 * (damping + forgetting))
    persistent = persistent if driven == "acceleration" else jnp.zeros((), EXACT)
    prior = jnp.diag(jnp.stack([jnp.zeros((), EXACT), jnp.asarray(speed, EXACT) ** 2, persistent]))
    start = State(
        jnp.zeros((3, n)), jnp.broadcast_to(prior[..., None], (3, 3, n)), jnp.zeros(n, bool)
    )

    def step(state: State, frame: tuple[Array, ...]) -> tuple[State, tuple]:
        values, present, which, *push = frame
        state = _move(state, move[..., which], gained[..., which])
        if push:
            state = _displaced(state, pushed[:, which] * push[0][None])
        mean, variance = state.mean[0], state.covariance[0, 0]
        total, surprises = jnp.zeros(n), []
        for entry in range(values.shape[0]):
            state, score, surprise = _measure(
                state, entry, values[entry], present[entry], noise[entry]
            )
            total = total + score
            surprises.append(surprise)
        return state, (mean, variance, state.mean[:2], jnp.stack(surprises), total)

    frames = (tracks.values, tracks.present, tracks.which)
    frames = frames if pushes is None else (*frames, pushes)
    return Foretold(*jax.lax.scan(step, start, frames)[1])


def _pushed(
    steps: Float[Array, " u"], damping: Float[Array, ""], order: Literal[1, 2]
) -> Float[Array, "3 u"]:
    """What a unit push does in each of the steps to position, velocity and acceleration."""
    if order == 1:
        return jnp.stack([steps, jnp.zeros_like(steps), jnp.zeros_like(steps)])
    _, drifted = _decay(damping, steps)
    return jnp.stack([(steps - drifted) / damping, drifted, jnp.zeros_like(steps)])


def _displaced(state: State, by: Float[Array, "3 n"]) -> State:
    return state._replace(mean=state.mean + jnp.where(state.known[None], by, 0.0))


def _move(state: State, F: Float[Array, "3 3 n"], Q: Float[Array, "3 3 n"]) -> State:
    """One step ahead; before the first position there is nothing to move."""
    mean = (F * state.mean[None]).sum(axis=1)
    FP = (F[:, :, None] * state.covariance[None]).sum(axis=1)
    covariance = (FP[:, None] * F[None]).sum(axis=2) + Q
    return State(
        jnp.where(state.known[None], mean, state.mean),
        jnp.where(state.known[None, None], covariance, state.covariance),
        state.known,
    )


def _measure(
    state: State, entry: int, value: Array, present: Array, noise: Array
) -> tuple[State, Float[Array, " n"], Float[Array, " n"]]:
    """The belief after one number was measured, its log-likelihood, and how far it was off."""
    mean, covariance, known = state
    variance = covariance[entry, entry] + noise**2
    error = value - mean[entry]
    used = present & known
    gain = jnp.where(used[None], covariance[entry] / variance[None], 0.0)
    mean = mean + gain * error[None]
    covariance = covariance - gain[:, None] * covariance[entry][None]
    score = jnp.where(used, -0.5 * (jnp.log(2 * jnp.pi * variance) + error**2 / variance), 0.0)
    surprise = jnp.where(used, error / jnp.sqrt(variance), 0.0)
    if entry == 0:
        first = present & ~known
        mean = mean.at[0].set(jnp.where(first, value, mean[0]))
        covariance = covariance.at[0, 0].set(jnp.where(first, noise**2, covariance[0, 0]))
        known = known | present
    return State(mean, covariance, known), score, surprise
