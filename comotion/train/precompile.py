"""Compile the steps of training while a start is still being looked for.

Both take tens of seconds the first time, and neither needs the other: a step's program depends on
the shapes of the model and the data, not on their numbers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import jax
import jax.numpy as jnp

from comotion._types import FAST
from comotion.backend.devices import everywhere
from comotion.config import RunConfig
from comotion.data.windows import Dataset
from comotion.model import Model
from comotion.train.step import draw_batch, first_state, step_plan, step_program


@contextmanager
def compiling_steps(config: RunConfig, model: Model, train: Dataset) -> Iterator[None]:
    """What is compiled beside the work inside, for all rounds, `train_step` finds again."""
    stages = [stage for stage in config.recipe.stages if stage.iterations]
    layout = model.dynamics.layout
    plans = dict.fromkeys(step_plan(config, stage, train, layout) for stage in stages)
    placed = [everywhere((first_state(model), train), plan.mesh) for plan in plans]
    key, rate = jax.random.key(config.seed), jnp.zeros((), FAST)

    def compile_all() -> None:
        for (state, dataset), plan in zip(placed, plans, strict=True):
            batch, key_objective = draw_batch(dataset, key, 0, plan)
            step_program(plan).lower(  # pyright: ignore[reportFunctionMemberAccess]
                state, batch, key_objective, rate, plan
            ).compile()

    thread = Thread(target=compile_all)
    thread.start()
    try:
        yield
    finally:
        thread.join()
