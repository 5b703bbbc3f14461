"""Does f_s alone know what one ball does? `python benchmarks/disentangle.py --help`

A system is fitted to 100 sequences of three balls, or read from a model file, and forecasts 100
sequences of a single ball, for which the interaction f_b is never asked: the supplement's table
on disentanglement. One row per length, with the references and the paper's figures beside it.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import tyro
from rows import append

import comotion as cm
from comotion.cli.demo import DEMO_SYSTEM
from comotion.config import Recipe
from comotion.predict import FittedModel
from comotion.reproduce.conventions import paper_scores
from comotion.train.fit import run_config

LENGTHS = (10, 33, 100)
SEQUENCES = 100
TEST_SEED = 1000  # not a seed to train with
PAPER = {
    "I-GPODE": {10: (0.21, -2.37), 33: (0.59, -4.09), 100: (9.84, -17.58)},
    "I-NODE": {10: (0.14, -1.09), 33: (2.90, -130.33), 100: (10.64, -443.05)},
    "I-BNODE": {10: (0.61, -12.03), 33: (2.39, -23.11), 100: (11.22, -37.05)},
}
"""MSE and ELL as printed, mean over five runs; the table says GPODE, NODE and BNODE."""


@dataclass(frozen=True)
class Options:
    """Fit a system to three balls, or read a model file, and judge its f_s on one ball."""

    model: Path | None = None
    """a model file; it must have been fitted to three balls with these `noise` and `seed`"""
    system: str = "demo"
    """name of a system, or "demo" for the parts of `make demo`"""
    recipe: str = "short"
    iterations: tuple[int, ...] = ()
    """iterations of each stage of the recipe, if other than its own"""
    noise: str = "none"
    """of the training and of the test sequences"""
    seed: int = 0
    draws: int = 100


def fitted(options: Options) -> FittedModel:
    if options.model is not None:
        return cm.load(options.model)
    parts = (
        DEMO_SYSTEM | {"contacts": "off"}
        if options.system == "demo"
        else {"system": options.system}
    )
    config = run_config(parts.pop("system"), options.recipe, options.seed, parts)
    recipe = with_iterations(config.recipe, options.iterations)
    balls = cm.simulate.bouncing_balls(
        sequences=SEQUENCES, objects=3, noise=options.noise, seed=options.seed
    )
    return cm.fit(balls, system=config.system, recipe=recipe, hold_out=0.0, seed=options.seed)


def with_iterations(recipe: Recipe, iterations: tuple[int, ...]) -> Recipe:
    if not iterations:
        return recipe
    pairs = zip(recipe.stages, iterations, strict=True)
    stages = tuple(replace(stage, iterations=count) for stage, count in pairs)
    return replace(recipe, stages=stages)


def judge(model: FittedModel, frames: int, options: Options) -> None:
    balls = cm.simulate.bouncing_balls(
        sequences=SEQUENCES, objects=1, frames=frames, noise=options.noise, seed=TEST_SEED
    )
    scores = paper_scores(model.predict(balls, draws=options.draws), balls)
    recipe = model.config.recipe
    row = {
        "system": model.system,
        "parts": options.system if options.model is None else str(options.model.name),
        "recipe": recipe.name,
        "iterations": [stage.iterations for stage in recipe.stages],
        "noise": options.noise,
        "seed": model.config.seed,
        "frames": frames,
        "draws": options.draws,
        "mse_draws_table": round(scores["mse_draws_table"], 3),
        "mse_mean_table": round(scores["mse_mean_table"], 3),
        "ell_table": round(scores["ell_table"], 2),
        "ell_table_all_draws": round(scores["ell_table_all_draws"], 2),
    }
    for reference in ("climatology", "constant velocity"):
        of_reference = scores.rows[reference]
        row[f"mse_mean_table of {reference}"] = round(of_reference["mse_mean_table"], 3)
        row[f"ell_table of {reference}"] = round(of_reference["ell_table"], 2)
    for name, lengths in PAPER.items():
        mse, ell = lengths[frames]
        row[f"paper's {name}"] = {"mse_draws_table": mse, "ell_table": ell}
    append("disentangle", row)


if __name__ == "__main__":
    chosen = tyro.cli(Options)
    learned = fitted(chosen)
    for length in LENGTHS:
        judge(learned, length, chosen)
