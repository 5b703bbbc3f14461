"""One optimisation step."""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Float, Int

from comotion._types import Key
from comotion.backend.devices import mesh_for
from comotion.config import RunConfig, Stage
from comotion.data.windows import Dataset, Excerpt, sample_excerpts
from comotion.model import Model
from comotion.objective import Bound, evidence_bound
from comotion.train.adam import AdamState, adam_init, adam_update, gradient_norm

LAST_RATE = 0.02
SLOW = {"kernel", "inducing_inputs", "property_encoder"}


@dataclass(frozen=True)
class StepPlan:
    """What is fixed while a step is compiled: one plan, one compilation."""

    horizon: int
    opening: int
    windows: int
    draws: int
    clip: float
    kernel_rate: float
    mesh: Mesh | None


class TrainState(eqx.Module):
    """Everything that changes from one iteration to the next."""

    model: Model
    optimiser: AdamState
    iteration: Int[Array, ""]
    skipped: Int[Array, ""]


class StepInfo(eqx.Module):
    """What one step reports."""

    bound: Bound
    gradient_norm: Float[Array, ""]
    finite: Bool[Array, ""]


def step_plan(config: RunConfig, stage: Stage, train: Dataset) -> StepPlan:
    recipe, frames = config.recipe, train.windows.times.shape[1]
    return StepPlan(
        horizon=min(stage.horizon, frames),
        opening=min(config.system.property_frames, frames),
        windows=recipe.windows,
        draws=recipe.draws,
        clip=recipe.clip,
        kernel_rate=recipe.kernel_rate,
        mesh=mesh_for(recipe.windows),
    )


def first_state(model: Model) -> TrainState:
    trainable = eqx.filter(model, eqx.is_inexact_array)
    zero = jnp.zeros((), jnp.int32)
    return TrainState(model, adam_init(trainable), zero, zero)


@eqx.filter_jit
def train_step(
    state: TrainState,
    dataset: Dataset,
    key: Key,
    learning_rate: Float[Array, ""],
    plan: StepPlan,
) -> tuple[TrainState, StepInfo]:
    """Follows the gradient of the bound per observed value; a step that is not finite is skipped.

    The key of an iteration depends on its number only, so a resumed run takes the same steps.
    """
    key_batch, key_bound = jax.random.split(jax.random.fold_in(key, state.iteration))
    batch = sample_excerpts(dataset, plan.horizon, plan.opening, plan.windows, key=key_batch)

    def loss(model: Model) -> tuple[Float[Array, ""], Bound]:
        bound = _bound(model, batch, dataset, plan, key=key_bound)
        return -bound.elbo / jnp.maximum(bound.observations, 1.0), bound

    (_, bound), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
    norm = gradient_norm(gradient)
    finite = jnp.isfinite(norm)
    rates = _rates(gradient, learning_rate, plan.kernel_rate)
    updates, optimiser = adam_update(gradient, state.optimiser, rates, plan.clip)
    after = TrainState(
        eqx.apply_updates(state.model, updates),
        optimiser,
        state.iteration + 1,
        jnp.where(finite, 0, state.skipped + 1),
    )
    return after, StepInfo(bound, norm, finite)


@eqx.filter_jit
def held_out_likelihood(
    model: Model, dataset: Dataset, key: Key, plan: StepPlan
) -> Float[Array, ""]:
    """Of data the model is not trained on, per observed value, at the horizon of the plan.

    No divergence is in it: those of a bound say what training has cost, not how well it forecasts.
    """
    key_batch, key_bound = jax.random.split(key)
    batch = sample_excerpts(dataset, plan.horizon, plan.opening, plan.windows, key=key_batch)
    bound = _bound(model, batch, dataset, plan, key=key_bound)
    return bound.log_likelihood / jnp.maximum(bound.observations, 1.0)


def _bound(model: Model, batch: Excerpt, dataset: Dataset, plan: StepPlan, *, key: Key) -> Bound:
    sequences = len(dataset)
    return evidence_bound(model, batch, sequences, draws=plan.draws, key=key, mesh=plan.mesh)


def learning_rate(stage: Stage, done: int) -> float:
    """The rate after `done` iterations of the stage; a cosine goes down to a fiftieth."""
    if stage.decay == "none":
        return stage.learning_rate
    remaining = 0.5 * (1.0 + math.cos(math.pi * done / stage.iterations))
    return stage.learning_rate * (LAST_RATE + (1.0 - LAST_RATE) * remaining)


def _rates(gradient: Model, rate: Float[Array, ""], kernel_rate: float) -> Model:
    """Kernels, inducing inputs and the encoder of properties learn more slowly than the rest.

    All else is expressed through them; large steps would take away the meaning it has learned.
    """

    def of_leaf(path: tuple, _: Array) -> Float[Array, ""]:
        names = {getattr(entry, "name", "") for entry in path}
        return rate * kernel_rate if names & SLOW else rate

    return jax.tree_util.tree_map_with_path(of_leaf, gradient)
