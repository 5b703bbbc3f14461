"""Rates as a linear model of the inducing values of f_s and f_b together.

The mean rate over an interval is the integral of f_s + Σ f_b along the path between two frames.
With the inducing values as unknowns, their posterior and the evidence are known in closed form.
"""

import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from comotion._types import EXACT, FAST
from comotion.backend.processor import RUNS_ONCE
from comotion.coordinates import (
    AbstractAloneCoordinates,
    AbstractPairCoordinates,
    Actor,
)
from comotion.functions import Diagonal, Full, SparseGP
from comotion.gp.linalg import safe_cholesky, solve_lower
from comotion.initialise.rates import Paths

SIMPSON = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
"""Places along an interval and their weights: exact for cubics."""
CHUNK = 100
"""Frames whose design stands in memory together."""
TINY = 1e-12  # data in which nothing ever accelerates


class Laws(eqx.Module):
    """The two functions with the coordinates they are seen through, and the rates' residual."""

    alone: SparseGP
    pair: SparseGP
    alone_coordinates: AbstractAloneCoordinates
    pair_coordinates: AbstractPairCoordinates
    log_residual: Float[Array, ""]
    order: int = eqx.field(static=True)


class Sums(eqx.Module):
    """All the regression needs to know about the data."""

    gram: Float[Array, "n n"]
    products: Float[Array, " n"]
    squares: Float[Array, ""]
    count: Float[Array, ""]


def log_evidence(laws: Laws, paths: Paths) -> Float[Array, ""]:
    """log N(rates | 0, design designᵀ + residual² I), through the smaller of the two matrices."""
    sums = _sums(laws, paths)
    residual = jnp.exp(2.0 * laws.log_residual.astype(EXACT))
    factor = safe_cholesky(_precision(sums, residual))
    fitted = solve_lower(factor, sums.products[:, None] / residual)
    log_determinant = 2.0 * jnp.sum(jnp.log(jnp.diagonal(factor)))
    return -0.5 * (
        sums.count * jnp.log(2.0 * math.pi * residual)
        + log_determinant
        + sums.squares / residual
        - jnp.sum(fitted**2)
    )


@partial(jax.jit, static_argnames="marginal", compiler_options=RUNS_ONCE)
def regress(laws: Laws, paths: Paths, *, marginal: bool = False) -> tuple[SparseGP, SparseGP]:
    """Both functions with the posterior of the regression as their q(U).

    `marginal`: with the variance that each output has whatever the others are, which is what a
    band says. Otherwise with that which is left once the others are known, the closest that
    independent functions come to the posterior of all together.
    """
    sums = _sums(laws, paths)
    residual = jnp.exp(2.0 * laws.log_residual.astype(EXACT))
    precision = _precision(sums, residual)
    factor = safe_cholesky(precision)
    mean = jax.scipy.linalg.cho_solve((factor, True), sums.products / residual)
    return with_posterior(laws, mean, precision, marginal=marginal)


def with_posterior(
    laws: Laws, mean: Float[Array, " n"], precision: Float[Array, "n n"], *, marginal: bool
) -> tuple[SparseGP, SparseGP]:
    """Both functions, where this is known of all whitened inducing values together."""
    split, own = laws.alone.mean.size, not marginal
    matrix = precision if own else jnp.linalg.inv(precision)
    return (
        _with_posterior(laws.alone, mean[:split], matrix[:split, :split], inverse=own),
        _with_posterior(laws.pair, mean[split:], matrix[split:, split:], inverse=own),
    )


def _precision(sums: Sums, residual: Float[Array, ""]) -> Float[Array, "n n"]:
    return jnp.eye(sums.gram.shape[0], dtype=EXACT) + sums.gram / residual


def _with_posterior(
    function: SparseGP, mean: Float[Array, " n"], matrix: Float[Array, "n n"], *, inverse: bool
) -> SparseGP:
    """One block per output, of the covariance or of its `inverse`."""
    M, Q = function.mean.shape
    if Q == 0:  # no such function
        return function
    blocks = jnp.stack([matrix[q * M : (q + 1) * M, q * M : (q + 1) * M] for q in range(Q)])
    if isinstance(function.covariance, Full):
        spreads = jnp.linalg.inv(blocks) if inverse else blocks
        covariance = Full.from_lower(jax.vmap(safe_cholesky)(spreads).astype(FAST))
    else:
        log_variances = jnp.log(jax.vmap(jnp.diagonal)(blocks).T)  # (M, Q)
        covariance = Diagonal(((-0.5 if inverse else 0.5) * log_variances).astype(FAST))
    return eqx.tree_at(
        lambda f: (f.mean, f.covariance), function, (mean.reshape(Q, M).T.astype(FAST), covariance)
    )


