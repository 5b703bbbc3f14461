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
from jaxtyping import Array, Bool, Float, Int

from comotion._types import EXACT, FAST, Key
from comotion.config import RunConfig, SystemConfig
from comotion.coordinates import (
    AbstractAloneCoordinates,
    AbstractPairCoordinates,
    Actor,
)
from comotion.data.batches import Window
from comotion.dynamics import InteractingDynamics, Sum
from comotion.functions import Diagonal, Full, SparseGP
from comotion.gp.linalg import safe_cholesky, solve_lower
from comotion.layout import Layout
from comotion.model import Model
from comotion.systems import eventful_rows, observed_moments
from comotion.train.adam import AdamState, adam_init, adam_update, gradient_norm

REACH = 1.5
SIMPSON = ((0.0, 1 / 6), (0.5, 4 / 6), (1.0, 1 / 6))
MOST_FRAMES = 10_000
FRAMES_FOR_EVIDENCE = 300
CHUNK = 100
EVIDENCE_STEPS = 30
EVIDENCE_RATE = 0.1
START_RESIDUAL = 0.3
TINY = 1e-12  # data in which nothing ever accelerates


class Paths(eqx.Module):
    """All objects over many intervals: where they start and end, and their mean rates."""

    actors: Actor
    after: Float[Array, "F A D"]
    rates: Float[Array, "F A R"]
    known: Bool[Array, "F A"]
    neighbours: Bool[Array, "F A A"]


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


def warm_start(model: Model, config: RunConfig, windows: Window, *, key: Key) -> Model:
    """Systems without a closed form come back as they are."""
    laws = laws_of(model)
    if laws is None or not solvable(config.system):
        return model
    paths = _observed_paths(model, config, windows, key=key)
    some = jax.tree.map(lambda leaf: leaf[:FRAMES_FOR_EVIDENCE], paths)
    laws = choose_by_evidence(laws, some, _solver_step(config.system, windows))
    alone, pair = regress(laws, paths)
    return eqx.tree_at(lambda m: (m.dynamics.alone, m.dynamics.pair), model, (alone, pair))


def solvable(system: SystemConfig) -> bool:
    """Whether rates are linear in inducing values: two Gaussian processes, all properties known."""
    two = system.function == "gp" and system.who == "interacting" and system.accumulation == "sum"
    return two and system.properties != "inferred"


def leaves_nothing(system: SystemConfig) -> bool:
    """Whether functions and initial states both have a closed form."""
    return solvable(system) and system.encoder == "smoother"


def laws_of(model: Model) -> Laws | None:
    """None if the rates are not linear in the inducing values of two sparse GPs."""
    dynamics = model.dynamics
    if not (isinstance(dynamics, InteractingDynamics) and isinstance(dynamics.accumulation, Sum)):
        return None
    if not (isinstance(dynamics.alone, SparseGP) and isinstance(dynamics.pair, SparseGP)):
        return None
    return Laws(
        alone=dynamics.alone,
        pair=dynamics.pair,
        alone_coordinates=dynamics.alone_coordinates,
        pair_coordinates=dynamics.pair_coordinates,
        log_residual=jnp.asarray(math.log(START_RESIDUAL), FAST),
        order=dynamics.order,
    )


