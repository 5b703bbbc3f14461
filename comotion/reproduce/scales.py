"""How much work a run may be: seconds, minutes, or what was published."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from comotion.config import Recipe, Stage, SystemConfig, replace
from comotion.reproduce.scenes import PaperScene
from comotion.train.recipe import Kind, changed, kind_of, recipe

PRETRAIN = 100
"""Most iterations of pretraining in a tiny run: with fewer, networks have no use at all."""
TABLE_DRAWS = 20
"""Draws behind the paper's log likelihoods."""


@dataclass(frozen=True)
class Scale:
    """Sizes of the data and the model, and how to train."""

    about: str
    sizes: Mapping[str, Mapping[str, int]]
    """of a scene, by its kind"""
    recipe: str
    draws: int = 100
    network_draws: int = TABLE_DRAWS
    """of laws that are networks, which take most of an hour for what a Gaussian process does in a
    minute: as many as the paper's log likelihoods ask for"""
    seeds: int = 5
    parts: Mapping[str, Any] = field(default_factory=dict)
    iterations: int | None = None
    """of one short round instead of the recipe's rounds"""
    shares: Mapping[Kind, float] = field(default_factory=dict)
    """of the recipe's iterations, round by round, by what the functions are; else all of them"""
    windows: Mapping[str, int] = field(default_factory=dict)
    """per iteration instead of the recipe's, by the kind of a scene"""

    def scene(self, scene: PaperScene) -> PaperScene:
        return dataclasses.replace(scene, **self.sizes[scene.kind])

    def system(self, config: SystemConfig) -> SystemConfig:
        return replace(config, **self.parts)

    def draws_of(self, config: SystemConfig) -> int:
        return min(self.draws, self.network_draws) if kind_of(config) == "network" else self.draws

    def plan(self, config: SystemConfig, scene: PaperScene) -> Recipe:
        """Uncalibrated: the paper's laws leave nothing open, and its MSE is that of draws."""
        plan = recipe(self.recipe, config, velocities_seen=scene.velocities)
        windows = self.windows.get(scene.kind, plan.windows)
        return self._cut(dataclasses.replace(plan, calibration=0, windows=windows), config, scene)

    def own_plan(self, config: SystemConfig, scene: PaperScene) -> Recipe:
        """As for anyone's data: of our own recipe, and calibrated."""
        plan = recipe("short", config, velocities_seen=scene.velocities)
        return self._cut(plan, config, scene)

    def _cut(self, plan: Recipe, config: SystemConfig, scene: PaperScene) -> Recipe:
        if self.iterations is not None:
            rate = plan.stages[0].learning_rate
            return dataclasses.replace(
                plan,
                name="tiny",
                stages=(Stage(5, self.iterations, rate),),
                pretrain=min(plan.pretrain, PRETRAIN),
                windows=self.sizes[scene.kind]["train"],
            )
        total = sum(stage.iterations for stage in plan.stages)
        share = self.shares.get(kind_of(config), 1.0)
        return changed(plan, {"iterations": round(share * total)})


_TINY = {"train": 10, "valid": 2, "test": 10, "frames": 40}
_ROUND = {"train": 100, "valid": 100, "test": 100, "frames": 100}
SCALES = {
    "smoke": Scale(
        about="seconds a run: to see that everything works, learns next to nothing",
        sizes={"balls": _TINY, "charges": _TINY},
        recipe="short",
        draws=TABLE_DRAWS,
        seeds=1,
        parts={
            "inducing_alone": 10,
            "inducing_pair": 10,
            "fourier_features": 8,
            "hidden_alone": 8,
            "hidden_pair": 8,
        },
        iterations=5,
    ),
    "quick": Scale(
        about="a minute or two a run: a quarter of the short recipe's steps, and as few draws as "
        "the paper's; charges learn from 200 sequences",
        sizes={"balls": _ROUND, "charges": _ROUND | {"train": 200}},
        recipe="short",
        shares=dict.fromkeys(get_args(Kind), 0.25),
        draws=TABLE_DRAWS,
        seeds=1,
        windows={"charges": 16},
    ),
    "fast": Scale(
        about="minutes a run: the short recipe, 100 sequences of balls or 1000 of charges",
        sizes={"balls": _ROUND, "charges": _ROUND | {"train": 1000}},
        recipe="short",
        windows={"charges": 32},  # of twenty pairs each: as much work as 100 of six
    ),
    "paper": Scale(
        about="the published schedule, 50 000 iterations a run, on the published amount of data",
        sizes={"balls": _ROUND, "charges": _ROUND | {"train": 10_000}},
        recipe="paper",
    ),
}
