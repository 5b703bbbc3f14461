"""Named ways to train."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from comotion.config import Recipe, Stage, SystemConfig, from_dict, replace, to_dict
from comotion.errors import BadInput


def paper(system: SystemConfig) -> Recipe:
    """As published: three rounds, 50 000 iterations, learning rates by function type."""
    rate = 1e-4 if system.function == "bnn" else 5e-4
    rounds = ((5, 25_000), (16, 12_500), (33, 12_500))
    return Recipe(
        name="paper",
        stages=tuple(Stage(horizon, iterations, rate) for horizon, iterations in rounds),
    )


def short(system: SystemConfig) -> Recipe:
    """For people: a start from the data, then a few hundred large steps that die away.

    The tolerance keeps the bound of long windows smooth where a start knows little; calibration
    then says how much more is open than the posterior of the functions. Networks, and functions of
    raw pairs, know less at the start and take more steps, each on fewer windows: many steps buy
    more than large ones for the same time. What begins at the last frame seen learns from `now`.
    """
    if system.encoder == "filter":
        return now(system)
    kind = kind_of(system)
    raw = kind == "raw pairs"
    # Where velocities are hidden nothing but a regression knows them.
    regressed = not raw or system.hidden_velocity
    rounds, windows = ROUNDS[kind]
    rate = 2e-3 if kind == "network" else 1e-2
    sure = kind == "closed form"  # a start that needs no care
    return Recipe(
        name="short",
        stages=tuple(Stage(horizon, count, rate, decay="cosine") for horizon, count in rounds),
        windows=windows,
        regression=regressed,
        pretrain=300 if regressed else 0,
        find_properties=True,
        clip=1.0,
        kernel_rate=0.1 if regressed and not sure else 1.0,
        tolerance=0.0 if raw or sure else 0.05,
        velocity_tolerance=0.0 if raw or sure else 0.2,
        calibration=100,
    )


Kind = Literal["network", "raw pairs", "closed form", "process"]
ROUNDS: dict[Kind, tuple[tuple[tuple[int, int], ...], int]] = {
    "network": (((5, 600), (16, 400), (33, 200)), 32),
    "raw pairs": (((16, 500), (33, 4000)), 48),
    "closed form": (((16, 300),), 100),
    "process": (((5, 250), (16, 150), (33, 100)), 100),
}
"""Horizons with the iterations at each, and windows per iteration."""


def kind_of(system: SystemConfig) -> Kind:
    """What the functions are, by how much a start from the data can know about them.

    Fitting rates leads astray where f_b sees raw pairs: six inputs let it explain single frames so
    well, and so surely, that long windows never undo it.
    """
    if system.function != "gp":
        return "network"
    summed = system.who == "interacting" and system.accumulation == "sum"
    if summed and system.pair == "relative":
        return "raw pairs"
    return "closed form" if summed and system.properties != "inferred" else "process"


def now(system: SystemConfig, horizon: int = 12, steps: int | None = None) -> Recipe:
    """For forecasts from the last frame seen: a start from the data, then the score of forecasts.

    A law of its own wants more steps than the sizes of noise.
    """
    if steps is None:
        steps = 300 if (system.alone, system.pair) == ("none", "none") else 500
    return Recipe(
        name="now",
        stages=(Stage(horizon, steps, 2e-2, decay="cosine", objective="score"),),
        windows=24,
        draws=8,
        regression=True,
        clip=1.0,
        kernel_rate=0.1,
    )


def changed(plan: Recipe, wishes: Mapping[str, Any]) -> Recipe:
    """With other fields, and `iterations` in all, shared by the rounds as before; `effort` "best"
    takes three times as many."""
    total = sum(stage.iterations for stage in plan.stages)
    effort, wanted = wishes.get("effort", "quick"), wishes.get("iterations", total)
    if effort not in EFFORTS:
        raise BadInput(f"effort={effort!r}: choose one of {', '.join(EFFORTS)}")
    if not isinstance(wanted, int) or wanted < 1:
        raise BadInput(f"iterations={wanted!r}: give a whole number, 1 or more")
    own = {name: value for name, value in wishes.items() if name not in ("effort", "iterations")}
    fields = to_dict(plan) | own
    share = EFFORTS[effort] * wanted / total
    ends = np.rint(np.cumsum([0, *(stage.iterations for stage in plan.stages)]) * share)
    for stage, count in zip(fields["stages"], np.diff(ends), strict=True):
        stage["iterations"] = int(count)
    return from_dict(Recipe, fields, where="recipe")


EFFORTS = {"quick": 1, "best": 3}
"""How many times the recipe's iterations."""
WISHES = {field.name for field in dataclasses.fields(Recipe)} - {"name", "stages"}
WISHES |= {"iterations", "effort"}
"""What can be changed about a recipe beside its rounds."""

RECIPES = {"paper": paper, "short": short, "now": now}


def recipe(name: str, system: SystemConfig, *, velocities_seen: bool = False) -> Recipe:
    """With `velocities_seen` it does not matter that the system would allow for hidden ones."""
    if name not in RECIPES:
        raise BadInput(f"there is no recipe '{name}': choose one of {', '.join(RECIPES)}")
    return RECIPES[name](replace(system, hidden_velocity=False) if velocities_seen else system)
