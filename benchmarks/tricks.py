"""What does each part of the short recipe buy? `python benchmarks/tricks.py`

The demo's system, its smooth law alone, is fitted to 100 sequences of three balls (low noise) with
half the iterations of its recipe, and networks (I-NODE) with a third of theirs, once with
everything and once without each part, over three seeds of data and training, and judged on
validation sequences; then the demo's with fewer or more iterations; then the paper's own parts,
started in two ways (one seed each). For speed, one step of 33 frames is timed in processes with and
without a part, which take turns because the machine's speed changes from minute to minute. Rows
that exist are left out; `--page` writes the tables of docs/training.md.
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
Rounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Without:
    """What is changed to do without a part: of the system, of the recipe, or of the forecast."""

    meaning: str = ""
    system: Changes = field(default_factory=dict)
    recipe: Changes = field(default_factory=dict)
    forecast: Changes = field(default_factory=dict)


DEMO = {
    "everything": Without(),
    "warm start": Without("q(U) by regression on smoothed rates", recipe={"regression": False}),
    "clipping": Without("gradients of norm one at most", recipe={"clip": 0.0}),
    "smoother": Without("initial states by regression, no network", system={"encoder": "gru"}),
    "radial f_b": Without("f_b in the frame of the pair", system={"pair": "relative"}),
    "mirrored f_s": Without("one law for each axis", system={"alone": "raw"}),
    "calibration": Without("pushes for what the law leaves open", recipe={"calibration": 0}),
    "candidates": Without("starts that lead through the first frames", forecast={"candidates": 1}),
}
NETWORK = {
    "everything": Without(),
    "pretraining": Without("300 steps on smoothed rates and states", recipe={"pretrain": 0}),
    "clipping": DEMO["clipping"],
    "tolerance": Without("trajectories may be a little off", recipe={"tolerance": 0.0}),
    "velocity tolerance": Without("more so for velocities", recipe={"velocity_tolerance": 0.0}),
    "either tolerance": Without(
        "both of them", recipe={"tolerance": 0.0, "velocity_tolerance": 0.0}
    ),
    "calibration": DEMO["calibration"],
}
DROPPED = {
    "tolerance": "trajectories may be a little off",
    "velocity tolerance": "more so for velocities",
    "either tolerance": "both of them",
    "slow kernels": "kernels learn at a tenth of the rate",
}
"""Parts that the recipe of the demo's system had when the rows of kind `accuracy` were made."""
STARTS = {
    "nothing": Without(),
    "a regression": Without(recipe={"regression": True, "pretrain": 300, "kernel_rate": 0.1}),
}
HALF = ((16, 150),)
THIRD = ((5, 300), (16, 100))
ROUNDS = {
    "150 of 16 frames": HALF,
    "300 of 16 frames": ((16, 300),),
    "200 of 33 frames": ((33, 200),),
    "200 of 16 frames, 100 of 33": ((16, 200), (33, 100)),
}
SPEED = {
    "cores as devices": "sequences shared by the cores",
    "one thread for BLAS": "small factorisations do not wait for threads",
    "polynomials": "cos and exp that a CPU computes a vector at a time",
    "derivative by products": "of distances, instead of sums of differences",
    "pairs asked once": "the two rates of a pair are opposite",
    "sines of one side": "instead of cosines of both sides of a mirrored f_s",
}
SEEDS = (0, 1, 2)  # of the parts; the other tables are of the first
HORIZON, REPEATS, TURNS = 33, 10, 2
METRICS = ("mse_draws_table", "mse_mean_table", "ell_table", "crps_table", "coverage_95")


def demo_part(name: str, seed: int) -> None:
    judge({"kind": "demo", "without": name}, demo(), DEMO[name], HALF, seed=seed)


def network_part(name: str, seed: int) -> None:
    row = {"kind": "network", "without": name}
    judge(row, {"system": "I-NODE"}, NETWORK[name], THIRD, seed=seed, draws=20)


