"""What does each part of the default recipe buy? `python benchmarks/tricks.py`

The demo's system is fitted to 100 sequences of three balls (low noise, seed 0) with half the
iterations of the default recipe, once with everything and once without each part, and judged on
validation sequences; then with everything, but fewer or more iterations. For speed, one step of
33 frames is timed with and without, in turn. Rows that exist are left out; `--page` writes the
tables of docs/training.md.
"""

import argparse
import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rows import append, read, write_between

PAGE = Path(__file__).parent.parent / "docs" / "training.md"
Changes = dict[str, Any]


@dataclass(frozen=True)
class Without:
    """What is changed to do without a part: of the system, of the recipe, or of the forecast."""

    meaning: str = ""
    system: Changes = field(default_factory=dict)
    recipe: Changes = field(default_factory=dict)
    forecast: Changes = field(default_factory=dict)


ACCURACY = {
    "everything": Without(),
    "warm start": Without("q(U) by regression on smoothed rates", recipe={"warm_start": False}),
    "tolerance": Without("trajectories may be a little off", recipe={"tolerance": 0.0}),
    "velocity tolerance": Without("more so for velocities", recipe={"velocity_tolerance": 0.0}),
    "slow kernels": Without("kernels learn at a tenth of the rate", recipe={"kernel_rate": 1.0}),
    "clipping": Without("gradients of norm one at most", recipe={"clip": 0.0}),
    "smoother": Without("initial states by regression, no network", system={"encoder": "gru"}),
    "radial f_b": Without("f_b in the frame of the pair", system={"pair": "relative"}),
    "mirrored f_s": Without("one law for each axis", system={"alone": "raw"}),
    "events": Without("half the inducing inputs on collisions", system={"events": 0.0}),
    "calibration": Without("pushes for what the law leaves open", recipe={"calibration": 0}),
    "candidates": Without("starts that lead through the first frames", forecast={"candidates": 1}),
}
HALF = ((16, 150),)
ROUNDS = {
    "150 of 16 frames": HALF,
    "300 of 16 frames": ((16, 300),),
    "200 of 33 frames": ((33, 200),),
    "200 of 16 frames, 100 of 33": ((16, 200), (33, 100)),
}
SPEED = {
    "everything": "",
    "cores as devices": "sequences shared by the cores",
    "one thread for BLAS": "small factorisations do not wait for threads",
    "polynomials": "cos and exp that a CPU computes a vector at a time",
    "whole vectors": "inducing inputs without weight fill the last vector of a row",
    "derivative by products": "of distances, instead of sums of differences",
    "pairs asked once": "the two rates of a pair are opposite",
}
HORIZON, REPEATS = 33, 10
METRICS = ("mse_draws_table", "mse_mean_table", "ell_table", "crps_table", "coverage_95")


def accuracy(name: str) -> None:
    judge({"kind": "accuracy", "without": name}, HALF, ACCURACY[name])


def length(name: str) -> None:
    judge({"kind": "length", "steps": name}, ROUNDS[name], Without())


def judge(row: Changes, rounds: tuple[tuple[int, int], ...], without: Without) -> None:
    from comotion.cli.demo import DEMO_SYSTEM
    from comotion.evaluate import evaluate
    from comotion.simulate import bouncing_balls
    from comotion.systems import system
    from comotion.train import fit, recipe

    choices = DEMO_SYSTEM | without.system
    config = system(choices.pop("system"), **choices)
    short = recipe("short", config)
    stages = tuple(
        dataclasses.replace(short.stages[0], horizon=horizon, iterations=count)
        for horizon, count in rounds
    )
    changes = without.recipe | {"stages": stages}
    data = bouncing_balls(sequences=200, objects=3, noise="low", seed=0)
    train, valid = data.split(100, 100)
    start = time.perf_counter()
    fitted = fit(train, system=config, recipe=dataclasses.replace(short, **changes), seed=0)
    seconds = round(time.perf_counter() - start)
    found = evaluate(fitted.predict(valid, draws=100, **without.forecast), valid)
    row["fit_seconds"] = seconds
    for metric in METRICS:
        row[metric] = round(found[metric], 3)
    append("tricks", row | {"seed": 0})


