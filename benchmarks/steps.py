"""One training step to be timed."""

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp

from comotion.backend.devices import everywhere
from comotion.config import RunConfig
from comotion.data import Trajectories
from comotion.model import Model
from comotion.train.fit import prepare
from comotion.train.step import draw_batch, first_state, step_plan, train_step


def timed_step(data: Trajectories, config: RunConfig) -> tuple[Model, Callable[[], float]]:
    """The model as it starts, and a call that takes a step of the first round: its seconds."""
    fitted, dataset = prepare(data, config, key=jax.random.key(0))
    layout = fitted.model.dynamics.layout
    plan = step_plan(config, config.recipe.stages[0], dataset, layout)
    state, dataset = everywhere((first_state(fitted.model), dataset), plan.mesh)

    def step() -> float:
        start = time.perf_counter()
        batch, key = draw_batch(dataset, jax.random.key(1), 0, plan)
        _, info = train_step(state, batch, key, jnp.float32(1e-3), plan)
        jax.block_until_ready(info.gradient_norm)
        return time.perf_counter() - start

    return fitted.model, step
