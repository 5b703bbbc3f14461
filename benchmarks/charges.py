"""What is a property worth that must be inferred? `python benchmarks/charges.py`

Five charges, whose sign is given with the data, inferred from the first 49 frames, or left out;
everything else is the same. 400 training sequences of 60 frames, 100 to choose on, 100 to be
judged on.
"""

import argparse
import dataclasses
import time

from learn import correlation_with_charge, quick, scores_of
from rows import append

from comotion.backend import cache
from comotion.config import Recipe, Stage, SystemConfig
from comotion.simulate import charged_particles
from comotion.systems import FORMS, system
from comotion.train import fit

SYSTEM = "I-GPODE-S"
PARTS = {
    "pair": "radial",
    "alone": "mirror",
    "encoder": "smoother",
    "scaling": "units",
    "kernel": "matern32",
    "inducing_alone": 50,
    "inducing_pair": 100,
    "fourier_features": 128,
    "property_reading": "local",
}
TRAIN, CHOICE, TEST = 400, 100, 100
FRAMES = 60
TEACHING = 300
ROUNDS = ((5, 60), (16, 40))
CALIBRATION = 50


def measure(form: str, judge: str, seed: int) -> None:
    data = charged_particles(sequences=TRAIN + CHOICE + TEST, frames=FRAMES, seed=seed)
    train, choice, test = data.split(TRAIN, CHOICE, TEST)
    config = system(f"{SYSTEM}/{form}", **PARTS)
    plan = _plan(config)
    start = time.perf_counter()
    fitted = fit(train, system=config, recipe=plan, hold_out=0.0, seed=seed)
    seconds = round(time.perf_counter() - start)
    row = {"system": config.name, "judged_on": judge, "fit_seconds": seconds}
    shown = test if judge == "test" else choice
    scores = scores_of(fitted, shown)
    for metric in ("mse_draws_table", "mse_mean_table", "ell_table", "crps_table", "coverage_95"):
        row[metric] = round(scores[metric], 3)
    for reference in ("constant velocity", "climatology"):
        row[f"crps_table {reference}"] = round(scores.rows[reference]["crps_table"], 3)
    if config.properties == "inferred":
        row |= correlation_with_charge(fitted, shown)
    append("charges", row | {"sequences": TRAIN, "seed": seed})


def _plan(config: SystemConfig) -> Recipe:
    """Both functions have a closed form; only an encoder of properties has to be taught."""
    short = quick(config)
    rate = short.stages[0].learning_rate
    stages = tuple(Stage(horizon, steps, rate, "cosine") for horizon, steps in ROUNDS)
    teaching = TEACHING if config.properties == "inferred" else 0
    return dataclasses.replace(short, pretrain=teaching, stages=stages, calibration=CALIBRATION)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", choices=list(FORMS), help="only this one")
    parser.add_argument("--judge", choices=("choice", "test"), default="choice")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    cache.enable()
    for form in [chosen.form] if chosen.form else FORMS:
        measure(form, chosen.judge, chosen.seed)


if __name__ == "__main__":
    main()
