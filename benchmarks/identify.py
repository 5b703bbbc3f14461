"""Is the law found that is there, and none where there is none? `benchmarks/identify.py --help`

`none`: straight lines with noise, many seeds. `walls`: walkers alone in a box. `laws`: simulated
worlds, what the evidence favours and by how much. `recordings`: all of `cm.identify` on a real one,
in seconds of processor time from import to answer.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import tyro
from rows import append

import comotion as cm
from comotion.data import Trajectories
from comotion.identification.evidence import NO_LAW, evidence_of
from comotion.identification.structures import NEAREST, Kind
from comotion.scoring import Protocol

NOISE = 0.01
PROTOCOL = Protocol(5, 10)
SHOWN = 3


@dataclass(frozen=True)
class Options:
    """Rows of some kinds."""

    kinds: Annotated[
        tuple[Literal["none", "walls", "laws", "recordings"], ...], tyro.conf.Positional
    ] = ("none", "walls", "laws")
    seeds: int = 20
    """of straight lines"""
    recordings: tuple[str, ...] = ("hexbugs",)


def main(options: Options) -> None:
    if "none" in options.kinds:
        nothing(options.seeds)
    if "walls" in options.kinds:
        # To the evidence a wall is a matter of place.
        judge("walkers in a box", Kind("raw"), noisy(cm.simulate.walkers(sequences=20, seed=0)))
    if "laws" in options.kinds:
        for name, (law, world) in WORLDS.items():
            judge(name, law, world())
    if "recordings" in options.kinds:
        for name in options.recordings:
            recording(name)


def nothing(seeds: int) -> None:
    """Eight sequences of three objects in thirty frames."""
    started = time.process_time()
    worlds = (
        noisy(cm.simulate.drifters(sequences=8, frames=30, seed=seed), seed)
        for seed in range(seeds)
    )
    found = [evidence_of(world, PROTOCOL, NEAREST) for world in worlds]
    row: dict[str, Any] = {"what": "straight lines", "seeds": seeds}
    row["chosen no law"] = sum(each.favourite == NO_LAW for each in found)
    row["most nats of any law"] = round(max(max(each.laws.values()) for each in found), 1)
    append("identify", row | {"seconds of processor": round(time.process_time() - started, 1)})


def judge(name: str, law: Kind, data: Trajectories) -> None:
    started = time.process_time()
    found = evidence_of(data, PROTOCOL, NEAREST)
    first = sorted(found.laws, key=lambda kind: -found.laws[kind])[:SHOWN]
    row: dict[str, Any] = {
        "what": name,
        "true": str(law) or "no law",
        "chosen": str(found.favourite) or "no law",
    }
    row["found"] = found.favourite == law
    row["nats"] = {str(kind): round(found.laws[kind], 1) for kind in first}
    append("identify", row | {"seconds of processor": round(time.process_time() - started, 1)})


def recording(name: str) -> None:
    """Interpreter and import included; compiled programs are those that are kept."""
    data = cm.datasets.load(name)
    found = cm.identify(data, say=print)
    print(found)
    row: dict[str, Any] = {"what": name, "chosen": found.chosen.structure.name}
    row["CRPS"] = {each.structure.name: round(each.crps, 4) for each in found.trials}
    row["CRPS, straight line"] = round(
        found.chosen.evaluation.scores["constant velocity"].mean("crps"), 4
    )
    assert found.evidence is not None
    row["nats of the favourite"] = round(max(found.evidence.laws.values()), 1)
    append("identify", row | {"seconds of processor": round(time.process_time(), 1)})


def noisy(clean: Trajectories, seed: int = 0) -> Trajectories:
    """Positions alone, as a camera would see them."""
    d = clean.spatial
    positions = clean.values[..., :d]
    noise = NOISE * np.random.default_rng(seed).standard_normal(positions.shape)
    return Trajectories.from_arrays(positions + noise, clean.times, features=clean.features[:d])


def agents(name: str, **sizes: int) -> Callable[[], Trajectories]:
    return lambda: noisy(cm.simulate.agents(name, velocities=False, seed=1, **sizes))


def overdamped() -> Trajectories:
    """Places change by a pull towards those who are near and by independent pushes."""
    rng = np.random.default_rng(1)
    x = np.empty((12, 40, 5, 2))
    x[:, 0] = 2 * rng.normal(size=(12, 5, 2))
    for n in range(1, 40):
        gaps = x[:, n - 1, None] - x[:, n - 1, :, None]
        pull = (gaps * np.exp(-np.linalg.norm(gaps, axis=-1, keepdims=True))).sum(axis=2)
        x[:, n] = x[:, n - 1] + 0.1 * pull + 0.02 * rng.normal(size=(12, 5, 2))
    return noisy(Trajectories.from_arrays(x, 0.1 * np.arange(40)))


def pushed(force: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[], Trajectories]:
    """Accelerations of this law and independent pushes of velocities."""

    def world() -> Trajectories:
        rng, step, path = np.random.default_rng(1), 0.05, []
        x, v = rng.normal(size=(2, 12, 5, 2))
        for _ in range(60):
            path.append(x)
            v = v + step * force(x, v) + 0.02 * rng.normal(size=v.shape)
            x = x + step * v
        return noisy(Trajectories.from_arrays(np.stack(path, axis=1), step * np.arange(60)))

    return world


def to_the_middle(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Each for itself in a bowl: where it is decides how it moves."""
    return -x + 0 * v


def drawn_ahead(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Everyone is drawn to those ahead of it, who do not care: nothing here is mutual."""
    gaps = x[:, None] - x[:, :, None]
    ahead = np.einsum("pabd,pad->pab", gaps, v) > 0
    near = np.exp(-np.sum(gaps**2, axis=-1))
    speed = np.linalg.norm(v, axis=-1, keepdims=True)
    return 2 * (gaps * (ahead * near)[..., None]).sum(axis=2) + (1 - speed) * v


WORLDS: dict[str, tuple[Kind, Callable[[], Trajectories]]] = {
    "a swarm": (Kind("speed", "distance"), agents("swarm", sequences=12, frames=48)),
    "a bowl": (Kind("raw"), pushed(to_the_middle)),
    "a chase": (Kind("speed", "body"), pushed(drawn_ahead)),
    "overdamped": (Kind("none", "distance", 1), overdamped),
    "springs in a box": (
        Kind("raw", "distance"),
        lambda: noisy(cm.simulate.springs(sequences=12, frames=48, seed=1)),
    ),
}


if __name__ == "__main__":
    main(tyro.cli(Options))