def length(name: str, _: int) -> None:
    judge({"kind": "length", "steps": name}, demo(), Without(), ROUNDS[name])


def start(name: str, _: int) -> None:
    judge({"kind": "start", "from": name}, {"system": "I-GPODE"}, STARTS[name])


def demo() -> Changes:
    from comotion.cli.demo import DEMO_SYSTEM

    return DEMO_SYSTEM | {"contacts": "off"}


def judge(
    row: Changes,
    parts: Changes,
    without: Without,
    rounds: Rounds = (),
    *,
    seed: int = SEEDS[0],
    draws: int = 100,
) -> None:
    """With the recipe's own rounds, unless others are given."""
    from comotion.reproduce.conventions import paper_scores
    from comotion.simulate import bouncing_balls
    from comotion.systems import system
    from comotion.train import fit, recipe

    choices = parts | without.system
    config = system(choices.pop("system"), **choices)
    short = recipe("short", config)
    stages = tuple(
        dataclasses.replace(short.stages[0], horizon=horizon, iterations=count)
        for horizon, count in rounds
    )
    changes = without.recipe | {"stages": stages or short.stages}
    data = bouncing_balls(sequences=200, objects=3, noise="low", seed=seed)
    train, valid = data.split(100, 100)
    begin = time.perf_counter()
    plan = dataclasses.replace(short, **changes)
    fitted = fit(train, system=config, recipe=plan, hold_out=0.0, seed=seed)
    seconds = round(time.perf_counter() - begin)
    found = paper_scores(fitted.predict(valid, draws=draws, **without.forecast), valid)
    row["fit_seconds"] = seconds
    for metric in METRICS:
        row[metric] = round(found[metric], 3)
    append("tricks", row | {"seed": seed})


def speed(name: str, _: int) -> None:
    """Processes take turns, with everything and without the part; the best of each counts."""
    seconds: dict[str, list[float]] = {"everything": [], name: []}
    for _ in range(TURNS):
        for without, times in seconds.items():
            one = {"JAX_NUM_CPU_DEVICES": "1"} if without == "cores as devices" else {}
            words = [sys.executable, __file__, "--turn", without]
            done = subprocess.run(
                words, env=os.environ | one, check=True, stdout=subprocess.PIPE, text=True
            )
            times.append(float(done.stdout))
    best, without = (min(times) for times in seconds.values())
    append("tricks", {"kind": "speed", "without": name, "with": best, "seconds": without})


def turn(name: str, _: int) -> None:
    from steps import timed_step

    from comotion.backend import fast_math
    from comotion.backend.devices import one_thread_each
    from comotion.config import Recipe, Stage
    from comotion.coordinates import AbstractAloneCoordinates
    from comotion.coordinates.alone import MirrorAlone
    from comotion.coordinates.pair import RadialPair
    from comotion.gp import kernels
    from comotion.simulate import bouncing_balls
    from comotion.train.fit import run_config

    if name == "polynomials":
        fast_math._fast_on_cpu = lambda builtin, _, x: builtin(x)
    if name == "derivative by products":
        kernels._squared_distances = kernels._plain_distances
    if name == "pairs asked once":
        RadialPair.opposite = False
    if name == "sines of one side":
        MirrorAlone.ask = AbstractAloneCoordinates.ask
    choices = demo()
    stage = Stage(HORIZON, 1, 1e-3)
    config = run_config(choices.pop("system"), Recipe(stages=(stage,)), 0, choices)
    data = bouncing_balls(sequences=100, objects=3, noise="low", seed=0)

    def best() -> float:
        _, step = timed_step(data, config)
        step()
        return min(step() for _ in range(REPEATS))

    quick: Callable[[], float] = best if name == "one thread for BLAS" else one_thread_each()(best)
    print(round(quick(), 4))


