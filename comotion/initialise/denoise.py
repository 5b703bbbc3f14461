"""Paths without their measurement noise, for starting values.

Along each axis an object coasts and is pushed now and then: position is the integral of
velocity, and the push of an interval is Student-t distributed, small almost always and large in
a collision. A Kalman smoother estimates all frames of a track together; expectation maximisation
finds the size of the noise, of a usual push, and which intervals were eventful.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import EXACT
from comotion.backend.processor import RUNS_ONCE
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window

ITERATIONS = 20
"""Of expectation and maximisation; their number is fixed, so one program serves all data."""
TAIL = 1.0  # degrees of freedom of the pushes
VAGUE = 100.0
"""Spreads: what is thought of a track before any of its frames."""
START_NOISE = 0.01
"""Share of a feature's variance that noise begins with; the iterations find it."""
START_PUSH = 0.1
"""Likewise, of the mean square of velocities, in the time of a step."""
TINY = 1e-12
"""Keeps features that never change from a variance of zero."""


class AxisTracks(eqx.Module):
    """One axis of one object each: its position and velocity as measured in every frame."""

    measured: Float[Array, "*n F 2"]
    present: Bool[Array, "*n F 2"]
    steps: Float[Array, "*n J"]
    moving: Bool[Array, "*n J"]


class Scales(eqx.Module):
    """Variances: of the measurements, of a usual push, and of a state nothing is known about."""

    noise: Float[Array, " 2"]
    push: Float[Array, ""]
    vague: Float[Array, " 2"]


class Estimate(eqx.Module):
    """Position and velocity in every frame, their variances, and the square of each push."""

    mean: Float[Array, "*n F 2"]
    variance: Float[Array, "*n F 2"]
    pushes: Float[Array, "*n J"]


def denoised(windows: Window, layout: Layout) -> Window:
    """The batch with smoothed positions and velocities as its values.

    Velocities that were not measured are found, and count as present where the position is.
    States without a velocity, and states that are hidden altogether, come back as they are.
    """
    if layout.hidden or not layout.has_velocity:
        return windows
    return _denoised(windows, layout.spatial)


@partial(jax.jit, static_argnums=1, compiler_options=RUNS_ONCE)
def _denoised(windows: Window, spatial: int) -> Window:
    (P, F, A, _), S = windows.values.shape, spatial
    present = _with_velocity(windows.present, S)
    smooth = _smooth(_tracks(windows, S)).reshape(P, A, S, F, 2)
    moving = jnp.transpose(smooth, (0, 3, 1, 4, 2)).reshape(P, F, A, 2 * S)
    values = jnp.concatenate(
        [moving.astype(windows.values.dtype), windows.values[..., 2 * S :]], axis=-1
    )
    return eqx.tree_at(lambda w: (w.values, w.present), windows, (values, present))


def _with_velocity(present: Bool[Array, "P F A o"], spatial: int) -> Bool[Array, "P F A O"]:
    if present.shape[-1] >= 2 * spatial:
        return present
    return jnp.concatenate([present, present], axis=-1)


def _tracks(windows: Window, spatial: int) -> AxisTracks:
    P, F, A, _ = windows.values.shape

    def per_axis(features: Array) -> Array:
        known = features[..., : 2 * spatial]
        blank = jnp.zeros((P, F, A, 2 * spatial - known.shape[-1]), features.dtype)
        both = jnp.concatenate([known, blank], axis=-1).reshape(P, F, A, 2, spatial)
        return jnp.transpose(both, (0, 2, 4, 1, 3)).reshape(P * A * spatial, F, 2)

    steps = jnp.diff(windows.times.astype(EXACT), axis=1)
    there = windows.alive[:, :-1] & windows.alive[:, 1:] & (steps > 0)[:, :, None]  # (P, J, A)
    moving = jnp.transpose(there, (0, 2, 1)).reshape(P * A, F - 1).repeat(spatial, axis=0)
    return AxisTracks(
        measured=per_axis(windows.values).astype(EXACT),
        present=per_axis(windows.present),
        steps=jnp.where(moving, steps.repeat(A * spatial, axis=0), 1.0),
        moving=moving,
    )


def _smooth(tracks: AxisTracks) -> Float[Array, "n F 2"]:
    def improve(guess: tuple[Scales, Array], _: None) -> tuple[tuple[Scales, Array], None]:
        scales, calmness = guess
        seen = jax.vmap(_estimate, in_axes=(0, 0, None))(tracks, calmness, scales)
        return _maximise(tracks, seen, scales), None

    start = (_first_scales(tracks), jnp.ones_like(tracks.steps))
    (scales, calmness), _ = jax.lax.scan(improve, start, None, length=ITERATIONS)
    return jax.vmap(_estimate, in_axes=(0, 0, None))(tracks, calmness, scales).mean


