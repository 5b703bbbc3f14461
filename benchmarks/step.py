"""Seconds per training step and per compilation: `python benchmarks/step.py`.

Two systems on 100 sequences of three noise-free balls: the paper's parts (I-GPODE, M = 250/250,
256 features, RK4 with one step per frame) and those of the demo. Best of several steps.
"""

import time

import jax
import jax.numpy as jnp
from rows import append

from comotion.cli.demo import DEMO_SYSTEM
from comotion.config import Recipe, Stage
from comotion.simulate import bouncing_balls
from comotion.train.fit import prepare, run_config
from comotion.train.step import first_state, step_plan, train_step

REPEATS = 8
SYSTEMS = {"paper": {"system": "I-GPODE"}, "demo": DEMO_SYSTEM}


def measure(name: str, horizon: int) -> None:
    choices = dict(SYSTEMS[name])
    stage = Stage(horizon, 1, 1e-3)
    config = run_config(choices.pop("system"), Recipe(stages=(stage,)), 0, choices)
    data = bouncing_balls(sequences=100, seed=0)
    fitted, dataset = prepare(data, config, key=jax.random.key(0))
    state, plan = first_state(fitted.model), step_plan(config.recipe, stage, 100, 1)

    def step() -> float:
        start = time.perf_counter()
        _, info = train_step(state, dataset, jax.random.key(1), jnp.float32(1e-3), plan)
        jax.block_until_ready(info.gradient_norm)
        return time.perf_counter() - start

    compiling, best = step(), min(step() for _ in range(REPEATS))
    row = {"system": name, "horizon": horizon, "seconds": round(best, 4)}
    append("step", row | {"compile_seconds": round(compiling, 1), "seed": 0})


if __name__ == "__main__":
    for name in SYSTEMS:
        for horizon in (5, 16, 33):
            measure(name, horizon)