def choose_by_evidence(laws: Laws, paths: Paths, step: float) -> Laws:
    """Follows the gradient of the evidence in lengthscales, output scales and residual."""

    def tunable(laws):
        kernels = [laws.alone.kernel, laws.pair.kernel]
        scales = [laws.alone.log_output_scale, laws.pair.log_output_scale, laws.log_residual]
        return [*jax.tree.leaves(kernels), *scales]

    @jax.jit
    def climb(
        values: list[Array], state: AdamState
    ) -> tuple[list[Array], AdamState, Float[Array, ""]]:
        def loss(values: list[Array]) -> Float[Array, ""]:
            trial = eqx.tree_at(tunable, laws, values)
            return -log_evidence(trial, paths) / paths.rates.size

        height, gradient = jax.value_and_grad(loss)(values)
        finite = jnp.isfinite(gradient_norm(gradient))
        updates, state = adam_update(gradient, state, [EVIDENCE_RATE] * len(values))
        moved = [jnp.where(finite, v + u, v) for v, u in zip(values, updates, strict=True)]
        moved = tunable(within_reach(eqx.tree_at(tunable, laws, moved), paths, step))
        return moved, state, height

    values = best = tunable(within_reach(laws, paths, step))
    state, lowest = adam_init(values), math.inf
    for _ in range(EVIDENCE_STEPS):
        moved, state, height = climb(values, state)
        if float(height) < lowest:
            best, lowest = values, float(height)
        values = moved
    return eqx.tree_at(tunable, laws, best)


