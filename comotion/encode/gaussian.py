"""Gaussian beliefs about one vector per object."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.backend.normal import standard_normal


class Belief(eqx.Module):
    """N(mean, factor factorᵀ) for each object, with a lower-triangular factor."""

    mean: Float[Array, "A D"]
    factor: Float[Array, "A D D"]

    def draw(self, *, key: Key) -> Float[Array, "A D"]:
        return self.at(standard_normal(self.mean.shape, self.mean.dtype, key=key))

    def at(self, noise: Float[Array, "A D"]) -> Float[Array, "A D"]:
        """The draw that standard normal noise stands for."""
        return self.mean + jnp.einsum("aij,aj->ai", self.factor, noise)

    def kl(self, exists: Bool[Array, " A"]) -> Float[Array, ""]:
        """KL from the standard normal prior, summed over the objects that exist."""
        diagonal = jnp.diagonal(self.factor, axis1=1, axis2=2)
        log_determinant = 2.0 * jnp.sum(jnp.log(jnp.abs(diagonal)), axis=1)
        squares = jnp.sum(self.mean**2, axis=1) + jnp.sum(self.factor**2, axis=(1, 2))
        divergence = 0.5 * (squares - self.mean.shape[1] - log_determinant)
        return jnp.sum(jnp.where(exists, divergence, 0.0))


def independent_belief(mean: Float[Array, "A D"], deviation: Float[Array, "A D"]) -> Belief:
    return Belief(mean, jax.vmap(jnp.diag)(deviation))
