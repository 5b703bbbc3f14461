"""Cholesky factors that do not fail for lack of jitter; the only home of jitter."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import EXACT

# Relative to the mean of the diagonal. Less than the first would let the weights of the inducing
# inputs grow until a draw evaluated in 32 bits loses its digits.
JITTERS = (1e-6, 1e-5, 1e-4, 1e-3)


class ConditioningError(ArithmeticError):
    """A kernel matrix could not be factorised with any jitter."""


def safe_cholesky(K: Float[Array, "M M"]) -> Float[Array, "M M"]:
    """Lower factor of K with the smallest jitter that works, or NaN if none does."""
    jitter = _smallest_jitter(jax.lax.stop_gradient(K))
    return jnp.linalg.cholesky(_jittered(K, jitter))


def solve_lower(L: Float[Array, "M M"], b: Float[Array, "M K"]) -> Float[Array, "M K"]:
    """L⁻¹ b."""
    return jax.scipy.linalg.solve_triangular(L, b, lower=True)


def solve_lower_transposed(L: Float[Array, "M M"], b: Float[Array, "M K"]) -> Float[Array, "M K"]:
    """L⁻ᵀ b."""
    return jax.scipy.linalg.solve_triangular(L, b, lower=True, trans="T")


def _smallest_jitter(K: Float[Array, "M M"]) -> Float[Array, ""]:
    ladder = jnp.asarray(JITTERS, EXACT).astype(K.dtype) * jnp.mean(jnp.diagonal(K))

    def fails(rung):
        return jnp.isnan(jnp.linalg.cholesky(_jittered(K, ladder[rung]))).any()

    last = len(JITTERS) - 1
    rung = jax.lax.while_loop(lambda r: (r < last) & fails(r), lambda r: r + 1, jnp.asarray(0))
    return ladder[rung]


def _jittered(K: Float[Array, "M M"], jitter: Float[Array, ""]) -> Float[Array, "M M"]:
    return K + jitter * jnp.eye(K.shape[0], dtype=K.dtype)
