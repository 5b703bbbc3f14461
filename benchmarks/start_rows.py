"""Which rows a start should be made from: those where rates are largest, or a random choice.

    python benchmarks/start_rows.py

Choosing rows by the size of the response biases a regression: calm moments that look like the
eventful ones are left out. Starts a model both ways and judges its mean rates on noise-free
validation sequences, in units of each rate's size: over all intervals, and over the calm half.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from rows import append

import comotion as cm
from comotion.data.windows import to_dataset
from comotion.initialise import rates, regression
from comotion.initialise.linear_rates import _design, whitener
from comotion.initialise.rates import observed_paths
from comotion.systems import system
from comotion.train import recipe
from comotion.train.fit import prepare, run_config

SEEDS = (0, 1, 2)
PARTS = {"inducing_alone": 30, "inducing_pair": 50, "alone": "mirror", "contacts": "off"}


def rate_errors(fitted: cm.FittedModel, valid: cm.Trajectories) -> dict[str, float]:
    key = jax.random.key(0)
    windows = to_dataset(valid, fitted.scaling).windows
    paths = observed_paths(fitted.model, windows, properties_known=True, key=key)
    paths = paths.at(np.arange(0, paths.known.shape[0], 4))
    laws = regression.laws_of(fitted.model)
    design = jax.jit(_design)(laws, paths, whitener(laws.alone), whitener(laws.pair))
    means = [
        (f.mean * jnp.exp(f.log_output_scale)[None]).T.reshape(-1) for f in (laws.alone, laws.pair)
    ]
    predicted = np.asarray(design @ jnp.concatenate(means))
    truth = np.asarray(paths.rates)
    size = np.sqrt(np.mean(truth**2, axis=(0, 1)))
    errors = np.sum(((predicted - truth) / size) ** 2, axis=-1)
    calm = np.linalg.norm(truth / size, axis=-1)
    calm = calm <= np.median(calm)
    return {
        "all": round(float(np.sqrt(errors.mean())), 3),
        "calm": round(float(np.sqrt(errors[calm].mean())), 3),
    }


def main() -> None:
    for noise in ("none", "high"):
        for seed in SEEDS:
            make = cm.simulate.bouncing_balls
            train = make(sequences=60, frames=60, noise=noise, seed=seed)
            valid = make(sequences=90, frames=60, seed=seed)[60:]
            plan = recipe("short", system("comotion", **PARTS))
            config = run_config("comotion", dataclasses.replace(plan, pretrain=0), seed, PARTS)
            for share in (0.5, 0.0):
                rates.EVENTFUL = share
                fitted, _ = prepare(train, config, key=jax.random.key(seed))
                row = {"eventful": share, "noise": noise, "seed": seed}
                append("start_rows", row | rate_errors(fitted, valid))


if __name__ == "__main__":
    main()
