"""One run: everything that decides its numbers, and an id made of that."""

import dataclasses
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from comotion.config import Recipe, SystemConfig
from comotion.reproduce.floor import floor_forecast
from comotion.reproduce.scenes import PaperScene, Part, SceneParts
from comotion.simulate.bouncing_balls import TOTAL_SPEED
from comotion.train.progress import Watcher

if TYPE_CHECKING:
    from comotion.predict import FittedModel

TRUE_DYNAMICS = "true dynamics"
OURS = "ours"
PROTOCOL = 1
"""Counted up when the same run would be scored in another way."""

Forecaster = Callable[[Part, int], xr.Dataset]
Watch = Callable[[], Watcher | None]


class AbstractSource(ABC):
    """Where forecasts come from."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def knows_single_objects(self) -> bool:
        """Whether it can say what an object does that is alone, though it never saw one."""

    @abstractmethod
    def learn(
        self, scene: PaperScene, parts: SceneParts, seed: int, folder: Path, watch: Watch
    ) -> Forecaster:
        """Forecasts part by part with so many draws; `folder` is the run's own, and only who has
        something to show asks for a watcher."""


@dataclass(frozen=True)
class Fit(AbstractSource):
    """A system, fitted to the training sequences."""

    system: SystemConfig
    recipe: Recipe

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def knows_single_objects(self) -> bool:
        return self.system.who == "interacting" and self.system.accumulation != "nonlinear"

    def learn(
        self, scene: PaperScene, parts: SceneParts, seed: int, folder: Path, watch: Watch
    ) -> Forecaster:
        fitted = _fitted(self.system, self.recipe, parts, seed, folder, watch)

        def forecast(part: Part, draws: int) -> xr.Dataset:
            return fitted.predict(part.seen, draws=draws, seed=seed, candidates=1).dataset

        return forecast


@dataclass(frozen=True)
class Ours(AbstractSource):
    """What is possible now: the default system, contacts and calibration included, which starts a
    forecast as carefully as it always does."""

    system: SystemConfig
    recipe: Recipe

    @property
    def name(self) -> str:
        return OURS

    @property
    def knows_single_objects(self) -> bool:
        return True

    def learn(
        self, scene: PaperScene, parts: SceneParts, seed: int, folder: Path, watch: Watch
    ) -> Forecaster:
        fitted = _fitted(self.system, self.recipe, parts, seed, folder, watch)

        def forecast(part: Part, draws: int) -> xr.Dataset:
            return fitted.predict(part.seen, draws=draws, seed=seed).dataset

        return forecast


def _fitted(
    system: SystemConfig, plan: Recipe, parts: SceneParts, seed: int, folder: Path, watch: Watch
) -> "FittedModel":
    from comotion.train import fit

    return fit(
        parts.train.seen,
        system=system,
        hold_out=0.0,
        recipe=plan,
        seed=seed,
        out=folder,
        resume=True,
        progress=False,
        watcher=watch(),
    )


@dataclass(frozen=True)
class Truth(AbstractSource):
    """The law itself, which nobody has to learn, from the same few noisy frames."""

    encoder_frames: int = 5
    speed: float = TOTAL_SPEED
    """typical norm of all velocities of a sequence together"""

    @property
    def name(self) -> str:
        return TRUE_DYNAMICS

    @property
    def knows_single_objects(self) -> bool:
        return True

    def learn(
        self, scene: PaperScene, parts: SceneParts, seed: int, folder: Path, watch: Watch
    ) -> Forecaster:
        return lambda part, draws: floor_forecast(
            scene,
            part,
            parts.train.seen,
            frames=self.encoder_frames,
            draws=draws,
            seed=seed,
            speed=self.speed,
        )


@dataclass(frozen=True)
class Run:
    """A source of forecasts, what it is judged on, and a seed for noise, model and draws."""

    source: AbstractSource
    scene: PaperScene
    seed: int
    scale: str
    draws: int

    @property
    def id(self) -> str:
        content = json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        return f"{self.source.name}, {self.scene.title}, seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        fields = dataclasses.asdict(self)
        return _plain(fields | {"name": self.source.name, "protocol": PROTOCOL})


def _plain(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return "inf" if value == float("inf") else value