def _first_scales(tracks: AxisTracks) -> Scales:
    """Noise of a tenth of the spread; pushes of a third of the speeds that positions show."""
    spread = _mean(tracks.measured**2, tracks.present, axis=(0, 1))
    both = tracks.present[:, :-1, 0] & tracks.present[:, 1:, 0] & tracks.moving
    slopes = jnp.diff(tracks.measured[:, :, 0], axis=1) / tracks.steps
    speed = _mean(slopes**2, both)
    vague = VAGUE * jnp.stack([spread[0], jnp.maximum(spread[1], speed)])
    return Scales(
        noise=START_NOISE * spread + TINY,
        push=START_PUSH * speed / _mean(tracks.steps, tracks.moving) + TINY,
        vague=vague + TINY,
    )


def _maximise(
    tracks: AxisTracks, seen: Estimate, scales: Scales
) -> tuple[Scales, Float[Array, "n J"]]:
    errors = (tracks.measured - seen.mean) ** 2 + seen.variance
    calmness = (TAIL + 2.0) / (TAIL + seen.pushes / scales.push)
    push = _mean(calmness * seen.pushes, tracks.moving) / 2.0
    noise = _mean(errors, tracks.present, axis=(0, 1))
    return Scales(noise + TINY, push + TINY, scales.vague), calmness


def _estimate(tracks: AxisTracks, calmness: Float[Array, " J"], scales: Scales) -> Estimate:
    """A forward and a backward pass over one track."""
    variances = scales.push / calmness
    first = _measure(
        jnp.zeros(2, EXACT), jnp.diag(scales.vague), tracks.measured[0], tracks.present[0], scales
    )

    def forward(before: tuple[Array, Array], now: tuple[Array, ...]) -> tuple:
        step, variance, measured, present = now
        move = _move(step)
        mean = move @ before[0]
        covariance = move @ before[1] @ move.T + variance * _spread(step)
        after = _measure(mean, covariance, measured, present, scales)
        return after, (*before, mean, covariance)

    inputs = (tracks.steps, variances, tracks.measured[1:], tracks.present[1:])
    last, passes = jax.lax.scan(forward, first, inputs)

    def backward(after: tuple[Array, Array], now: tuple[Array, ...]) -> tuple:
        step, mean, covariance, expected, uncertain = now
        move = _move(step)
        gain = covariance @ move.T @ _inverse(uncertain)
        smooth = mean + gain @ (after[0] - expected)
        variance = covariance + gain @ (after[1] - uncertain) @ gain.T
        lagged = after[1] @ gain.T
        error = after[0] - move @ smooth
        square = after[1] - lagged @ move.T - move @ lagged.T + move @ variance @ move.T
        square = square + error[:, None] * error[None, :]
        push = jnp.sum(_inverse(_spread(step)) * square)
        return (smooth, variance), (smooth, jnp.diagonal(variance), push)

    _, (means, spreads, pushes) = jax.lax.scan(
        backward, last, (tracks.steps, *passes), reverse=True
    )
    return Estimate(
        mean=jnp.concatenate([means, last[0][None]]),
        variance=jnp.concatenate([spreads, jnp.diagonal(last[1])[None]]),
        pushes=pushes,
    )


def _measure(
    mean: Float[Array, " 2"],
    covariance: Float[Array, "2 2"],
    measured: Float[Array, " 2"],
    present: Bool[Array, " 2"],
    scales: Scales,
) -> tuple[Float[Array, " 2"], Float[Array, "2 2"]]:
    """Position, then velocity, taken into account one after the other."""
    for entry in range(2):
        gain = covariance[:, entry] / (covariance[entry, entry] + scales.noise[entry])
        gain = jnp.where(present[entry], gain, 0.0)
        mean = mean + gain * (measured[entry] - mean[entry])
        covariance = covariance - gain[:, None] * covariance[entry][None, :]
    return mean, 0.5 * (covariance + covariance.T)


def _move(step: Float[Array, ""]) -> Float[Array, "2 2"]:
    """Position and velocity after coasting for `step`."""
    one, zero = jnp.ones_like(step), jnp.zeros_like(step)
    return jnp.stack([jnp.stack([one, step]), jnp.stack([zero, one])])


def _spread(step: Float[Array, ""]) -> Float[Array, "2 2"]:
    """Covariance of position and velocity after random pushes of unit strength for `step`."""
    cross = step**2 / 2
    return jnp.stack([jnp.stack([step**3 / 3, cross]), jnp.stack([cross, step])])


def _inverse(matrix: Float[Array, "2 2"]) -> Float[Array, "2 2"]:
    """Written out: a call to LAPACK for each two by two matrix takes far longer."""
    (a, b), (c, d) = matrix
    adjugate = jnp.stack([jnp.stack([d, -b]), jnp.stack([-c, a])])
    return adjugate / (a * d - b * c)


def _mean(values: Array, where: Array, axis: tuple[int, ...] | None = None) -> Float[Array, "..."]:
    count = jnp.sum(where, axis=axis).astype(EXACT)
    return jnp.sum(jnp.where(where, values, 0.0), axis=axis) / jnp.maximum(count, 1.0)
