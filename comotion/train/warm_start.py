"""Start q(U) of f_s and f_b jointly from a regression on the rates the data show.

The mean rate over an interval is the integral of f_s + Σ f_b along the path between two frames.
With the inducing values as unknowns this is a linear model: their posterior is known in closed
form, and its evidence chooses kernel parameters before any trajectory is integrated.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import EXACT, FAST, Key
from comotion.config import RunConfig
from comotion.coordinates import (
    AbstractAloneCoordinates,
    AbstractPairCoordinates,
    Actor,
)
from comotion.data.batches import Dataset
from comotion.dynamics import InteractingDynamics, Sum
from comotion.functions import Diagonal, Full, SparseGP
from comotion.gp.linalg import safe_cholesky, solve_lower
from comotion.model import Model
from comotion.systems import eventful_rows, observed_moments
from comotion.train.adam import AdamState, adam_init, adam_update, gradient_norm

SIMPSON = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
MOST_FRAMES = 10_000
FRAMES_FOR_EVIDENCE = 500
CHUNK = 100
EVIDENCE_STEPS = 50
EVIDENCE_RATE = 0.05
START_RESIDUAL = 0.3


class Path(eqx.Module):
    """All objects over one interval: where they start and end, and their mean rates."""

    actors: Actor
    after: Float[Array, "A D"]
    rates: Float[Array, "A R"]
    known: Bool[Array, " A"]
    neighbours: Bool[Array, "A A"]


class Laws(eqx.Module):
    """The two functions with the coordinates they are seen through, and the rates' residual."""

    alone: SparseGP
    pair: SparseGP
    alone_coordinates: AbstractAloneCoordinates
    pair_coordinates: AbstractPairCoordinates
    log_residual: Float[Array, ""]


class Sums(eqx.Module):
    """All the regression needs to know about the data."""

    gram: Float[Array, "n n"]
    products: Float[Array, " n"]
    squares: Float[Array, ""]
    count: Float[Array, ""]


def warm_start(model: Model, config: RunConfig, dataset: Dataset, *, key: Key) -> Model:
    """Only interacting systems of two Gaussian processes start warm; others come back as is."""
    dynamics = model.dynamics
    if not (isinstance(dynamics, InteractingDynamics) and isinstance(dynamics.accumulation, Sum)):
        return model
    alone, pair = dynamics.alone, dynamics.pair
    if not (isinstance(alone, SparseGP) and isinstance(pair, SparseGP)):
        return model
    laws = Laws(
        alone=alone,
        pair=pair,
        alone_coordinates=dynamics.alone_coordinates,
        pair_coordinates=dynamics.pair_coordinates,
        log_residual=jnp.asarray(math.log(START_RESIDUAL), FAST),
    )
    paths = _observed_paths(model, config, dataset, key=key)
    laws = choose_by_evidence(laws, jax.tree.map(lambda leaf: leaf[:FRAMES_FOR_EVIDENCE], paths))
    alone, pair = regress(laws, paths)
    return eqx.tree_at(lambda m: (m.dynamics.alone, m.dynamics.pair), model, (alone, pair))


def choose_by_evidence(laws: Laws, paths: Path) -> Laws:
    """Follows the gradient of the evidence in lengthscales, output scales and residual."""

    def tunable(laws: Laws) -> list[Array]:
        kernels = [laws.alone.kernel, laws.pair.kernel]
        scales = [laws.alone.log_output_scale, laws.pair.log_output_scale, laws.log_residual]
        return [*jax.tree.leaves(kernels), *scales]

    @jax.jit
    def climb(values: list[Array], state: AdamState) -> tuple[list[Array], AdamState]:
        def loss(values: list[Array]) -> Float[Array, ""]:
            trial = eqx.tree_at(tunable, laws, values)
            return -log_evidence(trial, paths) / paths.rates.size

        gradient = jax.grad(loss)(values)
        finite = jnp.isfinite(gradient_norm(gradient))
        updates, state = adam_update(gradient, state, EVIDENCE_RATE)
        moved = [jnp.where(finite, v + u, v) for v, u in zip(values, updates, strict=True)]
        return moved, state

    values = tunable(laws)
    state = adam_init(values)
    for _ in range(EVIDENCE_STEPS):
        values, state = climb(values, state)
    return eqx.tree_at(tunable, laws, values)


