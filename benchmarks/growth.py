"""How cost grows: `python benchmarks/growth.py`, then `--page` for docs/growth.md.

Seconds and peak memory of one training step of I-GPODE-S (radial f_b, as in the demo), with one
size changed at a time: objects (all pairs up to 30, the 10 nearest beyond), sequences, inducing
inputs, Fourier features, horizon, draws. Each in a process of its own, because memory once taken
is not given back. Points that have a row already are left out.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

from rows import append, read

BASE = {
    "objects": 3,
    "sequences": 100,
    "inducing": 100,
    "features": 128,
    "horizon": 16,
    "draws": 1,
}
GROWTH = {
    "objects": (3, 10, 30, 100, 300, 1000),
    "sequences": (25, 100, 400),
    "inducing": (50, 100, 200, 400),
    "features": (64, 128, 256, 512),
    "horizon": (5, 16, 33, 66),
    "draws": (1, 2, 4, 8),
}
CROWD = {"sequences": 2, "horizon": 6}  # many objects are slow enough in few sequences
NEAREST, MOST_PAIRS = 10, 30
REPEATS = 3
PAGE = Path(__file__).parent.parent / "docs" / "growth.md"
PICTURE = PAGE.parent / "images" / "growth.png"


def measure(what: str, sizes: dict[str, int]) -> None:
    import numpy as np
    from steps import timed_step

    from comotion.backend.devices import one_thread_each
    from comotion.config import Recipe, Stage
    from comotion.data import Trajectories
    from comotion.train.fit import run_config

    frames, objects = sizes["horizon"] + 1, sizes["objects"]
    random = np.random.default_rng(0)
    start = random.uniform(-1, 1, (sizes["sequences"], 1, objects, 2)) * np.sqrt(objects)
    velocity = random.normal(size=start.shape)
    times = 0.1 * np.arange(frames)
    moved = start + velocity * times[None, :, None, None]
    shown = np.concatenate([moved, np.broadcast_to(velocity, moved.shape)], axis=-1)
    data = Trajectories.from_arrays(shown, times, features=["x", "y", "vx", "vy"])
    stage = Stage(sizes["horizon"], 1, 1e-3)
    recipe = Recipe(stages=(stage,), windows=sizes["sequences"], draws=sizes["draws"])
    parts = {
        "pair": "radial",
        "alone": "mirror",
        "encoder": "smoother",
        "inducing_alone": sizes["inducing"],
        "inducing_pair": sizes["inducing"],
        "fourier_features": sizes["features"],
        "nearest": NEAREST if objects > MOST_PAIRS else 0,
    }
    config = run_config("I-GPODE-S", recipe, 0, parts)
    with one_thread_each():
        _, step = timed_step(data, config)
        step()
        best = min(step() for _ in range(REPEATS))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row = {"what": what, **sizes, "edges": objects * min(objects - 1, parts["nearest"] or objects)}
    append("growth", row | {"seconds": round(best, 4), "peak_mebibytes": round(memory), "seed": 0})


def points() -> list[tuple[str, dict[str, int]]]:
    found = []
    for what, values in GROWTH.items():
        base = BASE | CROWD if what == "objects" else BASE
        found += [(what, base | {what: value}) for value in values]
    return found


def write_page() -> None:
    import matplotlib.pyplot as plt

    rows = read("growth")
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.5), layout="constrained")
    lines = [
        "| grows | to | edges | seconds per step | peak memory, MiB |",
        "|:--|--:|--:|--:|--:|",
    ]
    for axis, what in zip(axes.flat, GROWTH, strict=True):
        mine = sorted((row for row in rows if row["what"] == what), key=lambda row: row[what])
        if not mine:
            continue
        sizes = [row["edges"] if what == "objects" else row[what] for row in mine]
        axis.loglog(sizes, [row["seconds"] for row in mine], "o-")
        axis.set(xlabel="edges per sequence" if what == "objects" else what, ylabel="seconds")
        axis.set_xticks(sizes, [f"{size}" for size in sizes], rotation=45)
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        memory = axis.twinx()
        memory.plot(sizes, [row["peak_mebibytes"] for row in mine], "s:", color="grey")
        memory.set(ylim=(0, 2000), ylabel="MiB")
        columns = (what, "edges", "seconds", "peak_mebibytes")
        lines += [f"| {what} | " + " | ".join(str(row[c]) for c in columns) + " |" for row in mine]
    figure.savefig(PICTURE, dpi=110)
    base = ", ".join(f"{value} {name}" for name, value in BASE.items())
    crowd = ", ".join(f"{value} {name}" for name, value in CROWD.items())
    same = [row["seconds"] for row in rows if BASE.items() <= row.items()]
    PAGE.write_text(
        "# How cost grows\n\n"
        "Written by `python benchmarks/growth.py` from `benchmarks/results/growth.jsonl`.\n\n"
        f"One training step of I-GPODE-S with radial f_b on two cores, one size changed at a time. "
        f"The others are {base}; while the objects grow, {crowd}. All pairs interact up to "
        f"{MOST_PAIRS} objects, the {NEAREST} nearest beyond. Peak memory is that of the whole "
        "process, start and compiler included (dotted, grey). Each point is a process of "
        f"its own: the sizes most curves share took {min(same)} to {max(same)} s, so smaller "
        "differences mean nothing. Where all pairs interact, f_b is asked once for both of a pair, "
        "since radial rates are opposite; nearest neighbours are asked one by one, so an edge "
        "costs twice as much there. Finding the nearest compares all pairs at every stage of the "
        "solver: next to nothing for a hundred objects, but much of a step for a thousand.\n\n"
        "![growth](images/growth.png)\n\n" + "\n".join(lines) + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write docs/growth.md and stop")
    parser.add_argument("--point", help="only this one, as JSON")
    chosen = parser.parse_args()
    if chosen.point:
        return measure(*json.loads(chosen.point))
    if not chosen.page:
        done = [(row["what"], row[row["what"]]) for row in read("growth")]
        for what, sizes in points():
            if (what, sizes[what]) not in done:
                words = [sys.executable, __file__, "--point", json.dumps([what, sizes])]
                subprocess.run(words, check=True)
    return write_page()


if __name__ == "__main__":
    main()
