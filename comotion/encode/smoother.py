"""Initial states by Bayesian regression on the first frames: no training before it is useful.

Along each axis an object moves as p + v τ + a τ²/2 for a short while. Position, velocity and
acceleration get Gaussian priors (the model's own N(0, 1) for p and v), the frames get the noise
of the likelihood plus a misfit that grows with τ, because something may happen between the
frames. The posterior is exact, knows about missing values and irregular times, and finds
velocities that were never observed.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import EXACT, FAST
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window
from comotion.encode.base import AbstractInitialStateEncoder, FirstFrames, first_frames
from comotion.encode.gaussian import Belief


class SmoothingEncoder(AbstractInitialStateEncoder):
    """For states [position, velocity] whose observed features are the state's first entries."""

    is_closed_form: ClassVar[bool] = True
    log_acceleration: Float[Array, ""]
    log_misfit: Float[Array, ""]
    layout: Layout = eqx.field(static=True)
    frames: int = eqx.field(static=True)

    def __call__(self, window: Window, noise_variance: Float[Array, " O"]) -> Belief:
        # Noise-free data make precisions of 1e8 and more beside those of one: not for 32 bits.
        exact, seen, noise = jax.tree.map(
            lambda leaf: leaf.astype(EXACT) if eqx.is_inexact_array(leaf) else leaf,
            (self, first_frames(window, self.frames), noise_variance),
        )
        mean, factor = jax.vmap(exact._regress, in_axes=(0, None))(seen, noise)
        return Belief(mean.astype(noise_variance.dtype), factor.astype(noise_variance.dtype))

    def _regress(
        self, seen: FirstFrames, noise_variance: Float[Array, " O"]
    ) -> tuple[Float[Array, " D"], Float[Array, "D D"]]:
        spatial = self.layout.spatial
        observed = seen.values.shape[1] // spatial  # 1: positions, 2: positions and velocities
        shape = (seen.values.shape[0], observed, spatial)
        values = seen.values.reshape(shape)
        variance = self._frame_variance(seen.times, noise_variance.reshape(observed, spatial))
        weights = jnp.where(seen.present.reshape(shape), 1.0 / variance, 0.0)
        design = self._design(seen.times)[:, :observed]  # (F, observed, 3)
        prior = jnp.diag(jnp.exp(-2.0 * jnp.stack([0.0, 0.0, 1.0]) * self.log_acceleration))
        precision = prior[None] + jnp.einsum("foi,fos,foj->sij", design, weights, design)
        evidence = jnp.einsum("foi,fos,fos->si", design, weights, values)
        covariance = jnp.linalg.inv(precision)
        mean = jnp.einsum("sij,sj->si", covariance, evidence)[:, :2]
        factor = jnp.linalg.cholesky(covariance[:, :2, :2])
        return mean.T.reshape(-1), _interleave(factor)

    def _frame_variance(
        self, times: Float[Array, " F"], noise: Float[Array, "o d"]
    ) -> Float[Array, "F o d"]:
        """A velocity may be off by the misfit, a position by the misfit times the time passed."""
        growth = jnp.stack([times, jnp.where(times > 0, 1.0, 0.0)], axis=1)[:, : noise.shape[0]]
        return noise[None] + ((growth * jnp.exp(self.log_misfit)) ** 2)[:, :, None]

    def _design(self, times: Float[Array, " F"]) -> Float[Array, "F 2 3"]:
        one, zero = jnp.ones_like(times), jnp.zeros_like(times)
        position = jnp.stack([one, times, 0.5 * times**2], axis=1)
        velocity = jnp.stack([zero, one, times], axis=1)
        return jnp.stack([position, velocity], axis=1)


def smoothing_encoder(layout: Layout, *, frames: int) -> SmoothingEncoder:
    """Starts with accelerations of order one and a misfit of a tenth of a typical velocity."""
    return SmoothingEncoder(
        log_acceleration=jnp.zeros((), FAST),
        log_misfit=jnp.log(jnp.asarray(0.1, FAST)),
        layout=layout,
        frames=frames,
    )


def _interleave(factor: Float[Array, "d 2 2"]) -> Float[Array, "D D"]:
    """One factor of [p₁…p_d, v₁…v_d] from one factor of [p, v] per axis."""
    blocks = [[jnp.diag(factor[:, row, column]) for column in range(2)] for row in range(2)]
    return jnp.block(blocks)
