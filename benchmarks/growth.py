"""How cost grows: `python benchmarks/growth.py`, then `--page` for docs/growth.md.

Seconds and peak memory of one training step and of a forecast of I-GPODE-S (radial f_b, as in the
demo), with one size changed at a time. Each in a process of its own on one core, because memory
once taken is not given back. Points that have a row already are left out.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["JAX_NUM_CPU_DEVICES"] = "1"

import numpy as np
from rows import append, read

BASE = {
    "step": {
        "objects": 3,
        "sequences": 100,
        "inducing": 100,
        "features": 128,
        "horizon": 16,
        "draws": 1,
    },
    "forecast": {"objects": 100, "sequences": 1, "frames": 20, "draws": 4},
    "file": {"objects": 3, "sequences": 1000, "frames": 1000, "draws": 5},
    "data": {
        "objects": 5,
        "sequences": 1000,
        "frames": 50,
        "windows": 100,
        "horizon": 16,
        "draws": 1,
    },
}
GROWTH = {
    "step": {
        "objects": (3, 10, 30, 100, 300, 1000),
        "sequences": (25, 100, 400),
        "horizon": (5, 16, 33, 66),
        "draws": (1, 2, 4, 8),
    },
    "forecast": {
        "objects": (100, 300, 1000, 3000, 10000),
        "sequences": (1, 8, 64),
        "frames": (20, 80, 320),
        "draws": (4, 16, 64),
    },
    "file": {"draws": (5, 20, 40)},
    "data": {"sequences": (100, 1000, 10000)},
}
OLDER = "step on two cores, before"
CROWD = {"sequences": 2, "horizon": 6}  # many objects are slow enough in few sequences
NEAREST, MOST_PAIRS = 10, 30
REPEATS = 5
PAGE = Path(__file__).parent.parent / "docs" / "growth.md"
PICTURE = PAGE.parent / "images" / "growth.png"
Sizes = dict[str, int]
Row = dict[str, Any]
Curves = dict[tuple[str, str], list[Row]]


def measure(kind: str, what: str, sizes: Sizes) -> None:
    from comotion.backend import cache
    from comotion.backend.devices import one_thread_each

    cache.enable()
    with one_thread_each():
        works = {"step": step_of, "forecast": forecast_of, "file": file_of, "data": step_of}
        work = works[kind](sizes)
        best = min(work() for _ in range(1 if kind == "file" else REPEATS))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    objects = sizes["objects"]
    row = {"kind": kind, "what": what, **sizes, "edges": objects * min(objects - 1, heard(objects))}
    append("growth", row | {"seconds": round(best, 4), "peak_mebibytes": round(memory), "seed": 0})


def heard(objects: int) -> int:
    return NEAREST if objects > MOST_PAIRS else objects


def config_for(sizes: Sizes, objects: int) -> Any:
    from comotion.config import Recipe, Stage
    from comotion.train.fit import run_config

    stage = Stage(sizes.get("horizon", 4), 1, 1e-3)
    windows = sizes.get("windows", sizes["sequences"])
    recipe = Recipe(stages=(stage,), windows=windows, draws=sizes["draws"])
    parts = {
        "pair": "radial",
        "alone": "mirror",
        "encoder": "smoother",
        "inducing_alone": sizes.get("inducing", 100),
        "inducing_pair": sizes.get("inducing", 100),
        "fourier_features": sizes.get("features", 128),
        "nearest": NEAREST if objects > MOST_PAIRS else 0,
    }
    return run_config("I-GPODE-S", recipe, 0, parts)


def drifting(sequences: int, objects: int, frames: int) -> Any:
    """Objects as dense in any number, each on its straight way."""
    from comotion.data import Trajectories

    random = np.random.default_rng(0)
    start = random.uniform(-1, 1, (sequences, 1, objects, 2)) * np.sqrt(objects)
    velocity = random.normal(size=start.shape)
    times = 0.1 * np.arange(frames)
    moved = start + velocity * times[None, :, None, None]
    shown = np.concatenate([moved, np.broadcast_to(velocity, moved.shape)], axis=-1)
    return Trajectories.from_arrays(shown, times, features=["x", "y", "vx", "vy"])


def step_of(sizes: Sizes) -> Callable[[], float]:
    from steps import timed_step

    frames = sizes.get("frames", sizes.get("horizon", 0) + 1)
    data = drifting(sizes["sequences"], sizes["objects"], frames)
    step = timed_step(data, config_for(sizes, sizes["objects"]))[1]
    step()
    return step


def forecast_of(sizes: Sizes) -> Callable[[], float]:
    fitted, data, times = crowd(sizes)
    forecast = partial(fitted.predict, data, times=times, draws=sizes["draws"])
    forecast()
    return lambda: timed(forecast)


def file_of(sizes: Sizes) -> Callable[[], float]:
    fitted, data, times = crowd(sizes)
    fitted.predict(data, times=times, draws=1)  # more are drawn one after the other

    def work() -> float:
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "draws.nc"
            return timed(partial(fitted.predict, data, times=times, draws=sizes["draws"], out=out))

    return work


def crowd(sizes: Sizes) -> tuple[Any, Any, np.ndarray]:
    """A model of a hundred objects, or of few: it is the same for any number of them."""
    import jax

    from comotion.train.fit import prepare

    few, objects = {"sequences": 2, "draws": 1}, min(100, sizes["objects"])
    fitted, _ = prepare(drifting(2, objects, 6), config_for(few, objects), key=jax.random.key(0))
    data = drifting(sizes["sequences"], sizes["objects"], 5)
    return fitted, data, 0.1 * np.arange(sizes["frames"])


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def points() -> list[tuple[str, str, Sizes]]:
    found = []
    for kind, growing in GROWTH.items():
        for what, values in growing.items():
            base = BASE[kind] | (CROWD if (kind, what) == ("step", "objects") else {})
            found += [(kind, what, base | {what: value}) for value in values]
    return found


def slope(rows: list[Row], what: str) -> str:
    """Of log seconds over log size, by least squares, from a tenth of the largest size on."""
    sizes = np.array([row["edges" if what == "objects" else what] for row in rows], float)
    seconds = np.array([row["seconds"] for row in rows])
    last = sizes >= sizes.max() / 12
    return f"{np.polyfit(np.log(sizes[last]), np.log(seconds[last]), 1)[0]:.2f}"


def curves() -> Curves:
    """Of every kind, by what grows: at least two points; of one measured again, the last."""
    found = [{"kind": OLDER} | row for row in read("growth")]
    points = {(row["kind"], row["what"], row[row["what"]]): row for row in found}
    places = [(kind, what) for kind, growing in GROWTH.items() for what in growing]
    places += [place[:2] for place in points if place[0] == OLDER and place[1] != "objects"]
    rows = {
        place: [points[key] for key in sorted(points) if key[:2] == place]
        for place in dict.fromkeys(places)
    }
    return {place: mine for place, mine in rows.items() if len(mine) > 1}


def write_page() -> None:
    shown = curves()
    draw(shown)
    lines = [
        "| of | grows | to | edges | seconds | peak memory, MiB |",
        "|:--|:--|--:|--:|--:|--:|",
    ]
    slopes = ["| of | grows | slope |", "|:--|:--|--:|"]
    for (kind, what), mine in shown.items():
        slopes.append(f"| {kind} | {_grown(what)} | {slope(mine, what)} |")
        columns = (what, "edges", "seconds", "peak_mebibytes")
        lines += [
            f"| {kind} | {what} | " + " | ".join(str(row[c]) for c in columns) + " |"
            for row in mine
        ]
    PAGE.write_text(TEXT.format(slopes="\n".join(slopes), lines="\n".join(lines), **told()))


def draw(shown: Curves) -> None:
    import matplotlib.pyplot as plt

    across = 4
    down = -(-len(shown) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(13, 2.7 * down), layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(shown) :]:
        axis.axis("off")
    for axis, ((kind, what), mine) in zip(axes.flat, shown.items(), strict=False):
        sizes = [row["edges"] if what == "objects" else row[what] for row in mine]
        axis.loglog(sizes, [row["seconds"] for row in mine], "o-")
        axis.set(xlabel=_grown(what), ylabel="seconds")
        axis.minorticks_off()
        axis.set_xticks(sizes, [str(size) for size in sizes], fontsize=7)
        axis.set_title(f"{kind}: slope {slope(mine, what)}", fontsize=9)
        memory = axis.twinx()
        memory.plot(sizes, [row["peak_mebibytes"] for row in mine], "s:", color="grey")
        memory.set(ylabel="MiB", ylim=(0, None))
    figure.savefig(PICTURE, dpi=90)


def _grown(what: str) -> str:
    return "edges" if what == "objects" else what


def told() -> dict[str, str]:
    return {
        "step": ", ".join(f"{value} {name}" for name, value in BASE["step"].items()),
        "crowd": ", ".join(f"{value} {name}" for name, value in CROWD.items()),
        "forecast": ", ".join(f"{value} {name}" for name, value in BASE["forecast"].items()),
        "file": ", ".join(f"{value} {name}" for name, value in BASE["file"].items()),
        "data": ", ".join(f"{value} {name}" for name, value in BASE["data"].items()),
    }


TEXT = f"""# How cost grows

