"""Whether it matters how large f_b is thought to be before anything is learned.

    python benchmarks/prior_scale.py [OBJECTS ...]

The prior's scale of f_b is what one pair would need to explain all of a rate. With n others that
are heard, each message would rather be smaller by √n, or by n if they all pull the same way. Starts
from all three and lets the evidence of the rates move the scale, as the start of a fit does.
"""

import dataclasses
import math
import sys
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rows import append

import comotion as cm
from comotion.initialise.functions import with_adapted_functions
from comotion.initialise.lengthscales import choose_by_evidence
from comotion.initialise.regression import laws_of, some_paths
from comotion.initialise.shown import look_at
from comotion.simulate.bouncing_balls import HALF_WIDTH
from comotion.train.fit import run_config, untrained

SEEDS, OBJECTS, FRAMES = (0, 1), (3, 8), 400
CROWD = 3  # in the usual box; more of them get a larger one
PARTS = {"inducing_alone": 30, "inducing_pair": 50, "contacts": "off"}


def main(counts: Sequence[int]) -> None:
    config = run_config("comotion", "short", 0, PARTS)
    for objects in counts:
        shares = {"one pair": 1.0, "√n": (objects - 1) ** -0.5, "n": 1 / (objects - 1)}
        for seed in SEEDS:
            data = cm.simulate.bouncing_balls(
                sequences=30,
                objects=objects,
                frames=40,
                noise="low",
                seed=seed,
                half_width=HALF_WIDTH * math.sqrt(objects / CROWD),
            )
            keys = jax.random.split(jax.random.key(seed), 4)
            fitted, dataset = untrained(data, config, key=keys[0])
            shown = look_at(fitted.model, dataset, config.recipe, key=keys[1])
            model = with_adapted_functions(fitted.model, shown.paths, key=keys[2])
            laws, paths = laws_of(model.dynamics), some_paths(shown.paths, key=keys[3])
            few = paths.at(np.arange(FRAMES))
            frame = float(np.median(np.diff(np.asarray(dataset.windows.times), axis=1)))
            step = fitted.model.integrator.step(frame)
            for read_off, share in shares.items():
                pair = laws.pair
                scale = pair.log_output_scale + jnp.log(jnp.asarray(share, jnp.float32))
                begun = dataclasses.replace(
                    laws, pair=eqx.tree_at(lambda f: f.log_output_scale, pair, scale)
                )
                chosen, evidence = choose_by_evidence(begun, few, step)
                row = {"objects": objects, "seed": seed, "as one of": read_off}
                row["before"] = np.exp(np.asarray(scale)).astype(float).round(3).tolist()
                found = np.exp(np.asarray(chosen.pair.log_output_scale))
                row["after"] = found.astype(float).round(3).tolist()
                row["log evidence per rate"] = round(float(evidence) / few.rates.size, 4)
                append("prior_scale", row)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or OBJECTS)
