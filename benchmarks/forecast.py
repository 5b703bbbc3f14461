"""Seconds of a forecast: `python benchmarks/forecast.py`.

100 draws x 100 sequences x 100 frames of three balls, after compilation, best of several: the
system of the demo, and the paper's parts. Functions are as they start from the data; their cost
does not depend on what they have learned.
"""

import resource
import time

import jax
from rows import append

from comotion.backend import cache
from comotion.cli.demo import DEMO_SYSTEM
from comotion.simulate import bouncing_balls
from comotion.train.fit import prepare, run_config

SYSTEMS = {"demo": DEMO_SYSTEM | {"contacts": "off"}, "paper": {"system": "I-GPODE"}}
DRAWS, SEQUENCES = 100, 100
REPEATS = 3


def measure(name: str) -> None:
    choices = dict(SYSTEMS[name])
    data = bouncing_balls(sequences=SEQUENCES, objects=3, noise="low", seed=0)
    config = run_config(choices.pop("system"), "short", 0, choices)
    fitted, _ = prepare(data, config, key=jax.random.key(0))
    seconds = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        fitted.predict(data, draws=DRAWS)
        seconds.append(time.perf_counter() - start)
    row = {"system": name, "draws": DRAWS, "sequences": SEQUENCES, "frames": 100}
    row |= {"seconds": round(min(seconds[1:]), 2), "first_seconds": round(seconds[0], 1)}
    memory = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    append("forecast", row | {"peak_mebibytes": memory, "seed": 0})


if __name__ == "__main__":
    cache.enable()
    for name in SYSTEMS:
        measure(name)
