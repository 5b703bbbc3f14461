"""Kernel parameters before any trajectory is integrated: by the evidence of a regression."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from comotion._types import EXACT
from comotion.backend.processor import RUNS_ONCE
from comotion.coordinates import (
    AbstractAloneCoordinates,
    AbstractPairCoordinates,
    Actor,
)
from comotion.coordinates.layout import Layout
from comotion.functions import SparseGP
from comotion.initialise.linear_rates import Laws, log_evidence
from comotion.initialise.rates import Paths

REACH = 1.5
"""Lengthscales, in ways of one step: below one a step would jump over what it should see."""
EVIDENCE_STEPS, EVIDENCE_RATE = 30, 0.1
"""Of Adam: so many steps of that size may change a lengthscale twentyfold."""


@partial(jax.jit, static_argnames=("step", "climbs"), compiler_options=RUNS_ONCE)
def choose_by_evidence(
    laws: Laws, paths: Paths, step: float, climbs: int = EVIDENCE_STEPS
) -> tuple[Laws, Float[Array, ""]]:
    """Follows the gradient of the evidence in lengthscales, output scales and residual.

    One program from end to end: taken step by step, most of the time would go into compiling.
    """

    optimiser = optax.adam(EVIDENCE_RATE)

    def loss(values: list[Array]) -> Float[Array, ""]:
        return -log_evidence(eqx.tree_at(_tunable, laws, values), paths) / paths.rates.size

    def climb(now: Climb, _: None) -> tuple[Climb, None]:
        height, gradient = jax.value_and_grad(loss)(now.values)
        with jax.numpy_dtype_promotion("standard"):  # optax raises floats to integers
            updates, state = optimiser.update(gradient, now.state)
        moved = eqx.tree_at(_tunable, laws, jax.tree.map(jnp.add, now.values, updates))
        values = _tunable(within_reach(moved, paths, step))
        better = height < now.lowest
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), now.values, now.best)
        return Climb(values, state, best, jnp.minimum(height, now.lowest)), None

    values = _tunable(within_reach(laws, paths, step))
    start = Climb(values, optimiser.init(values), values, jnp.asarray(jnp.inf, EXACT))
    end, _ = jax.lax.scan(climb, start, length=climbs)
    return eqx.tree_at(_tunable, laws, end.best), -end.lowest * paths.rates.size


class Climb(eqx.Module):
    """Where the search stands, and the best place so far."""

    values: list[Array]
    state: optax.OptState
    best: list[Array]
    lowest: Float[Array, ""]


def _tunable(laws: Laws) -> list:
    kernels = [laws.alone.kernel, laws.pair.kernel]
    scales = [laws.alone.log_output_scale, laws.pair.log_output_scale, laws.log_residual]
    return [*jax.tree.leaves(kernels), *scales]


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
            scaled = outputs * jnp.broadcast_to(scale.astype(outputs.dtype), outputs.shape)
            rates = coordinates.rates(scaled, actor, *others)
            moved = actor.state + _displacement(rates, coordinates.layout, order, step)
            return coordinates.inputs(eqx.tree_at(lambda a: a.state, actor, moved), *others)

        if zero.size == 0:  # no such function
            return jnp.zeros(inputs.shape[-1], inputs.dtype)
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
