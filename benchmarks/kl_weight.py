"""How much KL[q(U) ‖ p(U)] should weigh against windows of h of N frames.

    python benchmarks/kl_weight.py

Eq. (6) counts every frame once. A batch of windows scaled up to one window per sequence counts only
h of N frames, so the divergence of the functions weighs N/h times too much; scaled up to N/h
windows per sequence it weighs as in Eq. (6). Fits both ways, with the same steps, and judges
forecasts of validation sequences.
"""

import dataclasses

import jax
import numpy as np
import scoringrules
from rows import append

import comotion as cm
from comotion.model import evidence_bound
from comotion.systems import system
from comotion.train import fit, recipe, step

SEEDS = (0, 1, 2)
FRAMES, STEPS, WINDOWS = 60, 150, 48
PARTS = {"inducing_alone": 30, "inducing_pair": 50, "fourier_features": 48, "alone": "mirror"}
PARTS |= {"contacts": "off"}


def judged(fitted: cm.FittedModel, valid: cm.Trajectories) -> dict[str, float]:
    draws = fitted.predict(valid, draws=20)["observation"].values
    scores = scoringrules.crps_ensemble(valid.values, draws, m_axis=0, estimator="fair")
    low, high = np.quantile(draws, [0.025, 0.975], axis=0, method="weibull")
    inside = np.mean((low <= valid.values) & (valid.values <= high))
    return {
        "crps": round(float(np.mean(np.asarray(scores))), 4),
        "in band": round(float(inside), 3),
    }


def scaled(factor: float):
    """The bound with a batch scaled up to so many windows per sequence."""

    def bound(model, batch, sequences, **settings):
        return evidence_bound(model, batch, factor * sequences, **settings)

    return bound


def main() -> None:
    for seed in SEEDS:
        data = cm.simulate.bouncing_balls(sequences=90, frames=FRAMES, noise="low", seed=seed)
        train, valid = data.split(60, 30)
        short = recipe("short", system("comotion", **PARTS))
        (stage,) = short.stages
        plan = dataclasses.replace(
            short,
            stages=(dataclasses.replace(stage, iterations=STEPS),),
            windows=WINDOWS,
            calibration=30,
        )
        for weight, factor in {"N/h too much": 1.0, "Eq. (6)": FRAMES / stage.horizon}.items():
            jax.clear_caches()  # a step is compiled with the bound it was traced with
            step.evidence_bound = scaled(factor)
            fitted = fit(train, valid=valid, recipe=plan, seed=seed, progress=False, **PARTS)
            append("kl_weight", {"weight": weight, "seed": seed} | judged(fitted, valid))


if __name__ == "__main__":
    main()
