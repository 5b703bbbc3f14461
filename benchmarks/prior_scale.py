"""How large f_b is thought to be before training: as all of a rate, or as one of many messages.

    python benchmarks/prior_scale.py

The prior's scale of f_b is what one pair would need to explain the rates alone. With n others that
are heard, messages that know nothing of each other would each be smaller by √n. Fits both ways,
with the same steps, and judges forecasts of validation sequences: with the default's parts, where
the evidence of rates moves the scale, and with the paper's, where only training does.
"""

import math
import sys

import numpy as np
import scoringrules
from rows import append

import comotion as cm
from comotion.dynamics import InteractingDynamics
from comotion.functions import SparseGP
from comotion.initialise import functions

SEEDS, OBJECTS = (0, 1, 2), 10
SMALL = {"inducing_alone": 30, "inducing_pair": 50, "fourier_features": 48, "contacts": "off"}
PARTS = {
    "the default": {"system": "comotion", "iterations": 150, "windows": 32},
    "the paper's": {"system": "I-GPODE", "iterations": 400, "windows": 32},
}
as_one_pair = functions._output_sizes


def as_one_of_many(rates, part, sizes, *actors):
    scale = as_one_pair(rates, part, sizes, *actors)
    return scale / math.sqrt(OBJECTS - 1) if len(actors) == 2 else scale


def judged(fitted: cm.FittedModel, valid: cm.Trajectories) -> dict[str, object]:
    draws = fitted.predict(valid, draws=20)["observation"].values
    scores = scoringrules.crps_ensemble(valid.values, draws, m_axis=0, estimator="fair")
    dynamics = fitted.model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    f_b = dynamics.pair
    assert isinstance(f_b, SparseGP)
    return {
        "crps": round(float(np.mean(np.asarray(scores))), 4),
        "scale": [round(float(x), 3) for x in np.exp(np.asarray(f_b.log_output_scale))],
    }


def main(names: list[str]) -> None:
    for seed in SEEDS:
        data = cm.simulate.bouncing_balls(
            sequences=60, objects=OBJECTS, frames=40, noise="low", seed=seed
        )
        train, valid = data.split(40, 20)
        for name in names:
            for scale, sizes in {"pair": as_one_pair, "of many": as_one_of_many}.items():
                functions._output_sizes = sizes
                fitted = cm.fit(
                    train, valid=valid, seed=seed, progress=False, **PARTS[name], **SMALL
                )
                row = {"parts": name, "scale of": scale, "objects": OBJECTS, "seed": seed}
                append("prior_scale", row | judged(fitted, valid))


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))
