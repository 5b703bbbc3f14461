"""Seconds per training step, beside the least they could be: `python benchmarks/step.py`.

Two systems on 100 sequences of three noise-free balls: the paper's parts (I-GPODE, M = 250/250,
256 features, RK4 with one step per frame) and those of the demo. Best of several steps; the floor
(`floor.py`) is measured in the same minute.
"""

import argparse

from floor import Function, floor
from rows import append
from steps import timed_step

from comotion.backend import cache
from comotion.backend.devices import one_thread_each
from comotion.cli.demo import DEMO_SYSTEM
from comotion.config import Recipe, Stage
from comotion.dynamics import InteractingDynamics
from comotion.functions import SparseGP
from comotion.model import Model
from comotion.simulate import bouncing_balls
from comotion.train.fit import run_config

REPEATS = 12
SYSTEMS = {"paper": {"system": "I-GPODE"}, "demo": DEMO_SYSTEM | {"contacts": "off"}}
SEQUENCES, OBJECTS = 100, 3
HORIZONS = (5, 16, 33)


@one_thread_each()
def measure(name: str, horizon: int) -> None:
    choices = dict(SYSTEMS[name])
    stage = Stage(horizon, 1, 1e-3)
    config = run_config(choices.pop("system"), Recipe(stages=(stage,)), 0, choices)
    data = bouncing_balls(sequences=SEQUENCES, objects=OBJECTS, seed=0)
    model, step = timed_step(data, config)
    compiling, best = step(), min(step() for _ in range(REPEATS))
    least = floor(asked(model), horizon)
    best = min(best, *(step() for _ in range(REPEATS)))
    row = {"system": name, "horizon": horizon, "seconds": round(best, 4)}
    row |= {"floor_seconds": round(least, 4), "ratio": round(best / least, 2)}
    append("step", row | {"compile_seconds": round(compiling, 1), "seed": 0})


def asked(model: Model) -> list[Function]:
    """What a stage of the solver asks of f_s and f_b, for all objects of all sequences."""
    dynamics = model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    mirrored = 4 if dynamics.alone.in_size == 2 else 1  # two axes, each also mirrored
    heard = 1 if dynamics.pair_coordinates.opposite else OBJECTS - 1
    counts = (("alone", mirrored), ("pair", heard))
    return [_function(getattr(dynamics, name), SEQUENCES * OBJECTS * n) for name, n in counts]


def _function(gp: SparseGP, rows: int) -> Function:
    return Function(rows, gp.in_size, len(gp.inducing_inputs), gp.num_features, gp.out_size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", choices=list(SYSTEMS), help="only this one")
    chosen = parser.parse_args()
    cache.enable()
    for name in [chosen.system] if chosen.system else SYSTEMS:
        for horizon in HORIZONS:
            measure(name, horizon)