def write_page() -> None:
    rows = read("tricks")
    scores = ("MSE of draws", "of the mean", "ELL", "CRPS", "in 95 % band")
    speeds = {name: f"{name} | {meaning}" for name, meaning in SPEED.items()}
    parts = {
        kind: {name: without.meaning for name, without in table.items()}
        for kind, table in {"demo": DEMO, "network": NETWORK}.items()
    }
    lines = [
        *_parts("demo's system without", rows, "demo", parts["demo"], scores),
        *_parts("networks without", rows, "network", parts["network"], scores),
        *_parts("once, without", rows, "accuracy", DROPPED | parts["demo"], scores),
        *_table(("steps",), scores, rows, "length", {name: name for name in ROUNDS}, _scores),
        *_table(("paper's parts from",), scores, rows, "start", {n: n for n in STARTS}, _scores),
        *_table(
            ("without", "which is"),
            ("seconds per step", "with it"),
            rows,
            "speed",
            speeds,
            lambda found: f"{found[0]['seconds']} | {found[0]['with']}",
        ),
    ]
    write_between(PAGE, "tricks", lines)


def _parts(
    head: str, rows: list[dict], kind: str, meanings: dict[str, str], scores: tuple[str, ...]
) -> list[str]:
    everything = found(rows, kind, "everything")
    return _table(
        (head, "which is"),
        (*scores, "CRPS, each seed, × with it"),
        rows,
        kind,
        {"everything": "nothing | "}
        | {name: f"{name} | {said}" for name, said in meanings.items() if name != "everything"},
        lambda found: f"{_scores(found)} | {_beside(found, everything)}",
    )


def _table(
    words: tuple[str, ...],
    numbers: tuple[str, ...],
    rows: list[dict],
    kind: str,
    labels: dict[str, str],
    values: Callable[[list[dict]], str],
) -> list[str]:
    """One line for each label that has been measured; nothing if none has."""
    lines = [
        f"| {label} | {values(measured)} |"
        for name, label in labels.items()
        if (measured := found(rows, kind, name))
    ]
    head = ["| " + " | ".join(words + numbers) + " |", "|" + ":--|" * len(words)]
    head[1] += "--:|" * len(numbers)
    return [*head, *lines, ""] if lines else []


def found(rows: list[dict], kind: str, name: str) -> list[dict]:
    return [row for row in rows if row["kind"] == kind and name in row.values()]


def _scores(rows: list[dict]) -> str:
    """Means over seeds."""
    *plain, coverage = (sum(row[metric] for row in rows) / len(rows) for metric in METRICS)
    return " | ".join([*(f"{value:.2f}" for value in plain), f"{100 * coverage:.0f} %"])


def _beside(rows: list[dict], everything: list[dict]) -> str:
    """A part pays if these are above one, whatever the seed."""
    whole = {row["seed"]: row["crps_table"] for row in everything}
    return " ".join(
        f"{row['crps_table'] / whole[row['seed']]:.3f}"
        for row in sorted(rows, key=lambda row: row["seed"])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the tables and stop")
    measures = {"demo": demo_part, "network": network_part, "length": length}
    measures |= {"start": start, "speed": speed, "turn": turn}
    for kind in measures:
        parser.add_argument(f"--{kind}", help="only this one, in this process")
    parser.add_argument("--seed", type=int, default=SEEDS[0])
    chosen = parser.parse_args()
    for kind, measure in measures.items():
        if name := getattr(chosen, kind):
            return measure(name, chosen.seed)
    if not chosen.page:
        names = {"demo": DEMO, "network": NETWORK, "length": ROUNDS}
        names |= {"start": STARTS, "speed": SPEED}
        for kind in names:
            seeds = SEEDS if kind in ("demo", "network") else SEEDS[:1]
            for seed in seeds:
                for name in names[kind]:
                    rows = found(read("tricks"), kind, name)
                    if seed not in [row.get("seed", seed) for row in rows]:
                        words = [sys.executable, __file__, f"--{kind}", name, "--seed", str(seed)]
                        subprocess.run(words, check=True)
    return write_page()


if __name__ == "__main__":
    main()
