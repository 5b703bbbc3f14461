"""One optimisation step."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

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
from comotion.coordinates.layout import Layout
from comotion.data.windows import (
    Dataset,
    Excerpt,
    Window,
    crowd,
    most_together,
    neighbourhood,
    sample_excerpts,
)
from comotion.model import Bound, Model, evidence_bound, forecast_score
from comotion.train.optimiser import first_optimiser_state, updated

LAST_RATE = 0.02
"""Of the first learning rate: the end of the cosine still moves a little."""
ENOUGH = 8
"""Objects of a window that are looked at where each acts on few others or none."""
AROUND = 16
"""So many move, where they hear their neighbours."""
FEW = 100
LIGHT = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}
"""How to compile steps by the score where they are few, or ask no law: in less than half of the
time. Those that ask a law run at half of the speed, the others as fast."""


@dataclass(frozen=True)
class StepPlan:
    """What is fixed while a step is compiled: one plan, one compilation."""

    objective: Literal["bound", "score"]
    seen: int
    """frames a forecast is made from, where forecasts are scored"""
    spatial: int
    """axes along which places are seen, or none"""
    frames: int
    opening: int
    slots: int
    windows: int
    draws: int
    clip: float
    kernel_rate: float
    mesh: Mesh | None
    light: bool


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


def step_plan(config: RunConfig, stage: Stage, train: Dataset, layout: Layout) -> StepPlan:
    recipe, there = config.recipe, train.windows.times.shape[1]
    seen = config.system.encoder_frames if stage.objective == "score" else 0
    frames = min(seen + stage.horizon, there)
    lawless = (config.system.alone, config.system.pair) == ("none", "none")
    return StepPlan(
        objective=stage.objective,
        seen=seen,
        spatial=0 if layout.hidden else layout.spatial,
        frames=frames,
        opening=1 if seen else min(config.system.property_frames, there),
        slots=_slots(config.system, stage, train, frames),
        windows=recipe.windows,
        draws=recipe.draws,
        clip=recipe.clip,
        kernel_rate=recipe.kernel_rate,
        mesh=mesh_for(recipe.windows),
        light=stage.objective == "score" and (lawless or stage.iterations <= FEW),
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


class Batch(eqx.Module):
    """Windows of a step, with what a score is measured in and a bound is scaled up to."""

    excerpt: Excerpt
    straight_line: Float[Array, "H O"] | None
    sequences: Float[Array, ""]


@eqx.filter_jit
def draw_batch(
    dataset: Dataset, key: Key, iteration: Int[Array, ""] | int, plan: StepPlan
) -> tuple[Batch, Key]:
    """The windows of an iteration, and the key for what else is left to chance in it.

    They depend on the iteration's number only, so a resumed run takes the same steps. Drawn by a
    program of their own, so that one program takes steps on any data with so many slots.
    """
    key_batch, key_objective = jax.random.split(jax.random.fold_in(key, iteration))
    excerpt = sample_excerpts(dataset, plan.frames, plan.opening, plan.windows, key=key_batch)
    if plan.objective == "score":
        key_crowd, key_objective = jax.random.split(key_objective)
        keys = jax.random.split(key_crowd, plan.windows)
        few = jax.vmap(lambda window, key: _few(window, plan, key=key))(excerpt.window, keys)
        excerpt = Excerpt(few, few)
    return Batch(excerpt, dataset.straight_line, jnp.asarray(len(dataset), FAST)), key_objective


def train_step(
    state: TrainState, batch: Batch, key: Key, learning_rate: Float[Array, ""], plan: StepPlan
) -> tuple[TrainState, StepInfo]:
    """Follows the gradient of the objective; a step that is not finite is skipped."""
    return step_program(plan)(state, batch, key, learning_rate, plan)


def step_program(plan: StepPlan) -> Callable[..., Any]:
    return _light_step if plan.light else _full_step


def _step(
    state: TrainState, batch: Batch, key: Key, learning_rate: Float[Array, ""], plan: StepPlan
) -> tuple[TrainState, StepInfo]:
    def loss(model: Model) -> tuple[Float[Array, ""], dict[str, Array]]:
        figures = _figures(model, batch, plan, key=key)
        return figures["score"] if plan.objective == "score" else -figures["elbo"], figures

    with summed_gradients():
        (_, figures), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(state.model)
    rates = {"clip": plan.clip, "kernel_rate": plan.kernel_rate}
    model, optimiser = updated(state.model, gradient, state.optimiser, learning_rate, **rates)
    after = TrainState(model, state.best, optimiser, state.iteration + 1)
    return after, StepInfo(figures, optax.tree.norm(gradient))


_full_step = eqx.filter_jit(_step)
_light_step = eqx.filter_jit(
    _step,
    compiler_options=LIGHT,  # pyright: ignore[reportCallIssue]
)


def held_out_figure(model: Model, dataset: Dataset, key: Key, plan: StepPlan) -> Float[Array, ""]:
    """On data the model is not trained on: their likelihood per value, or the score of forecasts.

    No divergence is in it: those of a bound say what training has cost, not how well it forecasts.
    """
    return _held_out_figure(model, *draw_batch(dataset, key, 0, plan), plan)


@eqx.filter_jit
def _held_out_figure(model: Model, batch: Batch, key: Key, plan: StepPlan) -> Float[Array, ""]:
    return _figures(model, batch, plan, key=key)[told_of_held_out(plan)]


def told_of_held_out(plan: StepPlan) -> str:
    return "score" if plan.objective == "score" else "log_likelihood"


def _figures(model: Model, batch: Batch, plan: StepPlan, *, key: Key) -> dict[str, Array]:
    if plan.objective == "score":
        return {"score": _score(model, batch, plan, key=key)}
    options = {"draws": plan.draws, "key": key, "mesh": plan.mesh}
    return _terms(evidence_bound(model, batch.excerpt, batch.sequences, **options))


def _score(model: Model, batch: Batch, plan: StepPlan, *, key: Key) -> Float[Array, ""]:
    """In units of what a straight line from the last step is off by at each lead."""
    assert batch.straight_line is not None
    scale = batch.straight_line[: plan.frames - plan.seen]
    windows, options = batch.excerpt.window, {"draws": plan.draws, "mesh": plan.mesh}
    return forecast_score(model, windows, scale, key=key, **options).mean


def _few(window: Window, plan: StepPlan, *, key: Key) -> Window:
    """Those who are there; of a crowd, where they hear each other, some with their neighbours."""
    if plan.slots < AROUND or plan.slots == window.exists.shape[0] or not plan.spatial:
        return crowd(window, plan.slots, plan.seen - 1, key=key)
    return neighbourhood(window, plan.slots, ENOUGH, plan.seen, plan.spatial, key=key)


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
