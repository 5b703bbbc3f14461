"""Does every system learn? `python benchmarks/learn.py`, then `--table` for docs/systems.md.

Each named system, each form of static properties and each accumulation is fitted for 300
iterations to data it is made for, and forecasts sequences it has not seen, before and after.
Systems that have a row already are left out, so an interrupted run goes on where it was.
"""

import argparse
import dataclasses
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from charges_table import charges_section
from rows import append, read

from comotion.backend import cache
from comotion.config import Recipe, Stage, SystemConfig
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.report import Column, Table
from comotion.reproduce.conventions import Scores, paper_scores
from comotion.simulate import bouncing_balls, charged_particles
from comotion.systems import SYSTEMS, system
from comotion.train import fit, recipe
from comotion.train.fit import prepare, run_config

TRAIN, TEST = 100, 30
DRAWS = 20
HOPELESS = 1000.0  # an untrained network may fly off; digits say nothing then
ROUNDS = ((5, 200), (16, 100))
SEED = 0
PAGE = Path(__file__).parent.parent / "docs" / "systems.md"
HIDDEN = ("NODE-L", "BNODE-L", "GPODE-L", "I-NODE-L", "I-GPODE-L", "I-GPODE-L-S")
FORMS = ("without-globals", "with-globals", "globals-observed")


@dataclass(frozen=True)
class Case:
    """A system, single parts of it changed, and the data it is made for."""

    system: str
    data: str
    parts: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.system + "".join(f", {part} {value}" for part, value in self.parts.items())

    @property
    def config(self) -> SystemConfig:
        return system(self.system, **self.parts)


def cases() -> list[Case]:
    named = [Case(name, "balls, positions" if name in HIDDEN else "balls") for name in SYSTEMS]
    accumulations = [
        Case(name, "balls", {"accumulation": kind})
        for name in ("I-NODE", "I-BNODE", "I-GPODE")
        for kind in ("nonlinear", "weighted")
    ]
    forms = [Case(f"{name}/{form}", "charges") for name in ("I-NODE", "I-GPODE") for form in FORMS]
    radial = {"pair": "radial", "alone": "mirror", "encoder": "smoother", "scaling": "units"}
    return [*named, Case("I-GPODE-S", "balls", radial), *accumulations, *forms]


def scene(name: str) -> tuple[Trajectories, Trajectories]:
    count = TRAIN + TEST
    if name == "charges":
        data = charged_particles(sequences=count, frames=60, seed=SEED)
    else:
        shown = name == "balls"
        data = bouncing_balls(sequences=count, frames=40, noise="low", velocities=shown, seed=SEED)
    train, test = data.split(TRAIN, TEST)
    return train, test


def quick(config: SystemConfig) -> Recipe:
    """The rates, noise and start of the short recipe, fewer and smaller steps."""
    short = recipe("short", config)
    rate = short.stages[0].learning_rate
    stages = tuple(Stage(horizon, steps, rate, "cosine") for horizon, steps in ROUNDS)
    return dataclasses.replace(short, name="quick", stages=stages, windows=30, calibration=0)


def measure(case: Case) -> None:
    train, test = scene(case.data)
    plan = quick(case.config)
    config = run_config(case.config, plan, SEED, {})
    blank = dataclasses.replace(plan, regression=False, pretrain=0)
    cold = dataclasses.replace(config, recipe=blank)
    before, _ = prepare(train, cold, key=jax.random.key(SEED))
    start = time.perf_counter()
    after = fit(train, system=case.config, recipe=plan, hold_out=0.0, seed=SEED)
    seconds = time.perf_counter() - start
    scores = {"before": scores_of(before, test), "after": scores_of(after, test)}
    row = {"system": case.name, "data": case.data, "parameters": _parameters(after)}
    for when, found in scores.items():
        for metric in ("crps_table", "mse_mean_table", "ell_table_all_draws"):
            row[f"{metric}_{when}"] = round(found[metric], 3)
    for reference in ("constant velocity", "climatology"):
        row[f"crps_table {reference}"] = round(scores["after"].rows[reference]["crps_table"], 3)
    row["spread_of_functions"] = float(f"{_spread_of_functions(after, test):.3g}")
    if case.config.properties == "inferred":
        row |= correlation_with_charge(after, test)
    append("learn", row | {"fit_seconds": round(seconds), "seed": SEED})


def scores_of(fitted: FittedModel, test: Trajectories) -> Scores:
    return paper_scores(fitted.predict(test, draws=DRAWS), test)


def _parameters(fitted: FittedModel) -> int:
    arrays = jax.tree.leaves(eqx.filter(fitted.model.dynamics, eqx.is_inexact_array))
    return sum(array.size for array in arrays)


