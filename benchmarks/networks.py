"""Steps and forecasts of networks beside the floor of their matrix products:
`python benchmarks/networks.py`

I-NODE on three balls, and on charges whose sign is inferred from 49 frames; a step of the training
recipe's windows, a forecast of a few draws of 100 sequences. Seconds are of the processor, best of
several, so that other work on the machine counts as little as can be; the floor (`floor.py`) is
measured in the same minute, on as many cores.
"""

import argparse
import dataclasses
import time
from collections.abc import Callable

import jax
from floor import Network, floor, forecast_floor
from rows import append
from steps import timed_step

from comotion.backend import cache
from comotion.backend.devices import one_thread_each
from comotion.config import RunConfig
from comotion.data import Trajectories
from comotion.dynamics import InteractingDynamics
from comotion.functions import MLP
from comotion.model import Model
from comotion.reproduce.runs import Fit
from comotion.reproduce.scenes import PaperScene, parts_of
from comotion.reproduce.tables import run
from comotion.train.fit import prepare

SCENES = {
    "I-NODE": PaperScene("balls", 3, train=100, valid=1, test=1),
    "I-NODE/with-globals": PaperScene("charges", 5, train=100, valid=1, test=1),
}
HORIZONS, DRAWS, REPEATS = (5, 33), 2, 5


@one_thread_each()
def measure(name: str) -> None:
    source = run(name, SCENES[name], "fast", 0).source
    assert isinstance(source, Fit)
    data = parts_of(SCENES[name], 0).train.seen
    plans = [
        dataclasses.replace(
            source.recipe,
            stages=(dataclasses.replace(source.recipe.stages[0], horizon=horizon),),
            pretrain=0,
        )
        for horizon in HORIZONS
    ]
    for horizon, plan in zip(HORIZONS, plans, strict=True):
        model, step = timed_step(data, RunConfig(source.system, plan, 0))
        networks = asked(model, data, plan.windows)
        least = floor(networks, horizon, time.process_time)
        _tell(name, f"step, horizon {horizon}", step, least)
    fitted, _ = prepare(data, RunConfig(source.system, plans[0], 0), key=jax.random.key(0))
    networks, frames = asked(fitted.model, data, len(data)), data.values.shape[1]
    least = DRAWS * forecast_floor(networks, frames, time.process_time)
    what = f"forecast, {DRAWS} draws of {len(data)} sequences"
    _tell(name, what, lambda: fitted.predict(data, draws=DRAWS, candidates=1), least)


def _tell(name: str, what: str, work: Callable[[], object], least: float) -> None:
    work()
    best = min(_seconds(work) for _ in range(REPEATS))
    row = {"system": name, "what": what, "seconds": round(best, 4)}
    append("networks", row | {"floor_seconds": round(least, 4), "ratio": round(best / least, 2)})


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def asked(model: Model, data: Trajectories, windows: int) -> list[Network]:
    """What a stage of the solver asks of f_s and f_b, for all objects of all windows."""
    dynamics = model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    objects = data.values.shape[2]
    counts = {"alone": objects, "pair": objects * (objects - 1)}
    return [_network(getattr(dynamics, name), windows * n) for name, n in counts.items()]


def _network(function: MLP, rows: int) -> Network:
    weights = function.network.weights
    return Network(rows, (function.in_size, *(weight.shape[1] for weight in weights)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--system", choices=list(SCENES), help="only this one")
    chosen = parser.parse_args()
    cache.enable()
    for name in [chosen.system] if chosen.system else SCENES:
        measure(name)