def log_evidence(laws: Laws, paths: Path) -> Float[Array, ""]:
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


@jax.jit
def regress(laws: Laws, paths: Path) -> tuple[SparseGP, SparseGP]:
    """Both functions with the posterior of the regression as their q(U)."""
    sums = _sums(laws, paths)
    residual = jnp.exp(2.0 * laws.log_residual.astype(EXACT))
    precision = _precision(sums, residual)
    factor = safe_cholesky(precision)
    mean = jax.scipy.linalg.cho_solve((factor, True), sums.products / residual)
    split = laws.alone.mean.size
    return (
        _with_posterior(laws.alone, mean[:split], precision[:split, :split]),
        _with_posterior(laws.pair, mean[split:], precision[split:, split:]),
    )


def _precision(sums: Sums, residual: Float[Array, ""]) -> Float[Array, "n n"]:
    return jnp.eye(sums.gram.shape[0], dtype=EXACT) + sums.gram / residual


def _with_posterior(
    function: SparseGP, mean: Float[Array, " n"], precision: Float[Array, "n n"]
) -> SparseGP:
    """The best q of the function's family has the inverse of the precision's own blocks."""
    M, Q = function.mean.shape
    blocks = jnp.stack([precision[q * M : (q + 1) * M, q * M : (q + 1) * M] for q in range(Q)])
    if isinstance(function.covariance, Full):
        lower = jax.vmap(lambda block: safe_cholesky(jnp.linalg.inv(block)))(blocks)
        covariance = Full.from_lower(lower.astype(FAST))
    else:
        variances = jax.vmap(jnp.diagonal)(blocks).T  # (M, Q)
        covariance = Diagonal((-0.5 * jnp.log(variances)).astype(FAST))
    return eqx.tree_at(
        lambda f: (f.mean, f.covariance), function, (mean.reshape(Q, M).T.astype(FAST), covariance)
    )


