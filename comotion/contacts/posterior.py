"""Gaussian beliefs about the numbers of a contact law."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.backend.normal import standard_normal

Numbers = np.ndarray | Sequence


class Gaussian(eqx.Module):
    """N(mean, L Lᵀ) over the last axis; entries whose row of L is zero are given, not learned."""

    mean: Float[Array, "*b n"]
    factor: Float[Array, "*b n n"]

    def draw(self, *, key: Key) -> Float[Array, "*b n"]:
        noise = standard_normal(self.mean.shape, self.mean.dtype, key=key)
        return self.mean + jnp.einsum("...ij,...j->...i", self.factor, noise)

    @property
    def sd(self) -> Float[Array, "*b n"]:
        return jnp.sqrt(jnp.sum(self.factor**2, axis=-1))

    def kl(self, mean: float, sd: float) -> Float[Array, ""]:
        """From N(mean, sd² I); what is given costs nothing."""
        diagonal = jnp.diagonal(self.factor, axis1=-2, axis2=-1)
        learned = diagonal > 0
        log_shrink = jnp.log(sd) - jnp.log(jnp.where(learned, diagonal, 1.0))
        distance = (self.sd**2 + (self.mean - mean) ** 2) / sd**2
        return jnp.sum(jnp.where(learned, log_shrink + 0.5 * (distance - 1.0), 0.0))


def gaussian(mean: Numbers, covariance: Numbers | None = None) -> Gaussian:
    """From arrays of any kind; without a covariance the numbers are given."""
    centre = jnp.asarray(mean, FAST)
    if covariance is None:
        return Gaussian(centre, jnp.zeros((*centre.shape, centre.shape[-1]), FAST))
    return Gaussian(centre, jnp.linalg.cholesky(jnp.asarray(covariance)).astype(FAST))
