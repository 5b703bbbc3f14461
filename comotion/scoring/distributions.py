"""What is predicted at rolling origins: a Gaussian in closed form, draws, or quantiles.

All answer for every row (an object at an origin), lead and coordinate; see `rolling.Origins`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import scoringrules
from jaxtyping import Float
from scipy.special import gammaln

from comotion.predict.quantiles import RULE

Cells = Float[np.ndarray, "R H d"]
QUANTILE_POINTS = 100
TAILS = 5
"""Degrees of freedom of the kernels that stand for draws."""


class AbstractPredictive(ABC):
    """The predictive distribution of observations, measurement noise included."""

    @property
    @abstractmethod
    def mean(self) -> Cells: ...

    @abstractmethod
    def __getitem__(self, rows: slice) -> "AbstractPredictive":
        """Some of the rows."""

    @abstractmethod
    def sample(self, draws: int) -> Float[np.ndarray, "L R H d"]:
        """So many draws; the same ones each time."""

    @abstractmethod
    def crps(self, truth: Cells) -> Cells:
        """Continuous ranked probability score of each coordinate."""

    @abstractmethod
    def band(self, level: float) -> tuple[Cells, Cells]:
        """Lower and upper edge of the central band of each coordinate."""

    @abstractmethod
    def log_density(self, truth: Cells) -> Float[np.ndarray, "R H"]:
        """Joint over the coordinates of a point, in nats."""


@dataclass(frozen=True, eq=False)
class GaussianPaths(AbstractPredictive):
    """A Gaussian per row and lead, its coordinates perhaps correlated."""

    centre: Cells
    covariance: Float[np.ndarray, "R H d d"]

    @classmethod
    def independent(cls, mean: Cells, sd: Cells) -> "GaussianPaths":
        return cls(mean, sd[..., None] ** 2 * np.eye(mean.shape[-1]))

    @property
    def mean(self) -> Cells:
        return self.centre

    @property
    def sd(self) -> Cells:
        return np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))

    def __getitem__(self, rows: slice) -> "GaussianPaths":
        return GaussianPaths(self.mean[rows], self.covariance[rows])

    def sample(self, draws: int) -> Float[np.ndarray, "L R H d"]:
        R, _, d = self.mean.shape
        # One standard normal for all leads of a path: it stays on its side of the mean.
        normal = np.random.default_rng(0).standard_normal((draws, R, 1, d))
        return self.mean + np.einsum("rhij,lrkj->lrhi", np.linalg.cholesky(self.covariance), normal)

    def crps(self, truth: Cells) -> Cells:
        return np.asarray(scoringrules.crps_normal(truth, self.mean, self.sd))

    def band(self, level: float) -> tuple[Cells, Cells]:
        half_width = NormalDist().inv_cdf(0.5 + level / 2) * self.sd
        return self.mean - half_width, self.mean + half_width

    def log_density(self, truth: Cells) -> Float[np.ndarray, "R H"]:
        L = np.linalg.cholesky(self.covariance)
        return _standard_log_density(_whitened(truth - self.mean, L)) - _log_volume(L)


@dataclass(frozen=True, eq=False)
class SampledPaths(AbstractPredictive):
    """Draws of observations."""

    draws: Float[np.ndarray, "L R H d"]

    @property
    def mean(self) -> Cells:
        return self.draws.mean(axis=0, dtype=np.float64)

    def __getitem__(self, rows: slice) -> "SampledPaths":
        return SampledPaths(self.draws[:, rows])

    def sample(self, draws: int) -> Float[np.ndarray, "L R H d"]:
        return self.draws[:draws]

    def crps(self, truth: Cells) -> Cells:
        # The fair estimator: its mean does not depend on how many draws there are, so it may
        # stand beside the closed form of a Gaussian.
        return np.asarray(
            scoringrules.crps_ensemble(
                truth, self.draws.astype(np.float64), m_axis=0, estimator="pwm"
            )
        )

    def band(self, level: float) -> tuple[Cells, Cells]:
        """Quantiles at rank p (L + 1): few draws do not make bands look overconfident."""
        tail = (1 - level) / 2
        low, high = np.quantile(self.draws, [tail, 1 - tail], axis=0, method=RULE)
        return low, high

    def log_density(self, truth: Cells) -> Float[np.ndarray, "R H"]:
        """A kernel around each draw, its width by Scott's rule from their covariance.

        It has the tails of Student's t: a hundred draws say little of what is beyond them, and
        a Gaussian's would let single surprises decide the mean.
        """
        count, _, _, d = self.draws.shape
        centred = self.draws - self.mean
        covariance = np.einsum("lrhi,lrhj->rhij", centred, centred) / (count - 1)
        width = count ** (-1 / (d + 4))
        L = width * np.linalg.cholesky(covariance + _jitter(covariance))
        kernels = _student_log_density(_whitened(truth - self.draws, L))
        top = kernels.max(axis=0)
        mean = np.exp(kernels - top).mean(axis=0)
        return top + np.log(mean) - _log_volume(L)


@dataclass(frozen=True, eq=False)
class QuantilePaths(AbstractPredictive):
    """Quantiles of each coordinate by itself: nothing is known of how they go together.

    Between and beyond the levels, quantiles are linear in those of the standard normal.
    """

    levels: Float[np.ndarray, " Q"]
    values: Float[np.ndarray, "Q R H d"]

    @property
    def mean(self) -> Cells:
        return self._points.mean(axis=0)

    def __getitem__(self, rows: slice) -> "QuantilePaths":
        return QuantilePaths(self.levels, self.values[:, rows])

    def quantile(self, levels: Float[np.ndarray, " L"]) -> Float[np.ndarray, "L R H d"]:
        known, wanted = _normal_quantiles(self.levels), _normal_quantiles(levels)
        below = np.clip(np.searchsorted(known, wanted) - 1, 0, len(known) - 2)
        share = (wanted - known[below]) / (known[below + 1] - known[below])
        low, high = self.values[below], self.values[below + 1]
        return low + share[:, None, None, None] * (high - low)

    def sample(self, draws: int) -> Float[np.ndarray, "L R H d"]:
        """Coordinates and rows by chance, leads of a path together."""
        _, R, H, d = self.values.shape
        order = np.random.default_rng(0).permuted(
            np.tile(np.arange(draws)[:, None, None], (1, R, d)), axis=0
        )
        points = self.quantile((np.arange(draws) + 0.5) / draws)
        return np.take_along_axis(points, np.repeat(order[:, :, None], H, axis=2), axis=0)

    def crps(self, truth: Cells) -> Cells:
        """Twice the mean pinball loss over evenly spaced levels."""
        levels = ((np.arange(QUANTILE_POINTS) + 0.5) / QUANTILE_POINTS)[:, None, None, None]
        off = truth - self._points
        return 2 * np.mean((levels - (off < 0)) * off, axis=0)

    def band(self, level: float) -> tuple[Cells, Cells]:
        low, high = self.quantile(np.array([(1 - level) / 2, (1 + level) / 2]))
        return low, high

    def log_density(self, truth: Cells) -> Float[np.ndarray, "R H"]:
        """Of independent Gaussians with the same means and standard deviations."""
        return GaussianPaths.independent(self.mean, self._points.std(axis=0)).log_density(truth)

    @property
    def _points(self) -> Float[np.ndarray, "L R H d"]:
        return self.quantile((np.arange(QUANTILE_POINTS) + 0.5) / QUANTILE_POINTS)


def _normal_quantiles(levels: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    return np.array([NormalDist().inv_cdf(float(level)) for level in levels])


def _whitened(
    errors: Float[np.ndarray, "*S d"], L: Float[np.ndarray, "R H d d"]
) -> Float[np.ndarray, "*S d"]:
    return np.einsum("rhij,...rhj->...rhi", np.linalg.inv(L), errors)


def _standard_log_density(white: Float[np.ndarray, "*S d"]) -> Float[np.ndarray, "*S"]:
    return -0.5 * (white**2 + np.log(2 * np.pi)).sum(axis=-1)


def _student_log_density(white: Float[np.ndarray, "*S d"]) -> Float[np.ndarray, "*S"]:
    """Of a multivariate t whose scale matrix is the identity."""
    nu, d = TAILS, white.shape[-1]
    volume = gammaln((nu + d) / 2) - gammaln(nu / 2) - d / 2 * np.log(nu * np.pi)
    return volume - (nu + d) / 2 * np.log1p((white**2).sum(axis=-1) / nu)


def _log_volume(L: Float[np.ndarray, "R H d d"]) -> Float[np.ndarray, "R H"]:
    return np.log(np.diagonal(L, axis1=-2, axis2=-1)).sum(axis=-1)


def _jitter(covariance: Float[np.ndarray, "R H d d"]) -> Float[np.ndarray, "R H d d"]:
    """Draws on a line, or all the same, still have a density: a very sharp one."""
    d = covariance.shape[-1]
    size = np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] / d
    return np.where(size > 0, 1e-9 * size, 1e-18) * np.eye(d)