def speed(name: str) -> None:
    from steps import timed_step

    from comotion import elementary
    from comotion.cli.demo import DEMO_SYSTEM
    from comotion.config import Recipe, Stage
    from comotion.coordinates.pair import RadialPair
    from comotion.devices import one_thread_each
    from comotion.gp import kernels, pathwise
    from comotion.simulate import bouncing_balls
    from comotion.train.fit import run_config

    if name == "polynomials":
        elementary._fast_on_cpu = lambda builtin, _, x: builtin(x)
    if name == "whole vectors":
        pathwise.VECTOR = 1
    if name == "derivative by products":
        kernels._squared_distances = kernels._plain_distances
    if name == "pairs asked once":
        RadialPair.opposite = False
    choices = dict(DEMO_SYSTEM)
    stage = Stage(HORIZON, 1, 1e-3)
    config = run_config(choices.pop("system"), Recipe(stages=(stage,)), 0, choices)
    data = bouncing_balls(sequences=100, objects=3, noise="low", seed=0)

    def best() -> float:
        _, step = timed_step(data, config)
        step()
        return min(step() for _ in range(REPEATS))

    quick: Callable[[], float] = best if name == "one thread for BLAS" else one_thread_each()(best)
    append("tricks", {"kind": "speed", "without": name, "seconds": round(quick(), 4), "seed": 0})


def write_page() -> None:
    rows = read("tricks")
    lines = ["| without | which is | MSE of draws | of the mean | ELL | CRPS | in 95 % band |"]
    lines += ["|:--|:--|--:|--:|--:|--:|--:|"]
    for name, without in ACCURACY.items():
        for row in found(rows, "accuracy", name):
            label = "nothing" if name == "everything" else name
            lines.append(f"| {label} | {without.meaning} | {_scores(row)} |")
    lines += [
        "",
        "| steps | MSE of draws | of the mean | ELL | CRPS | in 95 % band |",
    ]
    lines += ["|:--|--:|--:|--:|--:|--:|"]
    for steps in ROUNDS:
        lines += [f"| {steps} | {_scores(row)} |" for row in found(rows, "length", steps)]
    if any(row["kind"] == "speed" for row in rows):
        lines += ["", "| without | which is | seconds per step |", "|:--|:--|--:|"]
    for name, meaning in SPEED.items():
        for row in found(rows, "speed", name):
            label = "nothing" if name == "everything" else name
            lines.append(f"| {label} | {meaning} | {row['seconds']} |")
    write_between(PAGE, "tricks", lines)


def found(rows: list[dict], kind: str, name: str) -> list[dict]:
    return [row for row in rows if row["kind"] == kind and name in row.values()]


def _scores(row: dict) -> str:
    *plain, coverage = (row[metric] for metric in METRICS)
    return " | ".join([*map(str, plain), f"{100 * coverage:.0f} %"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the tables and stop")
    measures = {"length": length, "accuracy": accuracy, "speed": speed}
    for kind in measures:
        parser.add_argument(f"--{kind}", help="only this one, in this process")
    chosen = parser.parse_args()
    for kind, measure in measures.items():
        if name := getattr(chosen, kind):
            return measure(name)
    if not chosen.page:
        names = {"length": ROUNDS, "accuracy": ACCURACY, "speed": SPEED}
        for kind in measures:
            for name in names[kind]:
                if not found(read("tricks"), kind, name):
                    one = {"JAX_NUM_CPU_DEVICES": "1"} if name == "cores as devices" else {}
                    words = [sys.executable, __file__, f"--{kind}", name]
                    subprocess.run(words, env=os.environ | one, check=True)
    return write_page()


if __name__ == "__main__":
    main()