def _sums(laws: Laws, paths: Path) -> Sums:
    """Adds up chunk by chunk, so that the design of all paths never stands in memory."""
    frames = paths.known.shape[0]
    shape = (max(frames // CHUNK, 1), min(CHUNK, frames))
    chunks = jax.tree.map(lambda leaf: leaf.reshape(*shape, *leaf.shape[1:]), paths)
    whiten_alone, whiten_pair = _whitener(laws.alone), _whitener(laws.pair)
    size = jnp.sqrt(jnp.mean(paths.rates**2, axis=(0, 1)))  # (R,)

    @jax.checkpoint
    def add(sums: Sums, chunk: Path) -> tuple[Sums, None]:
        design = jax.vmap(lambda path: _design(laws, path, whiten_alone, whiten_pair))(chunk)
        weight = jnp.where(chunk.known[:, :, None], 1.0 / size[None, None, :], 0.0)
        rows = (design * weight[..., None]).reshape(-1, design.shape[-1])
        rates = (chunk.rates * weight).reshape(-1)
        part = Sums(
            gram=(rows.T @ rows).astype(EXACT),
            products=(rows.T @ rates).astype(EXACT),
            squares=jnp.sum(rates**2).astype(EXACT),
            count=(jnp.sum(chunk.known) * chunk.rates.shape[-1]).astype(EXACT),
        )
        return jax.tree.map(jnp.add, sums, part), None

    n = laws.alone.mean.size + laws.pair.mean.size
    zero = Sums(
        jnp.zeros((n, n), EXACT), jnp.zeros(n, EXACT), jnp.zeros((), EXACT), jnp.zeros((), EXACT)
    )
    return jax.lax.scan(add, zero, chunks)[0]


def _design(
    laws: Laws, path: Path, whiten_alone: Float[Array, "m m"], whiten_pair: Float[Array, "n n"]
) -> Float[Array, "A R n"]:
    """How each object's mean rate over the interval depends on all inducing values."""
    total = None
    for fraction, weight in SIMPSON:
        state = (1 - fraction) * path.actors.state + fraction * path.after
        actors = Actor(state, path.actors.properties, path.actors.controls)
        part = weight * _design_at(laws, actors, path, whiten_alone, whiten_pair)
        total = part if total is None else total + part
    assert total is not None
    return total


def _design_at(
    laws: Laws,
    actors: Actor,
    path: Path,
    whiten_alone: Float[Array, "m m"],
    whiten_pair: Float[Array, "n n"],
) -> Float[Array, "A R n"]:
    alone, pair = laws.alone_coordinates, laws.pair_coordinates
    own = jax.vmap(lambda actor: _rows(laws.alone, alone, whiten_alone, actor))(actors)
    heard = (path.neighbours & path.known[None, :]).astype(own.dtype)

    def messages(actor: Actor, heard: Float[Array, " A"]) -> Float[Array, "R n"]:
        rows = jax.vmap(lambda other: _rows(laws.pair, pair, whiten_pair, actor, other))(actors)
        return jnp.einsum("a,arn->rn", heard, rows)

    return jnp.concatenate([own, jax.vmap(messages)(actors, heard)], axis=-1)


def _rows(
    function: SparseGP,
    coordinates: AbstractAloneCoordinates | AbstractPairCoordinates,
    whiten: Float[Array, "M M"],
    *actors: Actor,
) -> Float[Array, "R n"]:
    """One function's rates as a linear map of its whitened inducing values, outputs first."""
    inputs = coordinates.inputs(*actors)
    flat = inputs.reshape(-1, inputs.shape[-1])
    basis = function.kernel(flat, function.inducing_inputs) @ whiten  # (k, M)
    shape = (*inputs.shape[:-1], function.out_size)
    meaning = jax.jacfwd(lambda outputs: coordinates.rates(outputs, *actors))(
        jnp.zeros(shape, inputs.dtype)
    ).reshape(-1, flat.shape[0], function.out_size)  # (R, k, Q)
    scaled = meaning * jnp.exp(function.log_output_scale)[None, None, :]
    return jnp.einsum("rkq,km->rqm", scaled, basis).reshape(meaning.shape[0], -1)


def _whitener(function: SparseGP) -> Float[Array, "M M"]:
    """L⁻ᵀ with L Lᵀ = K(Z, Z): k(x, Z) times this has unit prior covariance."""
    Z = function.inducing_inputs.astype(EXACT)
    factor = safe_cholesky(function.kernel(Z, Z))
    identity = jnp.eye(Z.shape[0], dtype=EXACT)
    return solve_lower(factor, identity).T.astype(FAST)


def _observed_paths(model: Model, config: RunConfig, dataset: Dataset, *, key: Key) -> Path:
    """A whole number of chunks of frames in random order, half of them eventful."""
    key_properties, key_rows = jax.random.split(key)
    layout = model.dynamics.layout
    moments = observed_moments(config.system, layout, dataset.windows, key=key_properties)
    frames, _ = eventful_rows(
        moments.rates, moments.known, config.system.events, MOST_FRAMES, key=key_rows
    )
    frames = np.unique(frames)
    order = np.asarray(jax.random.permutation(key_rows, len(frames)))
    if len(frames) > CHUNK:
        order = order[: len(frames) // CHUNK * CHUNK]
    rows = frames[order]
    return Path(
        actors=jax.tree.map(lambda leaf: leaf[rows], moments.actors),
        after=moments.after[rows],
        rates=jnp.asarray(moments.rates[rows], FAST),
        known=jnp.asarray(moments.known[rows]),
        neighbours=jnp.asarray(moments.neighbours[rows]),
    )
