"""Initial states by Bayesian regression on the first frames: no training before it is useful.

Along each axis an object moves as p + v τ + a τ²/2 for a short while. Position, velocity and
acceleration get Gaussian priors (the model's own N(0, 1) for p and v), the frames get the noise
of the likelihood plus a misfit that grows with τ, because something may happen between them.
There are two such stories, a calm one and one in which something happens, weighted by their
evidence. It knows about missing values and irregular times, and finds velocities that were
never observed.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST
from comotion.data.batches import Window
from comotion.encode.base import AbstractInitialStateEncoder, FirstFrames, first_frames
from comotion.encode.gaussian import Belief
from comotion.layout import Layout

START_ACCELERATION = (0.1, 5.0)
START_MISFIT = (0.01, 0.3)
START_LOG_ODDS = 2.0


class Regression(eqx.Module):
    """What one story says about position and velocity, axis by axis, and how well it fits."""

    mean: Float[Array, "d 2"]
    covariance: Float[Array, "d 2 2"]
    log_evidence: Float[Array, " d"]


class SmoothingEncoder(AbstractInitialStateEncoder):
    """For states [position, velocity] whose observed features are the state's first entries."""

    log_acceleration: Float[Array, " 2"]
    log_misfit: Float[Array, " 2"]
    calm_log_odds: Float[Array, ""]
    layout: Layout = eqx.field(static=True)
    frames: int = eqx.field(static=True)

    def __call__(self, window: Window, noise_variance: Float[Array, " O"]) -> Belief:
        seen = first_frames(window, self.frames)
        mean, factor = jax.vmap(self._of_object, in_axes=(0, None))(seen, noise_variance)
        return Belief(mean, factor)

    def _of_object(
        self, seen: FirstFrames, noise_variance: Float[Array, " O"]
    ) -> tuple[Float[Array, " D"], Float[Array, "D D"]]:
        stories = jax.vmap(lambda a, m: regress(seen, noise_variance, self.layout.spatial, a, m))(
            self.log_acceleration, self.log_misfit
        )
        log_odds = jnp.stack([self.calm_log_odds, jnp.zeros_like(self.calm_log_odds)])
        mean, covariance = _merge(stories, log_odds)
        return mean.T.reshape(-1), _interleave(jnp.linalg.cholesky(covariance))


def regress(
    seen: FirstFrames,
    noise_variance: Float[Array, " O"],
    spatial: int,
    log_acceleration: Float[Array, ""],
    log_misfit: Float[Array, ""],
) -> Regression:
    observed = seen.values.shape[1] // spatial  # 1: positions, 2: positions and velocities
    shape = (seen.values.shape[0], observed, spatial)
    values, present = seen.values.reshape(shape), seen.present.reshape(shape)
    variance = _frame_variance(seen.times, noise_variance.reshape(observed, spatial), log_misfit)
    weights = jnp.where(present, 1.0 / variance, 0.0)
    design = _design(seen.times)[:, :observed]  # (F, observed, 3)
    prior = jnp.exp(-2.0 * jnp.stack([jnp.zeros_like(log_acceleration)] * 2 + [log_acceleration]))
    precision = jnp.diag(prior)[None] + jnp.einsum("foi,fos,foj->sij", design, weights, design)
    evidence = jnp.einsum("foi,fos,fos->si", design, weights, values)
    covariance = jnp.linalg.inv(precision)
    mean = jnp.einsum("sij,sj->si", covariance, evidence)
    surprise = jnp.where(present, jnp.log(variance) + weights * values**2, 0.0)
    log_evidence = 0.5 * (
        jnp.sum(jnp.log(prior))
        - jnp.linalg.slogdet(precision)[1]
        + jnp.sum(evidence * mean, axis=1)
        - jnp.sum(surprise, axis=(0, 1))
    )
    return Regression(mean[:, :2], covariance[:, :2, :2], log_evidence)


def smoothing_encoder(layout: Layout, *, frames: int) -> SmoothingEncoder:
    return SmoothingEncoder(
        log_acceleration=jnp.log(jnp.asarray(START_ACCELERATION, FAST)),
        log_misfit=jnp.log(jnp.asarray(START_MISFIT, FAST)),
        calm_log_odds=jnp.asarray(START_LOG_ODDS, FAST),
        layout=layout,
        frames=frames,
    )


def _merge(
    stories: Regression, log_odds: Float[Array, " k"]
) -> tuple[Float[Array, "d 2"], Float[Array, "d 2 2"]]:
    """The Gaussian with the mean and covariance of the weighted stories."""
    weights = jax.nn.softmax(stories.log_evidence + log_odds[:, None], axis=0)  # (k, d)
    mean = jnp.einsum("kd,kdi->di", weights, stories.mean)
    apart = stories.mean - mean[None]
    spread = stories.covariance + jnp.einsum("kdi,kdj->kdij", apart, apart)
    return mean, jnp.einsum("kd,kdij->dij", weights, spread)


def _frame_variance(
    times: Float[Array, " F"], noise: Float[Array, "o d"], log_misfit: Float[Array, ""]
) -> Float[Array, "F o d"]:
    """A velocity may be off by the misfit, a position by the misfit times the time passed."""
    growth = jnp.stack([times, jnp.where(times > 0, 1.0, 0.0)], axis=1)[:, : noise.shape[0]]
    return noise[None] + ((growth * jnp.exp(log_misfit)) ** 2)[:, :, None]


def _design(times: Float[Array, " F"]) -> Float[Array, "F 2 3"]:
    one, zero = jnp.ones_like(times), jnp.zeros_like(times)
    position = jnp.stack([one, times, 0.5 * times**2], axis=1)
    velocity = jnp.stack([zero, one, times], axis=1)
    return jnp.stack([position, velocity], axis=1)


def _interleave(factor: Float[Array, "d 2 2"]) -> Float[Array, "D D"]:
    """One factor of [p₁…p_d, v₁…v_d] from one factor of [p, v] per axis."""
    blocks = [[jnp.diag(factor[:, row, column]) for column in range(2)] for row in range(2)]
    return jnp.block(blocks)
