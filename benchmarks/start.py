"""How long until a fit has begun, and is done? `python benchmarks/start.py [KIND …]`

`comotion fit` on the demo's data in a process of its own, with no compiled program kept (cold) and
with those of an earlier run (warm). `contacts`: nothing else said, so contacts
are found and nothing is left to train. `functions`: contacts off, so that f_s and f_b are trained.
Seconds to the first step are those until its figures stand in metrics.jsonl.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rows import append

import comotion as cm
from comotion.cli.demo import DEMO_DATA

KINDS = {
    "contacts": (),
    "functions": ("--system", "comotion", "--set", "alone=mirror", "--set", "contacts=off"),
}
TRAINED_ON = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--warm-only", action="store_true", help="with the usual cache")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = cm.simulate.bouncing_balls(**DEMO_DATA)
        cm.write(data.split(TRAINED_ON, len(data) - TRAINED_ON)[0], folder / "balls.csv")
        for kind in chosen.kinds or KINDS:
            if not chosen.warm_only:
                tell(kind, "cold", measured(kind, folder, str(folder / "cache" / kind)))
            cache = None if chosen.warm_only else str(folder / "cache" / kind)
            tell(kind, "warm", measured(kind, folder, cache))


def measured(kind: str, folder: Path, cache: str | None) -> dict[str, Any]:
    words = [sys.executable, "-m", "comotion", "fit", str(folder / "balls.csv"), *KINDS[kind]]
    words += ["--out", str(folder / "run"), "--overwrite"]
    kept = {} if cache is None else {"JAX_COMPILATION_CACHE_DIR": cache}
    before, begun, now = processor_seconds(), time.monotonic(), time.time()
    done = subprocess.run(words, env=os.environ | kept, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    row: dict[str, Any] = {"seconds": round(time.monotonic() - begun, 1)}
    row["processor_seconds"] = round(processor_seconds() - before, 1)
    figures = folder / "run" / "metrics.jsonl"
    lines = figures.read_text().splitlines() if figures.exists() else []
    return row | ({"first_step": round(json.loads(lines[0])["time"] - now, 1)} if lines else {})


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tell(kind: str, cache: str, found: dict[str, Any]) -> None:
    append("start", {"what": kind, "cache": cache, **found, "seed": DEMO_DATA["seed"]})


if __name__ == "__main__":
    main()
