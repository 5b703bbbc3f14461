"""The scores of one sequence: cell by cell (object, feature), then gathered frame by frame.

Every score is named with its convention:

- `..._table`: summed over the objects and features of a frame, averaged over frames and sequences
  (what the numbers in the paper's tables are);
- `..._per_object`: the same, averaged over objects instead of summed (the paper's formula);
- `..._frame`: one score for the joint vector of a frame.

Only cells where the truth is present count. A frame with missing cells is filled up to its size
when complete: the mean over its present cells times the number of cells of its living objects.
Frames without any present cell do not count; all others count the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from comotion.reproduce.conventions.predictive import AbstractCells
from comotion.scoring.energy import energy_score

VARIANCE_FLOOR = 0.01
LEVELS = (0.5, 0.9, 0.95)


@dataclass(frozen=True)
class Metric:
    """How a score is written and which way it improves."""

    label: str
    convention: str
    better: Literal["lower", "higher"] | float
    digits: int = 2

    def format(self, value: float) -> str:
        return f"{value:z.{self.digits}f}" if np.isfinite(value) else "–"


_SUM = "summed over objects and features"
_MEAN = "averaged over objects, summed over features"
_CLIMATE = "over climatology"
METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "mse_draws_table": Metric("MSE of draws (table)", f"noise-free draws, {_SUM}", "lower"),
        "mse_mean_table": Metric("MSE of mean (table)", f"mean of draws, {_SUM}", "lower"),
        "ell_table": Metric(
            "ELL (table)", f"Gaussian of the paper's few draws, variance + 0.01, {_SUM}", "higher"
        ),
        "ell_table_all_draws": Metric(
            "ELL, all draws (table)", f"Gaussian of all draws, variance + 0.01, {_SUM}", "higher"
        ),
        "mse_draws_per_object": Metric("MSE of draws (per object)", _MEAN, "lower", 3),
        "mse_mean_per_object": Metric("MSE of mean (per object)", _MEAN, "lower", 3),
        "ell_per_object": Metric("ELL (per object)", f"the paper's few draws, {_MEAN}", "higher"),
        "crps_table": Metric("CRPS (table)", f"draws with observation noise, {_SUM}", "lower"),
        "energy_score_frame": Metric(
            "energy score (frame)",
            "draws with observation noise, all objects and features of a frame jointly, "
            "each feature divided by its climatology sd",
            "lower",
        ),
        "coverage_50": Metric("coverage of 50 % band", "observation noise included", 0.5, 3),
        "coverage_90": Metric("coverage of 90 % band", "observation noise included", 0.9, 3),
        "coverage_95": Metric("coverage of 95 % band", "observation noise included", 0.95, 3),
        "width_90_relative": Metric(
            "width of 90 % band", "mean of the ratio to climatology's width", "lower", 3
        ),
        "skill_mse_mean": Metric(f"skill {_CLIMATE}, MSE of mean", "1 − ratio", "higher", 3),
        "skill_crps": Metric(f"skill {_CLIMATE}, CRPS", "1 − ratio", "higher", 3),
        "gain_ell_table": Metric(
            f"ELL gain {_CLIMATE}", f"difference, the paper's few draws, {_SUM}", "higher"
        ),
        "gain_ell_table_all_draws": Metric(
            f"ELL gain {_CLIMATE}, all draws", f"difference, {_SUM}", "higher"
        ),
    }
)

CONVENTIONS = (
    "table: summed over the objects and features of a frame, averaged over frames and sequences",
    "per object: averaged over objects instead of summed",
    "frame: all objects and features of a frame jointly, in units of climatology's sd",
    "MSE and ELL are of noise-free draws (ELL: a Gaussian with their mean and variance + 0.01); "
    "CRPS, energy score and bands include observation noise",
    "skill: 1 − score / climatology's score; gain: difference; width: ratio to climatology's",
)


def gaussian_log_density(
    value: Float[np.ndarray, "*S"], mean: Float[np.ndarray, "*S"], variance: Float[np.ndarray, "*S"]
) -> Float[np.ndarray, "*S"]:
    """log N(value; mean, variance), cell by cell."""
    return -0.5 * (np.log(2 * np.pi * variance) + (value - mean) ** 2 / variance)


def mean_of_present(
    cells: Float[np.ndarray, "N A O"], present: Bool[np.ndarray, "N A O"]
) -> Float[np.ndarray, " N"]:
    """Mean over the present cells of each frame; NaN for a frame without any."""
    count = present.sum(axis=(1, 2))
    total = np.where(present, cells, 0).sum(axis=(1, 2))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def score_frames(
    predictive: AbstractCells,
    values: Float[np.ndarray, "N A O"],
    alive: Bool[np.ndarray, "N A"],
    *,
    scale: Float[np.ndarray, " O"],
    paper_draws: int,
) -> dict[str, Float[np.ndarray, " N"]]:
    """Every score of one sequence, frame by frame; NaN where a frame has no present cell.

    `scale` is climatology's standard deviation, the unit of the scores without a unit.
    """
    present = ~np.isnan(values)
    truth = np.where(present, values, 0.0)
    mean, variance = predictive.moments()
    few_mean, few_variance = predictive.moments(paper_draws)
    objects, features = alive.sum(axis=1), values.shape[2]

    def per_object(cells):
        return features * mean_of_present(cells, present)

    mse_mean = per_object((mean - truth) ** 2)
    mse_draws = mse_mean + per_object(variance)
    ell = per_object(gaussian_log_density(truth, few_mean, few_variance + VARIANCE_FLOOR))
    ell_all = per_object(gaussian_log_density(truth, mean, variance + VARIANCE_FLOOR))
    crps = per_object(predictive.crps(truth))
    bands = {level: predictive.band(level) for level in LEVELS}
    return {
        "mse_draws_table": objects * mse_draws,
        "mse_mean_table": objects * mse_mean,
        "ell_table": objects * ell,
        "ell_table_all_draws": objects * ell_all,
        "mse_draws_per_object": mse_draws,
        "mse_mean_per_object": mse_mean,
        "ell_per_object": ell,
        "crps_table": objects * crps,
        "energy_score_frame": _energy_of_frames(predictive, truth, present, scale),
        **{
            f"coverage_{level:.0%}".rstrip("%"): mean_of_present(
                ((low <= truth) & (truth <= high)).astype(float), present
            )
            for level, (low, high) in bands.items()
        },
        "width_90_relative": _relative_width(bands[0.9], present, scale),
    }


def _relative_width(band, present, scale) -> Float[np.ndarray, " N"]:
    climatology_width = 2 * NormalDist().inv_cdf(0.95) * scale
    return mean_of_present((band[1] - band[0]) / climatology_width, present)


def _energy_of_frames(predictive, truth, present, scale) -> Float[np.ndarray, " N"]:
    # A missing cell is zero in truth and draws alike, so it adds nothing to any distance.
    weight = (present / scale).astype(np.float32)
    draws = predictive.sample().astype(np.float32) * weight  # L N A O
    observed = truth.astype(np.float32) * weight
    frames = energy_score(
        draws.reshape(*draws.shape[:2], -1),  # L N (A O)
        observed.reshape(len(observed), -1),
    )
    return np.where(present.any(axis=(1, 2)), frames.astype(np.float64), np.nan)