def within_reach(laws: Laws, paths: Paths, step: float) -> Laws:
    """No lengthscale is shorter than the way a step or two of the solver take the inputs.

    One-frame rates look best with functions so steep that, followed through time, every step
    overshoots: forecasts and their gradients then explode.
    """
    F, A = paths.known.shape
    own = jax.tree.map(lambda leaf: leaf.reshape(F * A, leaf.shape[-1]), paths.actors)
    next_to = (jnp.arange(F * A) // A) * A + (jnp.arange(F * A) + 1) % A
    others = jax.tree.map(lambda leaf: leaf[next_to], own)
    alone = _reach(laws.alone, laws.alone_coordinates, laws.order, step, own)
    pair = _reach(laws.pair, laws.pair_coordinates, laws.order, step, own, others)
    known = paths.known.reshape(-1)
    both = known & known[next_to] & (A > 1)
    return eqx.tree_at(
        lambda both: (both.alone.kernel, both.pair.kernel),
        laws,
        (
            laws.alone.kernel.at_least(REACH * _average(alone, known)),
            laws.pair.kernel.at_least(REACH * _average(pair, both)),
        ),
    )


def _reach(
    function: SparseGP,
    coordinates: AbstractAloneCoordinates | AbstractPairCoordinates,
    order: int,
    step: float,
    actors: Actor,
    *others: Actor,
) -> Float[Array, "B I"]:
    """How far outputs of the size of the output scale take each input in one step."""
    scale = jnp.exp(function.log_output_scale)

    def reach(actor: Actor, *others: Actor) -> Float[Array, " I"]:
        inputs = coordinates.inputs(actor, *others)
        zero = jnp.zeros((*inputs.shape[:-1], function.out_size), inputs.dtype)

        def after(outputs: Float[Array, "*k Q"]) -> Float[Array, "*k I"]:
            scaled = outputs * jnp.broadcast_to(scale, outputs.shape)
            rates = coordinates.rates(scaled, actor, *others)
            moved = actor.state + _displacement(rates, coordinates.layout, order, step)
            return coordinates.inputs(eqx.tree_at(lambda a: a.state, actor, moved), *others)

        change = jnp.abs(jax.jacfwd(after)(zero)).reshape(-1, inputs.shape[-1], zero.size)
        return jnp.max(jnp.sum(change, axis=-1), axis=0)

    return jax.vmap(reach)(actors, *others)


def _displacement(
    rates: Float[Array, " R"], layout: Layout, order: int, step: float
) -> Float[Array, " D"]:
    if order == 1:
        return step * rates
    return jnp.concatenate([0.5 * step**2 * rates[: layout.spatial], step * rates])


def _average(rows: Float[Array, "B I"], where: Bool[Array, " B"]) -> Float[Array, " I"]:
    count = jnp.maximum(jnp.sum(where), 1).astype(rows.dtype)
    return jnp.sum(jnp.where(where[:, None], rows, 0.0), axis=0) / count


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


@jax.jit
def regress(laws: Laws, paths: Paths) -> tuple[SparseGP, SparseGP]:
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
    scales = jnp.concatenate([_unknown_scales(laws.alone), _unknown_scales(laws.pair)])
    return Sums(
        gram=scales[:, None] * sums.gram * scales[None, :],
        products=scales * sums.products,
        squares=sums.squares,
        count=sums.count,
    )


def _unknown_scales(function: SparseGP) -> Float[Array, " n"]:
    """The output scale of each inducing value; applied last, where its gradient is cheap."""
    return jnp.exp(function.log_output_scale.astype(EXACT)).repeat(function.mean.shape[0])


def _design(
    laws: Laws, paths: Paths, whiten_alone: Float[Array, "s s"], whiten_pair: Float[Array, "b b"]
) -> Float[Array, "F A R n"]:
    """How each object's mean rate over its interval depends on all inducing values."""
    fractions, weights = (jnp.asarray(column, FAST) for column in zip(*SIMPSON, strict=True))

    def add(design: Float[Array, "F A R n"], node: tuple[Array, Array]) -> tuple[Array, None]:
        fraction, weight = node
        state = (1 - fraction) * paths.actors.state + fraction * paths.after
        actors = Actor(state, paths.actors.properties, paths.actors.controls)
        return design + weight * _design_at(laws, actors, paths, whiten_alone, whiten_pair), None

    n = laws.alone.mean.size + laws.pair.mean.size
    return jax.lax.scan(add, jnp.zeros((*paths.rates.shape, n), FAST), (fractions, weights))[0]


def _design_at(
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
    basis = function.kernel(flat, function.inducing_inputs) @ whiten
    basis = basis.reshape(B, -1, basis.shape[-1])  # (B, k, M)

    def meaning(*actors: Actor) -> Float[Array, "R k Q"]:
        zero = jnp.zeros((*inputs.shape[1:-1], Q), inputs.dtype)
        linear = jax.jacfwd(lambda outputs: coordinates.rates(outputs, *actors))(zero)
        return linear.reshape(linear.shape[0], -1, Q)

    weights = jax.lax.stop_gradient(jax.vmap(meaning)(*actors))  # (B, R, k, Q)
    # Sums over k written out: as a batched matrix product they would take far longer on a CPU.
    rows = jnp.sum(weights[..., None] * basis[:, None, :, None, :], axis=2)  # (B, R, Q, M)
    return rows.reshape(B, rows.shape[1], -1)


def whitener(function: SparseGP) -> Float[Array, "M M"]:
    """L⁻ᵀ with L Lᵀ = K(Z, Z): k(x, Z) times this has unit prior covariance."""
    Z = function.inducing_inputs.astype(EXACT)
    factor = safe_cholesky(function.kernel(Z, Z))
    identity = jnp.eye(Z.shape[0], dtype=EXACT)
    return solve_lower(factor, identity).T.astype(FAST)


def _solver_step(config: SystemConfig, windows: Window) -> float:
    if config.time == "discrete":
        return 1.0
    steps = np.diff(np.asarray(windows.times), axis=1)
    return float(np.median(steps[steps > 0])) / config.substeps


def _observed_paths(model: Model, config: RunConfig, windows: Window, *, key: Key) -> Paths:
    """A whole number of chunks of frames in random order, half of them eventful."""
    key_properties, key_rows = jax.random.split(key)
    layout = model.dynamics.layout
    moments = observed_moments(config.system, layout, windows, key=key_properties)
    frames, _ = eventful_rows(
        moments.rates, moments.known, config.system.events, MOST_FRAMES, key=key_rows
    )
    frames = np.unique(frames)
    order = np.asarray(jax.random.permutation(key_rows, len(frames)))
    if len(frames) > CHUNK:
        order = order[: len(frames) // CHUNK * CHUNK]
    rows = frames[order]
    return Paths(
        actors=jax.tree.map(lambda leaf: leaf[rows], moments.actors),
        after=moments.after[rows],
        rates=jnp.asarray(moments.rates[rows], FAST),
        known=jnp.asarray(moments.known[rows]),
        neighbours=jnp.asarray(moments.neighbours[rows]),
    )
