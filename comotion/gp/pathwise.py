"""Decoupled sampling, f ~ p(f | U) in Eq. (7) of the paper, by Matheron's rule.

A posterior draw is a prior draw, of random Fourier features, plus a correction at the inducing
inputs, whose mean is that of Eq. (2).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import EXACT, Key
from comotion.backend.fast_math import sine
from comotion.backend.normal import standard_normal
from comotion.backend.row_batching import rowwise
from comotion.gp.features import FourierBasis, fourier_basis
from comotion.gp.kernels import AbstractAnchoredKernel, AbstractKernel
from comotion.gp.linalg import safe_cholesky, solve_lower, solve_lower_transposed


class PathwiseDraw(eqx.Module):
    """f(x) = φ(x)ᵀw + k(x, Z)ν, with everything that does not depend on x already computed.

    Weights have their outputs first: the gradient of a tall matrix times a narrow one is ten
    times slower on a CPU if the narrow one stands upright.
    """

    prior_basis: FourierBasis
    prior_weights: Float[Array, "Q S"]
    kernel_at_inducing: AbstractAnchoredKernel
    inducing_weights: Float[Array, "Q M"]

    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        return self._by_rows(_evaluate, x)

    def odd(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """(f(x) - f(-x)) / 2 with half of the waves: cosines of both sides differ by one sine."""
        return self._by_rows(_evaluate_odd, x)

    def _by_rows(
        self, evaluate: Callable[..., Array], x: Float[Array, "*batch I"]
    ) -> Float[Array, "*batch Q"]:
        if x.dtype != self.inducing_weights.dtype:
            raise TypeError(
                f"A function drawn in {self.inducing_weights.dtype} was called with inputs in "
                f"{x.dtype}: cast the inputs, or the function before drawing."
            )
        rows = x.reshape(-1, x.shape[-1])  # N I
        return evaluate(self, rows).reshape(*x.shape[:-1], self.inducing_weights.shape[0])


@rowwise
def _evaluate(draw: PathwiseDraw, x: Float[Array, "N I"]) -> Float[Array, "N Q"]:
    prior = jnp.einsum("ns,qs->nq", draw.prior_basis(x), draw.prior_weights)
    update = jnp.einsum("nm,qm->nq", draw.kernel_at_inducing(x), draw.inducing_weights)
    return prior + update


@rowwise
def _evaluate_odd(draw: PathwiseDraw, x: Float[Array, "N I"]) -> Float[Array, "N Q"]:
    weights = -jnp.sin(draw.prior_basis.phases)[None] * draw.prior_weights
    prior = jnp.einsum("ns,qs->nq", sine(x @ draw.prior_basis.frequencies), weights)
    difference = draw.kernel_at_inducing(x) - draw.kernel_at_inducing(-x)
    return prior + jnp.einsum("nm,qm->nq", difference, 0.5 * draw.inducing_weights)


def draw_pathwise(
    kernel: AbstractKernel,
    Z: Float[Array, "M I"],
    v: Float[Array, "M Q"],
    output_scale: Float[Array, " Q"],
    *,
    features: int,
    key: Key,
) -> PathwiseDraw:
    """Draw f given the whitened inducing values v, where f_d(Z) = σ_d L v_d and L Lᵀ = K(Z, Z).

    All outputs share one Fourier basis and have weights of their own. The result has the dtype
    of v; it is computed in 64 bits.
    """
    key_spectrum, key_phases, key_weights = jax.random.split(key, 3)
    exact_Z, exact_v = Z.astype(EXACT), v.astype(EXACT)
    sigma = output_scale.astype(EXACT)[None]
    spectrum = kernel.spectrum(key=key_spectrum, features=features)
    basis, amplitudes = fourier_basis(spectrum, key=key_phases)
    w = standard_normal((features, v.shape[1]), EXACT, key=key_weights) * amplitudes[:, None]
    k_Z = kernel.anchor(exact_Z)
    L = safe_cholesky(k_Z(exact_Z))
    nu = solve_lower_transposed(L, exact_v - solve_lower(L, basis(exact_Z) @ w))
    draw = PathwiseDraw(basis, (w * sigma).T, k_Z, (nu * sigma).T)
    return jax.tree.map(lambda leaf: leaf.astype(v.dtype), draw)