def _spread_of_functions(fitted: FittedModel, test: Trajectories) -> float:
    """How far forecasts under different drawn functions are apart when all else is the same.

    From pairs of draws, over all frames, in units of each state entry's own spread.
    """
    excerpts = fitted.excerpts(test)

    @eqx.filter_jit
    def follow(key: jax.Array) -> jax.Array:
        law = fitted.model.dynamics.draw(key=key)

        def one(excerpt: Any) -> jax.Array:
            beliefs = fitted.model.encode(excerpt)
            chance = jax.random.key(0)
            grid = excerpt.window.grid
            return fitted.model.draw_states(law, beliefs, excerpt, grid, key=chance)

        return jax.vmap(one)(excerpts)

    states = jnp.stack([follow(jax.random.key(draw)) for draw in range(6)])
    size = jnp.std(states, axis=(0, 1, 2, 3))
    apart = (states[1::2] - states[::2]) / size
    return float(jnp.sqrt(0.5 * jnp.mean(apart**2)))


def correlation_with_charge(fitted: FittedModel, test: Trajectories) -> dict[str, float]:
    """Of the inferred property's mean with the true charge, and what chance would give.

    Turning the signs of all charges of a sequence changes no motion, so each sequence is
    turned to agree as well as it can; chance is the same with charges of other sequences.
    """
    properties = jax.vmap(fitted.model.encode)(fitted.excerpts(test)).properties
    assert properties is not None
    inferred, charge = np.asarray(properties.mean)[..., 0], test.static[..., 0]
    return {
        "correlation_with_charge": round(_aligned_correlation(inferred, charge), 3),
        "correlation_by_chance": round(_aligned_correlation(inferred, np.roll(charge, 1, 0)), 3),
    }


def _aligned_correlation(inferred: np.ndarray, charge: np.ndarray) -> float:
    centred = inferred - inferred.mean()
    turned = centred * np.sign(np.sum(centred * charge, axis=1, keepdims=True))
    return float(np.corrcoef(turned.ravel(), charge.ravel())[0, 1])


def write_page() -> None:
    columns = (
        Column("system"),
        Column("data"),
        Column("parameters", 0),
        Column("CRPS before"),
        Column("CRPS after"),
        Column("constant velocity"),
        Column("climatology"),
        Column("ELL before", 1),
        Column("ELL after", 1),
        Column("spread of functions", 3),
        Column("fit, s", 0),
    )
    fields = ("system", "data", "parameters", "crps_table_before", "crps_table_after")
    fields += ("crps_table constant velocity", "crps_table climatology")
    fields += ("ell_table_all_draws_before", "ell_table_all_draws_after")
    fields += ("spread_of_functions", "fit_seconds")
    order = [case.name for case in cases()]
    found = sorted(read("learn"), key=lambda row: order.index(row["system"]))
    for row in found:
        if row["crps_table_before"] > HOPELESS:
            row["crps_table_before"] = f"{row['crps_table_before']:.0e}"
    table = Table("", columns, tuple(tuple(row[name] for name in fields) for row in found))
    globals_found = "; ".join(
        f"{row['system']} {row['correlation_with_charge']:.2f} "
        f"(by chance {row['correlation_by_chance']:.2f})"
        for row in found
        if "correlation_with_charge" in row
    )
    correlations = (
        "Correlation of the inferred property with the true charge, with the sign of each sequence "
        f"as it fits best: {globals_found}.\n"
        if globals_found
        else ""
    )
    PAGE.write_text(
        "# What each system learns in 300 iterations\n\n"
        "Written by `python benchmarks/learn.py --table` from `benchmarks/results/learn.jsonl`.\n\n"
        f"Each system is fitted for {sum(count for _, count in ROUNDS)} iterations to data it is "
        "made for, and forecasts sequences it has not seen, before and after. Systems without a "
        "row have not been measured yet. Several fits shared the two cores, so their times are "
        f"upper limits. {TRAIN} training and {TEST} test "
        f"sequences, seed {SEED}, {DRAWS} draws. Balls: three, "
        "40 frames, low noise, forecast from 5; charges: five, 60 frames, properties read off "
        "the first 49. CRPS and ELL are sums over objects and features, averaged over all frames; "
        "lower CRPS and higher ELL are better.\n\n"
        f"{table.to_markdown()}\n\n"
        "*Spread of functions*: how far forecasts under different drawn functions are apart with "
        "the same initial state, relative to the spread of the states: exactly zero for networks, "
        "whose draws differ through the encoder only.\n"
        f"{correlations}"
        f"{charges_section()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="write docs/systems.md and stop")
    parser.add_argument("--only", default="", help="systems whose name contains this")
    chosen = parser.parse_args()
    cache.enable()
    if not chosen.table:
        done = {row["system"] for row in read("learn")}
        for case in cases():
            if chosen.only in case.name and case.name not in done:
                measure(case)
    write_page()


if __name__ == "__main__":
    main()
