"""The data of a run: what is simulated, what is shown of it, and how it is divided."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from jaxtyping import Float

from comotion.data import Trajectories
from comotion.simulate import (
    add_noise,
    bouncing_balls,
    charged_particles,
    noise_sd,
)

MOTION_SEED = 0
SINGLE_BALL_SEED = 1000


@dataclass(frozen=True)
class PaperScene:
    """The motion is the same for every seed of a run; its seed decides noise and model."""

    kind: Literal["balls", "charges"] = "balls"
    objects: int = 3
    noise: str = "none"
    velocities: bool = True
    train: int = 100
    valid: int = 100
    test: int = 100
    frames: int = 100

    @property
    def title(self) -> str:
        shown = "" if self.velocities else ", velocities hidden"
        return f"{self.objects} {self.kind}, {self.noise} noise{shown}"


@dataclass(frozen=True, eq=False)
class Part:
    """Sequences as they are observed, and as they really were, velocities included."""

    seen: Trajectories
    true: Trajectories
    sd: Float[np.ndarray, " O"]
    """standard deviation of the noise of each feature of `true`"""

    def first(self, count: int) -> "Part":
        """At most so many of its sequences."""
        return Part(self.seen[:count], self.true[:count], self.sd)


@dataclass(frozen=True, eq=False)
class SceneParts:
    """The first sequences to learn from, the next to choose on, the last to be judged on."""

    train: Part
    valid: Part
    test: Part


def parts_of(scene: PaperScene, seed: int) -> SceneParts:
    total = scene.train + scene.valid + scene.test
    clean = _motion(scene.kind, scene.objects, total, scene.frames, MOTION_SEED)
    counts = (scene.train, scene.valid, scene.test)
    return SceneParts(*_observed(clean, scene, seed, counts))


def single_ball(scene: PaperScene, seed: int) -> Part:
    """As many sequences of one ball as there are to be judged on, with the scene's noise."""
    clean = _motion("balls", 1, scene.test, scene.frames, SINGLE_BALL_SEED)
    (part,) = _observed(clean, scene, seed, (scene.test,))
    return part


def _observed(
    clean: Trajectories, scene: PaperScene, seed: int, counts: tuple[int, ...]
) -> tuple[Part, ...]:
    noisy = add_noise(clean, scene.noise, seed=seed)
    shown = noisy if scene.velocities else noisy.hide_velocities()
    sd = noise_sd(clean, scene.noise)
    pairs = zip(shown.split(*counts), clean.split(*counts), strict=True)
    return tuple(Part(seen, true, sd) for seen, true in pairs)


@lru_cache(maxsize=2)
def _motion(kind: str, objects: int, sequences: int, frames: int, seed: int) -> Trajectories:
    make = bouncing_balls if kind == "balls" else charged_particles
    return make(sequences=sequences, objects=objects, frames=frames, seed=seed)
