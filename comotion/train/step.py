"""One optimisation step."""

import math
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int

from comotion._types import FAST, Key
from comotion.backend.devices import mesh_for
from comotion.backend.row_batching import summed_gradients
from comotion.config import RunConfig, Stage, SystemConfig
from comotion.data.windows import (
    Dataset,
    Excerpt,
    Window,
    crowd,
    most_together,
    neighbourhood,
    sample_excerpts,
)
from comotion.encode import OriginFilter
from comotion.model import Bound, Model, evidence_bound, forecast_score
from comotion.train.optimiser import first_optimiser_state, updated

LAST_RATE = 0.02
"""Of the first learning rate: the end of the cosine still moves a little."""
ENOUGH = 8
"""Objects of a window that are looked at where each acts on few others or none."""
AROUND = 16
"""So many move, where they hear their neighbours."""


@dataclass(frozen=True)
class StepPlan:
    """What is fixed while a step is compiled: one plan, one compilation."""

    objective: Literal["bound", "score"]
    frames: int
    opening: int
    slots: int
    windows: int
    draws: int
    clip: float
    kernel_rate: float
    mesh: Mesh | None


class Best(eqx.Module):
    """The model that forecast held-out frames best so far, and its score; endless before any."""

    model: Model
    score: Float[Array, ""]


class TrainState(eqx.Module):
    """Everything that changes from one iteration to the next."""

    model: Model
    best: Best
    optimiser: optax.OptState
    iteration: Int[Array, ""]


class StepInfo(eqx.Module):
    """What one step reports; the figures are per observed value."""

    figures: dict[str, Float[Array, ""]]
    gradient_norm: Float[Array, ""]


def step_plan(config: RunConfig, stage: Stage, train: Dataset) -> StepPlan:
    recipe, there = config.recipe, train.windows.times.shape[1]
    seen = config.system.encoder_frames if stage.objective == "score" else 0
    frames = min(seen + stage.horizon, there)
    return StepPlan(
        objective=stage.objective,
        frames=frames,
        opening=min(config.system.property_frames, there),
        slots=_slots(config.system, stage, train, frames),
        windows=recipe.windows,
        draws=recipe.draws,
        clip=recipe.clip,
        kernel_rate=recipe.kernel_rate,
        mesh=mesh_for(recipe.windows),
    )


def _slots(system: SystemConfig, stage: Stage, train: Dataset, frames: int) -> int:
    """Recordings have many slots that are empty most of the time."""
    slots = train.windows.values.shape[2]
    if stage.objective != "score":
        return slots
    there = min(slots, most_together(train, frames))
    if system.contacts != "off" or (system.pair != "none" and not system.nearest):
        return there
    return min(there, ENOUGH if system.pair == "none" else AROUND)


def first_state(model: Model) -> TrainState:
    best = Best(model, jnp.full((), jnp.inf, FAST))
    return TrainState(model, best, first_optimiser_state(model), jnp.zeros((), jnp.int32))


@eqx.filter_jit
def train_step(
    state: TrainState,
    dataset: Dataset,
    key: Key,
    learning_rate: Float[Array, ""],
    plan: StepPlan,
) -> tuple[TrainState, StepInfo]:
    """Follows the gradient of the objective; a step that is not finite is skipped.

    The key of an iteration depends on its number only, so a resumed run takes the same steps.
    """
    key_batch, key_objective = jax.random.split(jax.random.fold_in(key, state.iteration))

    def loss(model: Model) -> tuple[Float[Array, ""], dict[str, Array]]:
        figures = _figures(model, dataset, plan, key_batch, key_objective)
        return figures["score"] if plan.objective == "score" else -figures["elbo"], figures

    with summed_gradients():
        (_, figures), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
    rates = {"clip": plan.clip, "kernel_rate": plan.kernel_rate}
    model, optimiser = updated(state.model, gradient, state.optimiser, learning_rate, **rates)
    after = TrainState(model, state.best, optimiser, state.iteration + 1)
    return after, StepInfo(figures, optax.tree.norm(gradient))


@eqx.filter_jit
def held_out_figure(model: Model, dataset: Dataset, key: Key, plan: StepPlan) -> Float[Array, ""]:
    """On data the model is not trained on: their likelihood per value, or the score of forecasts.

    No divergence is in it: those of a bound say what training has cost, not how well it forecasts.
    """
    figures = _figures(model, dataset, plan, *jax.random.split(key))
    return figures["score" if plan.objective == "score" else "log_likelihood"]


def _figures(
    model: Model, dataset: Dataset, plan: StepPlan, key_batch: Key, key_objective: Key
) -> dict[str, Array]:
    batch = sample_excerpts(dataset, plan.frames, plan.opening, plan.windows, key=key_batch)
    if plan.objective == "score":
        return {"score": _score(model, batch, dataset, plan, key=key_objective)}
    sequences = len(dataset)
    return _terms(
        evidence_bound(model, batch, sequences, draws=plan.draws, key=key_objective, mesh=plan.mesh)
    )


def _score(
    model: Model, batch: Excerpt, dataset: Dataset, plan: StepPlan, *, key: Key
) -> Float[Array, ""]:
    """In units of what a straight line from the last step is off by at each lead."""
    assert isinstance(model.encoder, OriginFilter)
    assert dataset.straight_line is not None
    seen = model.encoder.frames
    scale = dataset.straight_line[: plan.frames - seen]
    key_crowd, key_score = jax.random.split(key)
    keys = jax.random.split(key_crowd, plan.windows)
    few = jax.vmap(lambda window, key: _few(model, window, plan.slots, seen, key=key))
    windows = few(batch.window, keys)
    return forecast_score(
        model, windows, scale, draws=plan.draws, key=key_score, mesh=plan.mesh
    ).mean


def _few(model: Model, window: Window, slots: int, seen: int, *, key: Key) -> Window:
    """Those who are there; of a crowd, where they hear each other, some with their neighbours."""
    if slots < AROUND or slots == window.exists.shape[0] or model.dynamics.layout.hidden:
        return crowd(window, slots, seen - 1, key=key)
    spatial = model.dynamics.layout.spatial
    return neighbourhood(window, slots, ENOUGH, seen, spatial, key=key)


def _terms(bound: Bound) -> dict[str, Array]:
    """Per observed value."""
    per_value = jnp.maximum(bound.observations, 1.0)
    divergences = {f"kl_{name}": term for name, term in bound.kl_functions.items()}
    terms = {
        "elbo": bound.elbo,
        "log_likelihood": bound.log_likelihood,
        "kl_initial": bound.kl_initial,
        "kl_properties": bound.kl_properties,
        "kl_functions": jnp.sum(jnp.stack(list(divergences.values()))),
        **divergences,
    }
    return {name: term / per_value for name, term in terms.items()}


def learning_rate(stage: Stage, done: int) -> float:
    """The rate after `done` iterations of the stage; a cosine goes down to a fiftieth."""
    if stage.decay == "none":
        return stage.learning_rate
    remaining = 0.5 * (1.0 + math.cos(math.pi * done / stage.iterations))
    return stage.learning_rate * (LAST_RATE + (1.0 - LAST_RATE) * remaining)
