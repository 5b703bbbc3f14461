"""What is predicted for one sequence: a set of draws, or a Gaussian in closed form."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import scoringrules
from jaxtyping import Float

from comotion.predict.quantiles import central_band

Cells = Float[np.ndarray, "N A O"]


class AbstractCells(ABC):
    """The prediction of every cell (frame, object, feature) of one sequence."""

    @abstractmethod
    def moments(self, draws: int | None = None) -> tuple[Cells, Cells]:
        """Mean and variance of noise-free states, of the first `draws` draws if given."""

    @abstractmethod
    def sample(self) -> Float[np.ndarray, "L N A O"]:
        """Draws of observations, noise included."""

    @abstractmethod
    def band(self, level: float) -> tuple[Cells, Cells]:
        """Lower and upper edge of the central band of observations."""

    @abstractmethod
    def crps(self, truth: Cells) -> Cells:
        """Continuous ranked probability score of each observed cell."""


@dataclass(frozen=True, eq=False)
class Ensemble(AbstractCells):
    """Draws of noise-free trajectories, and the same with observation noise."""

    trajectory: Float[np.ndarray, "L N A O"]
    observation: Float[np.ndarray, "L N A O"]

    def moments(self, draws: int | None = None) -> tuple[Cells, Cells]:
        used = self.trajectory[:draws]
        return used.mean(axis=0, dtype=np.float64), used.var(axis=0, dtype=np.float64)

    def sample(self) -> Float[np.ndarray, "L N A O"]:
        return self.observation

    def band(self, level: float) -> tuple[Cells, Cells]:
        return central_band(self._sorted, level)

    def crps(self, truth: Cells) -> Cells:
        # "pwm" is the fair estimator at the cost of a sort: its mean does not depend on how many
        # draws there are, so it may stand beside the closed form of a Gaussian.
        score = scoringrules.crps_ensemble(
            truth, self._sorted.astype(np.float64), m_axis=0, estimator="pwm", sorted_ensemble=True
        )
        return np.asarray(score)

    @cached_property
    def _sorted(self) -> Float[np.ndarray, "L N A O"]:
        return np.sort(self.observation, axis=0)


@dataclass(frozen=True, eq=False)
class GaussianCells(AbstractCells):
    """Independent Gaussians; `noise` holds standard normals, used only where draws are needed."""

    mean: Cells
    sd: Cells
    noise: Float[np.ndarray, "L A O"]

    def moments(self, draws: int | None = None) -> tuple[Cells, Cells]:
        return self.mean, self.sd**2

    def sample(self) -> Float[np.ndarray, "L N A O"]:
        return self.mean + self.sd * self.noise[:, None]

    def band(self, level: float) -> tuple[Cells, Cells]:
        half_width = NormalDist().inv_cdf(0.5 + level / 2) * self.sd
        return self.mean - half_width, self.mean + half_width

    def crps(self, truth: Cells) -> Cells:
        return np.asarray(scoringrules.crps_normal(truth, self.mean, self.sd))
