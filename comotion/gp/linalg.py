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


@jax.custom_vjp
def safe_cholesky(K: Float[Array, "M M"]) -> Float[Array, "M M"]:
    """Lower factor of K with the smallest jitter that works, or NaN if none does."""
    ladder = jnp.asarray(JITTERS, EXACT).astype(K.dtype) * jnp.mean(jnp.diagonal(K))

    def factor(rung: Array) -> Array:
        return jnp.linalg.cholesky(K + ladder[rung] * jnp.eye(K.shape[0], dtype=K.dtype))

    def has_failed(attempt: tuple[Array, Array]) -> Array:
        rung, L = attempt
        return (rung < len(JITTERS) - 1) & jnp.isnan(L).any()

    def try_next(attempt: tuple[Array, Array]) -> tuple[Array, Array]:
        rung = attempt[0] + 1
        return rung, factor(rung)

    first = jnp.asarray(0)
    return jax.lax.while_loop(has_failed, try_next, (first, factor(first)))[1]


def _with_factor(K: Array) -> tuple[Array, Array]:
    L = safe_cholesky(K)
    return L, L


def _slope_of_matrix(L: Array, slope: Array) -> tuple[Array]:
    """By K that of L, from L alone, so that nothing is factorised twice; the jitter is fixed."""
    lower = jnp.tril(L.T @ jnp.tril(slope))
    halved = lower - 0.5 * jnp.diag(jnp.diagonal(lower))
    left = solve_lower_transposed(L, halved)  # L⁻ᵀ Φ
    both = solve_lower_transposed(L, left.T)  # its transpose, L⁻ᵀ Φᵀ L⁻¹
    return (0.5 * (both + both.T),)


safe_cholesky.defvjp(_with_factor, _slope_of_matrix)


def solve_lower(L: Float[Array, "M M"], b: Float[Array, "M K"]) -> Float[Array, "M K"]:
    """L⁻¹ b."""
    return jax.scipy.linalg.solve_triangular(L, b, lower=True)


def solve_lower_transposed(L: Float[Array, "M M"], b: Float[Array, "M K"]) -> Float[Array, "M K"]:
    """L⁻ᵀ b."""
    return jax.scipy.linalg.solve_triangular(L, b, lower=True, trans="T")
