"""Learned hard contacts beside the floor of true dynamics, from the same frames.

    python benchmarks/contacts.py --noise low --seed 0
    python benchmarks/contacts.py --noise none --hidden --part test
    python benchmarks/contacts.py --noise low --objects 3 --forecast 1 --part test

Balls of the paper's experiment: learned from 100 sequences, forecast from 5 frames; with
`--forecast`, as many balls as it says, under a law that never saw so many. The floor
knows the true law and the true noise. Skill is 1 - CRPS / CRPS of climatology over all frames,
against the motion without noise. The last figure is the smallest and the largest share that the
90 % band holds in any frame after those seen.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
import rows
import scoringrules
import xarray as xr

from comotion.reproduce.floor import floor_forecast
from comotion.reproduce.scenes import PaperScene, Part, parts_of
from comotion.train import fit

DRAWS, TABLE_DRAWS, FRAMES = 100, 20, 5


def measure(scene: PaperScene, others: PaperScene, seed: int, part: str) -> None:
    parts, judged_parts = parts_of(scene, seed), parts_of(others, seed)
    judged, climate = getattr(judged_parts, part), judged_parts.train
    begun = time.perf_counter()
    fitted = fit(parts.train.seen, hold_out=0.0, seed=seed, contacts="auto")
    learned = time.perf_counter()
    forecast = fitted.predict(judged.seen, draws=DRAWS, seed=seed)
    done = time.perf_counter()
    floor = floor_forecast(others, judged, climate.seen, frames=FRAMES, draws=DRAWS, seed=seed)
    about = {"scene": others.title, "learned_from": scene.objects, "seed": seed, "part": part}
    seconds = {"fit_seconds": learned - begun, "forecast_seconds": done - learned}
    ours = scores(forecast.dataset, judged, climate)
    rows.append("contacts", {**about, "law": "learned", **ours, **seconds, "is": fitted.contacts})
    rows.append("contacts", {**about, "law": "true", **scores(floor, judged, climate)})


def scores(forecast: xr.Dataset, judged: Part, train: Part) -> dict[str, float]:
    """In the convention of the paper's tables: summed over objects and features."""
    draws = forecast["trajectory"].values.astype(float)
    shown = draws.shape[-1]
    truth, seen = judged.true.values[..., :shown], train.true.values[..., :shown]
    mean, few = draws.mean(axis=0), draws[:TABLE_DRAWS]
    variance = few.var(axis=0) + 0.01
    log_density = -0.5 * (np.log(2 * np.pi * variance) + (few.mean(0) - truth) ** 2 / variance)
    crps = scoringrules.crps_ensemble(truth, np.moveaxis(draws, 0, -1))
    moments = seen.mean(axis=(0, 1, 2)), seen.std(axis=(0, 1, 2))
    climate = scoringrules.crps_normal(truth, *moments)
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    held = ((truth >= low) & (truth <= high)).mean(axis=(0, 2, 3))[FRAMES:]
    units = moments[1]
    return {
        "mse_draws": float(((draws - truth) ** 2).sum(axis=(-1, -2)).mean()),
        "mse_mean": float(((mean - truth) ** 2).sum(axis=(-1, -2)).mean()),
        "ell_20": float(log_density.sum(axis=(-1, -2)).mean()),
        "skill": float(1 - (crps / units).mean() / (climate / units).mean()),
        "held_least": float(held.min()),
        "held_most": float(held.max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", default="low")
    parser.add_argument("--objects", type=int, default=3)
    parser.add_argument("--forecast", type=int, help="balls to forecast, if other than learned")
    parser.add_argument("--hidden", action="store_true", help="velocities are not seen")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=("valid", "test"), default="valid")
    chosen = parser.parse_args()
    scene = PaperScene(objects=chosen.objects, noise=chosen.noise, velocities=not chosen.hidden)
    others = replace(scene, objects=chosen.forecast or chosen.objects)
    measure(scene, others, chosen.seed, chosen.part)


if __name__ == "__main__":
    main()
