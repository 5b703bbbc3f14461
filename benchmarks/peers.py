"""Beside other tools: `python benchmarks/peers.py [NAME …] [--python PATH]`, then `--page`.

A small system whose law is known (five agents of a swarm, seen as noisy positions) is learned by
each tool in a process of its own, on one core, and forecast from five frames. What a user of each
writes stands in `benchmarks/peer_learners`; `--python` is an interpreter that has the tools, and
one that is not there is skipped with a word. Learners that have a row are left out.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rows import append, read, write_between

import comotion as cm
from comotion.scoring import ConstantVelocity, OUAcceleration, Protocol, roll
from comotion.scoring.distributions import AbstractPredictive, SampledPaths
from comotion.scoring.rolling import Origins

HERE = Path(__file__).parent
LEARNERS = HERE / "peer_learners"
PAGE = HERE.parent / "docs" / "peers.md"
PEERS = {
    "comotion": "ours",
    "comotion, started by Gauss-Newton through the solver": "ours shooting",
    "PySINDy, told the candidate forces": "sindy",
    "SVGP on finite differences (GPyTorch)": "svgp",
    "neural ODE (torchdiffeq)": "node",
}
REFERENCES = {"constant velocity": ConstantVelocity, "Kalman filter": OUAcceleration}
SEQUENCES, OBJECTS, NOISE = (60, 20), 5, 0.01
PROTOCOL = Protocol(5, 75, stride=75)
LEADS = (10, 30, 75)
MISSING = "ModuleNotFoundError: "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PEERS.values())}; default: all")
    parser.add_argument("--python", default=sys.executable, help="has the tools of the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", action="store_true", help="write docs/peers.md and stop")
    chosen = parser.parse_args()
    if not chosen.page:
        measure(chosen.names or list(PEERS.values()), chosen.python, chosen.seed)
    write_between(PAGE, "peers", table(read("peers")))


def measure(names: list[str], python: str, seed: int) -> None:
    train, test = world(seed)
    origins = roll(test, PROTOCOL)
    done = {(row["name"], row["seed"]) for row in read("peers")}
    straight = ConstantVelocity.fit(train, PROTOCOL).forecast(origins)
    for title, kind in REFERENCES.items():
        if (title, seed) not in done:
            begun = time.perf_counter()
            found = kind.fit(train, PROTOCOL).forecast(origins)
            about = {"name": title, "seed": seed, "seconds": time.perf_counter() - begun}
            tell(about, scores(found, straight, origins))
    for title, name in PEERS.items():
        if name in names and (title, seed) not in done:
            interpreter = sys.executable if name.startswith("ours") else python
            draws, about = learned(name, interpreter, train, origins)
            if draws is None:
                print(f"{title}: skipped, {about['reason']}")
                continue
            rows = draws[:, origins.origin, :, origins.slot].swapaxes(0, 1)  # (L, R, H, d)
            tell(
                {"name": title, "seed": seed} | about, scores(SampledPaths(rows), straight, origins)
            )


def world(seed: int) -> tuple[cm.Trajectories, cm.Trajectories]:
    clean = cm.simulate.agents(
        "swarm", sequences=sum(SEQUENCES), objects=OBJECTS, velocities=False, seed=seed
    )
    noise = NOISE * np.random.default_rng(seed).standard_normal(clean.values.shape)
    train, test = replace(clean, values=clean.values + noise).split(*SEQUENCES)
    return train, test


def learned(
    name: str, python: str, train: cm.Trajectories, origins: Origins
) -> tuple[np.ndarray | None, dict[str, Any]]:
    """Draws of all windows at all leads, and what they took; None if the tool is not there."""
    script, *more = name.split()
    script = LEARNERS / f"{script}.py"
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data.npz", Path(folder) / "draws.npz"
        seen = origins.windows.values[:, : origins.seen]
        step = float(train.times[0, 1] - train.times[0, 0])
        np.savez(data, train=train.values, seen=seen, step=step, horizon=origins.horizon)
        begun = time.perf_counter()
        words = [python, str(script), str(data), str(out), *more]
        done = subprocess.run(words, env=os.environ | one_core, capture_output=True, text=True)
        seconds = time.perf_counter() - begun
        if MISSING in done.stderr:
            return None, {"reason": done.stderr.split(MISSING)[1].strip()}
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        print(done.stdout)
        return np.load(out)["draws"], {"seconds": seconds, "lines": lines_of(script)}


def lines_of(script: Path) -> int:
    """What a user writes: lines that are no comment, no import and not empty."""
    told = script.read_text().split('"""')[2:]
    lines = [line.strip() for line in '"""'.join(told).splitlines()]
    left_out = ("#", "import ", "from ", '"""')
    return sum(bool(line) and not line.startswith(left_out) for line in lines)


def scores(
    found: AbstractPredictive, straight: AbstractPredictive, origins: Origins
) -> dict[str, Any]:
    """At some leads: the skill of the mean beside a straight line, CRPS, and what bands hold.

    Where a forecast has left all numbers, it is worth what a straight line is.
    """
    truth, at = origins.future, np.array(LEADS) - 1
    mean = found.mean
    lost = ~np.isfinite(mean)
    usual = np.mean((straight.mean - truth) ** 2, axis=(0, 2))[at]
    error = np.mean((np.where(lost, straight.mean, mean) - truth) ** 2, axis=(0, 2))[at]
    row: dict[str, Any] = {"leads": list(LEADS), "skill": short(1 - error / usual)}
    row["lost"] = float(lost.any(axis=(1, 2)).mean())
    if isinstance(found, SampledPaths) and len(found.draws) == 1:
        return row | {"crps": short(np.nanmean(np.abs(mean - truth), axis=(0, 2))[at])}
    low, high = found.band(0.9)
    held = (low <= truth) & (truth <= high)
    row["crps"] = short(found.crps(truth).mean(axis=(0, 2))[at])
    return row | {"held": short(held.mean(axis=(0, 2))[at])}


def short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.3g}") for value in values]


def tell(about: dict[str, Any], found: dict[str, Any]) -> None:
    append("peers", about | {"seconds": round(about["seconds"], 1)} | found)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each, in the order above, with the mean over seeds."""
    lines = [
        f"| {OBJECTS} agents, {SEQUENCES[0]} sequences | skill after "
        + ", ".join(str(lead) for lead in LEADS)
        + " frames | CRPS | 90 % band holds | seconds | lines |",
        "|:--|:--|:--|:--|--:|--:|",
    ]
    for name in (*REFERENCES, *PEERS):
        mine = [row for row in rows if row["name"] == name]
        if not mine:
            continue
        cells = [_mean(mine, "skill", 2), _mean(mine, "crps", 3), _mean(mine, "held", 2)]
        seconds = np.mean([row["seconds"] for row in mine])
        lines.append(
            f"| {name} | {' | '.join(cells)} | {seconds:.0f} | {mine[-1].get('lines', '')} |"
        )
    return lines


def _mean(rows: list[dict[str, Any]], key: str, digits: int) -> str:
    if key not in rows[0]:
        return "none"
    return ", ".join(f"{value:.{digits}f}" for value in np.mean([row[key] for row in rows], axis=0))


if __name__ == "__main__":
    main()