def _sums(laws: Laws, paths: Paths) -> Sums:
    """Adds up chunk by chunk, so that the design of all paths never stands in memory."""
    frames = paths.known.shape[0]
    shape = (max(frames // CHUNK, 1), min(CHUNK, frames))
    chunks = jnp.arange(shape[0] * shape[1]).reshape(shape)
    whiten_alone, whiten_pair = whitener(laws.alone), whitener(laws.pair)
    size = jnp.sqrt(jnp.mean(paths.rates**2, axis=(0, 1)) + TINY)  # (R,)

    @jax.checkpoint
    def add(sums: Sums, rows: Int[Array, " f"]) -> tuple[Sums, None]:
        chunk = jax.tree.map(lambda leaf: leaf[rows], paths)
        design = _design(laws, chunk, whiten_alone, whiten_pair)  # (F, A, R, n)
        weight = jnp.where(chunk.known[:, :, None], 1.0 / size[None, None, :], 0.0)
        design = (design * weight[..., None]).reshape(-1, design.shape[-1])
        rates = (chunk.rates * weight).reshape(-1)
        part = Sums(
            gram=(design.T @ design).astype(EXACT),
            products=(rates @ design).astype(EXACT),
            squares=jnp.sum(rates**2).astype(EXACT),
            count=(jnp.sum(chunk.known) * chunk.rates.shape[-1]).astype(EXACT),
        )
        return jax.tree.map(jnp.add, sums, part), None

    n = laws.alone.mean.size + laws.pair.mean.size
    zero = Sums(
        jnp.zeros((n, n), EXACT), jnp.zeros(n, EXACT), jnp.zeros((), EXACT), jnp.zeros((), EXACT)
    )
    sums = jax.lax.scan(add, zero, chunks)[0]
    scales = jnp.concatenate([unknown_scales(laws.alone), unknown_scales(laws.pair)])
    return Sums(
        gram=scales[:, None] * sums.gram * scales[None, :],
        products=scales * sums.products,
        squares=sums.squares,
        count=sums.count,
    )


def unknown_scales(function: SparseGP) -> Float[Array, " n"]:
    """The output scale of each inducing value; applied last, where its gradient is cheap."""
    return jnp.exp(function.log_output_scale.astype(EXACT)).repeat(function.mean.shape[0])


def _design(
    laws: Laws, paths: Paths, whiten_alone: Float[Array, "s s"], whiten_pair: Float[Array, "b b"]
) -> Float[Array, "F A R n"]:
    """How each object's mean rate over its interval depends on all inducing values."""
    if paths.after is None:
        return design_at(laws, paths.actors, paths, whiten_alone, whiten_pair)
    before, after, dtype = paths.actors.state, paths.after, paths.rates.dtype
    fractions, weights = (jnp.asarray(column, dtype) for column in zip(*SIMPSON, strict=True))

    def add(design: Float[Array, "F A R n"], node: tuple[Array, Array]) -> tuple[Array, None]:
        fraction, weight = node
        state = (1 - fraction) * before + fraction * after
        actors = Actor(state, paths.actors.properties, paths.actors.controls)
        return design + weight * design_at(laws, actors, paths, whiten_alone, whiten_pair), None

    n = laws.alone.mean.size + laws.pair.mean.size
    return jax.lax.scan(add, jnp.zeros((*paths.rates.shape, n), dtype), (fractions, weights))[0]


def design_at(
    laws: Laws,
    actors: Actor,
    paths: Paths,
    whiten_alone: Float[Array, "s s"],
    whiten_pair: Float[Array, "b b"],
) -> Float[Array, "F A R n"]:
    F, A = paths.known.shape
    own = jax.tree.map(lambda leaf: leaf.reshape(F * A, leaf.shape[-1]), actors)
    alone = basis_rows(laws.alone, laws.alone_coordinates, whiten_alone, own)
    hearing = jax.tree.map(lambda leaf: leaf.repeat(A, axis=1), actors)
    heard = jax.tree.map(lambda leaf: jnp.tile(leaf, (1, A, 1)), actors)
    pairs = [
        jax.tree.map(lambda leaf: leaf.reshape(F * A * A, leaf.shape[-1]), a)
        for a in (hearing, heard)
    ]
    messages = basis_rows(laws.pair, laws.pair_coordinates, whiten_pair, *pairs)
    audible = (paths.neighbours & paths.known[:, None, :])[..., None, None]  # (F, A, A, 1, 1)
    messages = messages.reshape(F, A, A, *messages.shape[1:])
    received = jnp.sum(jnp.where(audible, messages, 0.0), axis=2)
    return jnp.concatenate([alone.reshape(F, A, *alone.shape[1:]), received], axis=-1)


def basis_rows(
    function: SparseGP,
    coordinates: AbstractAloneCoordinates | AbstractPairCoordinates,
    whiten: Float[Array, "M M"],
    *actors: Actor,
) -> Float[Array, "B R n"]:
    """Rates as a linear map of whitened inducing values of unit scale, outputs first."""
    inputs = jax.vmap(coordinates.inputs)(*actors)  # (B, *k, I)
    B, Q = inputs.shape[0], function.out_size
    flat = inputs.reshape(-1, inputs.shape[-1])
    Z = function.inducing_inputs.astype(flat.dtype)
    basis = function.kernel(flat, Z) @ whiten.astype(flat.dtype)
    basis = basis.reshape(B, -1, basis.shape[-1])  # (B, k, M)

    def meaning(*actors: Actor) -> Float[Array, "R k Q"]:
        zero = jnp.zeros((*inputs.shape[1:-1], Q), inputs.dtype)
        linear = jax.jacfwd(lambda outputs: coordinates.rates(outputs, *actors))(zero)
        return linear.reshape(linear.shape[0], basis.shape[1], Q)

    weights = jax.vmap(meaning)(*actors)  # (B, R, k, Q)
    # Sums over k written out: as a batched matrix product they would take far longer on a CPU.
    rows = jnp.sum(weights[..., None] * basis[:, None, :, None, :], axis=2)  # (B, R, Q, M)
    return rows.reshape(B, rows.shape[1], Q * basis.shape[-1])


def whitener(function: SparseGP) -> Float[Array, "M M"]:
    """L⁻ᵀ with L Lᵀ = K(Z, Z): k(x, Z) times this has unit prior covariance."""
    Z = function.inducing_inputs.astype(EXACT)
    factor = safe_cholesky(function.kernel(Z, Z))
    identity = jnp.eye(Z.shape[0], dtype=EXACT)
    return solve_lower(factor, identity).T