Written by `python benchmarks/growth.py` from `benchmarks/results/growth.jsonl`.

One training step, and one forecast, of I-GPODE-S with radial f_b on one core, one size changed at a
time. The others are, of a step, {{step}} (while the objects grow, {{crowd}}); of a forecast,
{{forecast}}; of a step that takes a hundred windows out of ever more sequences (data), {{data}}.
All pairs interact up to {MOST_PAIRS} objects, the {NEAREST} nearest beyond. Peak memory is that of
the whole process, start and compiler included (dotted, grey). Each point is the best of {REPEATS}
(of one, for forecasts of {{file}} into a file) in a process of its own, on a machine that others
used meanwhile: a tenth more or less means nothing. Steps on two cores are rows of an earlier
version.

Slopes are those of log seconds over log size, over the last twelvefold: 1 is in proportion.

{{slopes}}

![growth](images/growth.png)

Where all pairs interact, f_b is asked once for both of a pair, since radial rates are opposite;
nearest neighbours are asked one by one, so an edge costs twice as much there. Of more than 300
objects the nearest are found by boxes of sixteen, exactly (`comotion/dynamics/nearest.py`), once an
interval. Without `nearest`, or with a graph in the data, who hears whom is a table of all pairs:
ten thousand objects make one of 100 MB for each sequence. A forecast is drawn in parts that memory
holds; into [a file](howto/large-forecasts.md) it takes the same memory for any number of draws: a
thousand sequences over a thousand times differ from those in the table by nothing but seconds and
the size of the file, 0.1 GB a draw.

{{lines}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write docs/growth.md and stop")
    parser.add_argument("--kind", choices=list(GROWTH), help="only points of this kind")
    parser.add_argument("--point", help="only this one, as JSON")
    chosen = parser.parse_args()
    if chosen.point:
        return measure(*json.loads(chosen.point))
    if not chosen.page:
        done = [(row.get("kind"), row["what"], row[row["what"]]) for row in read("growth")]
        for kind, what, sizes in points():
            wanted = chosen.kind in (None, kind)
            if wanted and (kind, what, sizes[what]) not in done:
                words = [sys.executable, __file__, "--point", json.dumps([kind, what, sizes])]
                subprocess.run(words, check=True)
    return write_page()


if __name__ == "__main__":
    main()
