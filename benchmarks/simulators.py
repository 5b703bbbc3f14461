"""How long the simulators take: `python benchmarks/simulators.py` (about two minutes)."""

import time
from collections.abc import Callable

from rows import append

from comotion.data import Trajectories
from comotion.simulate import bouncing_balls, charged_particles, springs


def measure(name: str, simulate: Callable[[], Trajectories]) -> None:
    start = time.perf_counter()
    data = simulate()
    seconds = time.perf_counter() - start
    ranges = {
        feature: [float(data.values[..., o].min()), float(data.values[..., o].max())]
        for o, feature in enumerate(data.features)
    }
    append("simulators", {"what": name, "seconds": round(seconds, 2), "seed": 0, "ranges": ranges})


if __name__ == "__main__":
    measure("300 x 3 bouncing balls", lambda: bouncing_balls(sequences=300, seed=0))
    measure("300 x 5 springs", lambda: springs(sequences=300, seed=0))
    measure("10200 x 5 charges", lambda: charged_particles(sequences=10_200, seed=0))
