"""Do two versions of comotion learn equally well?

    python benchmarks/versions.py --checkouts ../before .

The paper's I-GPODE and I-NODE are fitted to 100 sequences of three balls (low noise) with a quarter
of the short recipe's steps, by the code of each checkout (`git worktree add ../before COMMIT`), and
judged on the same 100 validation sequences. A row says how far the versions are apart and the
standard error of that over sequences; seeds say what training itself leaves to chance.
"""

import argparse
import dataclasses
import inspect
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SYSTEMS = ("I-GPODE", "I-NODE")
PARTS = ("train", "valid")
SHARE, DRAWS, FRAMES_SEEN = 0.25, 20, 5


def fit_and_forecast(name: str, seed: int, data: Path, out: Path) -> None:
    """By whatever comotion is first on the path: only what both versions call the same."""
    from comotion.data import Trajectories
    from comotion.systems import system
    from comotion.train import fit, recipe

    there = np.load(data)
    train, valid = (Trajectories.from_arrays(there[part], there["times"]) for part in PARTS)
    config = system(name)
    short = recipe("short", config, velocities_seen=True)
    stages = tuple(
        dataclasses.replace(stage, iterations=round(SHARE * stage.iterations))
        for stage in short.stages
    )
    plan = dataclasses.replace(short, stages=stages, calibration=0)
    whole: dict[str, Any] = (
        {"hold_out": 0.0} if "hold_out" in inspect.signature(fit).parameters else {}
    )
    begin = time.perf_counter()
    fitted = fit(train, system=config, recipe=plan, seed=seed, progress=False, **whole)
    seconds = time.perf_counter() - begin
    forecast = fitted.predict(valid, draws=DRAWS)
    drawn = {kind: forecast[kind].values for kind in ("trajectory", "observation")}
    np.savez(out, seconds=seconds, **drawn)


def compare(checkouts: list[Path], name: str, seed: int) -> None:
    import scoringrules
    from rows import append

    from comotion.simulate import bouncing_balls

    data = bouncing_balls(sequences=200, objects=3, noise="low", seed=seed)
    parts = dict(zip(PARTS, data.split(100, 100), strict=True))
    truth = parts["valid"].values[:, FRAMES_SEEN:]
    row: dict[str, Any] = {"system": name, "seed": seed}
    errors, scores = [], []
    with tempfile.TemporaryDirectory() as there:
        file, out = Path(there) / "data.npz", Path(there) / "forecast.npz"
        values = {part: some.values for part, some in parts.items()}
        np.savez(file, times=parts["train"].times, train=values["train"], valid=values["valid"])
        for checkout in checkouts:
            words = [sys.executable, __file__, "--fit", name, str(seed), str(file), str(out)]
            paths = os.environ | {"PYTHONPATH": str(checkout.resolve())}
            subprocess.run(words, check=True, env=paths, cwd=there)
            found = np.load(out)
            means, draws = (
                found[kind][:, :, FRAMES_SEEN:] for kind in ("trajectory", "observation")
            )
            errors.append(((means - truth) ** 2).mean(axis=(0, 2, 3, 4)))
            crps = scoringrules.crps_ensemble(truth, draws, m_axis=0, estimator="fair")
            scores.append(np.asarray(crps).mean(axis=(1, 2, 3)))
            row.setdefault("versions", []).append(_commit(checkout))
            row.setdefault("fit_seconds", []).append(round(float(found["seconds"])))
    for metric, each in {"mse_draws": errors, "crps": scores}.items():
        apart = each[-1] - each[0]
        row[metric] = [round(float(one.mean()), 4) for one in each]
        row[f"{metric}_apart"] = round(float(apart.mean()), 4)
        row[f"{metric}_error"] = round(float(apart.std(ddof=1) / len(apart) ** 0.5), 4)
    append("versions", row)


def _commit(checkout: Path) -> str:
    words = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", nargs=2, type=Path, default=())
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--fit", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.fit:
        name, seed, data, out = chosen.fit
        return fit_and_forecast(name, int(seed), Path(data), Path(out))
    for seed in range(chosen.seeds):
        for name in SYSTEMS:
            compare(chosen.checkouts, name, seed)
    return None


if __name__ == "__main__":
    main()
