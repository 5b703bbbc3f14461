"""Beliefs at the last frame seen: a bank of Kalman filters, and how each object has moved so far.

Along each axis an object has a position, a velocity and an acceleration that is an
Ornstein-Uhlenbeck process (Singer's model): between frames the transition and its covariance are
exact, so irregular times and missing values need no special case. How noisy a recording is and how
restless each object is differ from what was learned; a small grid of factors on both is weighed by
the likelihood of the frames seen, noise for all objects of a sequence together, activity for each
by itself. The filter's acceleration is where the memory of process noise begins.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import EXACT, FAST
from comotion.data.windows import Window
from comotion.encode.base import AbstractInitialStateEncoder
from comotion.encode.gaussian import Belief
from comotion.integrate.process_noise import Habits

VAGUE_POSITION = 1e4
VAGUE_VELOCITY = 1e1
SERIES_BELOW = 0.05
TINY = 1e-12
NOISE_FACTORS, NOISE_PRIOR = np.array([1 / 3, 1.0, 3.0, 9.0]), np.array([0.2, 0.4, 0.2, 0.2])
ACTIVITY_FACTORS, ACTIVITY_PRIOR = np.array([1 / 3, 1.0, 3.0]), np.array([0.25, 0.5, 0.25])


class Filtered(eqx.Module):
    """Belief about [position, velocity, acceleration] at the last frame, and what goes with it."""

    belief: Belief
    habits: Habits
    noise_variance: Float[Array, " O"]
    """of the observations of this sequence"""
    log_likelihood: Float[Array, ""]


class _Pass(eqx.Module):
    """One filter of the bank after the last frame."""

    mean: Float[Array, "*g A d 3"]
    covariance: Float[Array, "*g A d 3 3"]
    log_likelihood: Float[Array, "*g A"]
    speed: Float[Array, "*g A"]
    variation: Float[Array, "*g A"]


class OriginFilter(AbstractInitialStateEncoder):
    """Position, velocity and Ornstein-Uhlenbeck acceleration along each axis."""

    is_closed_form: ClassVar[bool] = True

    log_acceleration: Float[Array, ""]
    """log standard deviation of the acceleration"""
    log_memory: Float[Array, ""]
    """log time in which an acceleration is forgotten"""
    spatial: int = eqx.field(static=True)
    frames: int = eqx.field(static=True)

    def __call__(self, window: Window, noise_variance: Float[Array, " O"]) -> Belief:
        return self.filtered(window, noise_variance).belief

    def filtered(self, past: Window, noise_variance: Float[Array, " O"]) -> Filtered:
        """Of every object of one sequence at the last frame of `past`."""
        # Noise-free data make precisions of 1e8 and more beside those of one: not for 32 bits.
        exact, window, noise = jax.tree.map(
            lambda leaf: leaf.astype(EXACT) if eqx.is_inexact_array(leaf) else leaf,
            (self, past, noise_variance),
        )
        filtered = exact._bank(window, noise)
        return jax.tree.map(lambda leaf: leaf.astype(noise_variance.dtype), filtered)

    def _bank(self, past: Window, noise_variance: Float[Array, " O"]) -> Filtered:
        over_activity = jax.vmap(self._filter, in_axes=(None, None, 0))
        over_noise = jax.vmap(over_activity, in_axes=(None, 0, None))
        noises = noise_variance[None] * jnp.asarray(NOISE_FACTORS**2)[:, None]
        passes = over_noise(past, noises, jnp.asarray(ACTIVITY_FACTORS))  # (G, B, A, …)
        joint = passes.log_likelihood + jnp.log(ACTIVITY_PRIOR)[None, :, None]
        by_noise = jnp.sum(jax.nn.logsumexp(joint, axis=1), axis=1) + jnp.log(NOISE_PRIOR)
        noise_weights = jax.nn.softmax(by_noise)  # (G,)
        weights = noise_weights[:, None, None] * jax.nn.softmax(joint, axis=1)  # (G, B, A)

        def average(values: Float[Array, "G B A *rest"]) -> Float[Array, "A *rest"]:
            return jnp.einsum("gba,gba...->a...", weights, values)

        mean = average(passes.mean)
        off = passes.mean - mean[None, None]
        covariance = average(passes.covariance + off[..., :, None] * off[..., None, :])
        objects, d = mean.shape[:2]
        activity = jnp.einsum("gba,b->a", weights, jnp.log(ACTIVITY_FACTORS))
        return Filtered(
            belief=Belief(
                jnp.swapaxes(mean, 1, 2).reshape(objects, 3 * d),
                _interleave(_cholesky(covariance)),
            ),
            habits=Habits(
                acceleration=mean[:, :, 2],
                speed=average(passes.speed),
                variation=average(passes.variation),
                activity=activity,
            ),
            noise_variance=jnp.einsum("g,go->o", noise_weights, noises),
            log_likelihood=jax.nn.logsumexp(by_noise),
        )

    def _filter(
        self, past: Window, noise_variance: Float[Array, " O"], activity: Float[Array, ""]
    ) -> _Pass:
        d, frames = self.spatial, past.times.shape[0]
        kinds = min(past.values.shape[-1] // d, 2)  # positions, or positions and velocities
        objects = past.values.shape[1]
        values = past.values[..., : kinds * d].reshape(frames, objects, kinds, d)
        present = past.present[..., : kinds * d].reshape(frames, objects, kinds, d)
        noise = noise_variance[: kinds * d].reshape(kinds, d)
        sd = activity * jnp.exp(self.log_acceleration)
        vague = jnp.stack([jnp.asarray(VAGUE_POSITION), jnp.asarray(VAGUE_VELOCITY), sd**2])
        mean = jnp.zeros((objects, d, 3), EXACT)
        covariance = jnp.broadcast_to(jnp.diag(vague), (objects, d, 3, 3))
        steps = jnp.diff(past.times, prepend=past.times[:1])

        def forward(state: tuple[Array, Array], frame: tuple[Array, ...]) -> tuple:
            step, measured, there = frame
            move, spread = transition(step, jnp.exp(self.log_memory), sd)
            mean = jnp.einsum("ij,adj->adi", move, state[0])
            covariance = jnp.einsum("ij,adjk,lk->adil", move, state[1], move) + spread[None, None]
            known = jnp.all((covariance[..., 0, 0] < 0.5 * VAGUE_POSITION) & there[:, 0], axis=-1)
            mean, covariance, density = _measure(mean, covariance, measured, there, noise)
            speed = jnp.sqrt(jnp.sum(mean[..., 1] ** 2, axis=-1) + TINY)
            return (mean, covariance), (density, speed, known)

        (mean, covariance), (density, speed, known) = jax.lax.scan(
            forward, (mean, covariance), (steps, values, present)
        )
        usual, variation = _usual_speed(speed, known)
        return _Pass(mean, covariance, jnp.sum(density, axis=0), usual, variation)


def origin_filter(spatial: int, *, frames: int) -> OriginFilter:
    """Before any data are seen: accelerations of order one that last for a time unit."""
    zero = jnp.zeros((), FAST)
    return OriginFilter(log_acceleration=zero, log_memory=zero, spatial=spatial, frames=frames)


def _measure(
    mean: Float[Array, "A d 3"],
    covariance: Float[Array, "A d 3 3"],
    measured: Float[Array, "A k d"],
    present: Bool[Array, "A k d"],
    noise: Float[Array, "k d"],
) -> tuple[Float[Array, "A d 3"], Float[Array, "A d 3 3"], Float[Array, " A"]]:
    """Position, then velocity where it is observed, taken into account one after the other."""
    density = jnp.zeros(mean.shape[0], EXACT)
    for kind in range(measured.shape[1]):
        there = present[:, kind]  # (A, d)
        variance = covariance[..., kind, kind] + noise[kind][None]
        innovation = jnp.where(there, measured[:, kind] - mean[..., kind], 0.0)
        gain = jnp.where(there[..., None], covariance[..., kind] / variance[..., None], 0.0)
        mean = mean + gain * innovation[..., None]
        covariance = covariance - gain[..., :, None] * covariance[..., kind, :][..., None, :]
        covariance = 0.5 * (covariance + jnp.swapaxes(covariance, -1, -2))
        log_density = -0.5 * (innovation**2 / variance + jnp.log(2 * jnp.pi * variance))
        density = density + jnp.sum(jnp.where(there, log_density, 0.0), axis=1)
    return mean, covariance, density


def _usual_speed(
    speed: Float[Array, "F A"], known: Bool[Array, "F A"]
) -> tuple[Float[Array, " A"], Float[Array, " A"]]:
    """Mean and standard deviation over the frames in which there was a speed to know."""
    weights = known.astype(EXACT)
    total = jnp.maximum(jnp.sum(weights, axis=0), 1.0)
    mean = jnp.sum(weights * speed, axis=0) / total
    mean = jnp.where(jnp.any(known, axis=0), mean, speed[-1])
    variance = jnp.sum(weights * (speed - mean[None]) ** 2, axis=0) / total
    return mean, jnp.sqrt(variance + TINY)


def transition(
    step: Float[Array, ""], memory: Float[Array, ""], sd: Float[Array, ""]
) -> tuple[Float[Array, "3 3"], Float[Array, "3 3"]]:
    """Exact move of [p, v, a] over `step`, and the covariance it adds."""
    x = step / memory
    short = x < SERIES_BELOW
    x_safe = jnp.where(short, 1.0, x)
    e, e2 = jnp.exp(-x_safe), jnp.exp(-2 * x_safe)
    zero, one = jnp.zeros_like(x), jnp.ones_like(x)
    to_position = jnp.where(short, step**2 * (0.5 - x / 6), (x_safe - 1 + e) * memory**2)
    to_velocity = jnp.where(short, step * (1 - x / 2), (1 - e) * memory)
    decay = jnp.exp(-x)
    move = jnp.stack(
        [
            jnp.stack([one, step, to_position]),
            jnp.stack([zero, one, to_velocity]),
            jnp.stack([zero, zero, decay]),
        ]
    )
    q = 2.0 * step
    pp = jnp.where(
        short,
        q * step**4 / 20 / memory,
        (1 - e2 + 2 * x_safe + 2 * x_safe**3 / 3 - 2 * x_safe**2 - 4 * x_safe * e) * memory**4,
    )
    pv = jnp.where(
        short,
        q * step**3 / 8 / memory,
        (e2 + 1 - 2 * e + 2 * x_safe * e - 2 * x_safe + x_safe**2) * memory**3,
    )
    pa = jnp.where(short, q * step**2 / 6 / memory, (1 - e2 - 2 * x_safe * e) * memory**2)
    vv = jnp.where(short, q * step**2 / 3 / memory, (4 * e - 3 - e2 + 2 * x_safe) * memory**2)
    va = jnp.where(short, q * step / 2 / memory, (e2 + 1 - 2 * e) * memory)
    aa = 1 - jnp.exp(-2 * x)
    spread = jnp.stack([jnp.stack([pp, pv, pa]), jnp.stack([pv, vv, va]), jnp.stack([pa, va, aa])])
    return move, sd**2 * spread


def _cholesky(covariance: Float[Array, "A d 3 3"]) -> Float[Array, "A d 3 3"]:
    """Written out for three by three, with a floor where nothing is open."""
    c = covariance
    a = jnp.sqrt(jnp.maximum(c[..., 0, 0], TINY**2))
    b, f = c[..., 1, 0] / a, c[..., 2, 0] / a
    g = jnp.sqrt(jnp.maximum(c[..., 1, 1] - b**2, TINY**2))
    h = (c[..., 2, 1] - b * f) / g
    k = jnp.sqrt(jnp.maximum(c[..., 2, 2] - f**2 - h**2, TINY**2))
    zero = jnp.zeros_like(a)
    rows = [jnp.stack(row, -1) for row in ([a, zero, zero], [b, g, zero], [f, h, k])]
    return jnp.stack(rows, -2)


def _interleave(factor: Float[Array, "A d n n"]) -> Float[Array, "A D D"]:
    """One factor of [p₁…p_d, v₁…v_d, …] from one factor of [p, v, …] per axis."""
    A, d, n, _ = factor.shape
    whole = jnp.einsum("adij,de->aidje", factor, jnp.eye(d, dtype=factor.dtype))
    return whole.reshape(A, n * d, n * d)
