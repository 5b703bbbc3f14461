"""How often bands of a given level hold the truth."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import xarray as xr
from jaxtyping import Float

from comotion.data import Trajectories
from comotion.predict.forecast import Forecast, dataset_of
from comotion.reproduce.conventions.agreement import check_agreement, draws_of
from comotion.scoring.quantiles import central_band

LEVELS = tuple(round(0.05 * k, 2) for k in range(1, 20))


def calibration_curve(
    forecast: Forecast | xr.Dataset, data: Trajectories, levels: Sequence[float] = LEVELS
) -> xr.Dataset:
    """Share of present cells inside the central band of each level, observation noise included.

    Variables `coverage` (level) over all frames and `coverage_by_range` (range, level): the
    frames the forecast saw, then early, middle and late thirds of the rest. A range without any
    present cell is NaN.
    """
    forecast = dataset_of(forecast)
    check_agreement(forecast, data)
    inside = _count_inside(forecast, data, levels)
    cells = data.present.sum(axis=(0, 2, 3))
    ranges = frame_ranges(int(forecast.attrs["frames_seen"]), len(cells))
    return xr.Dataset(
        {
            "coverage": ("level", inside.sum(axis=1) / cells.sum()),
            "coverage_by_range": (
                ("range", "level"),
                np.stack([_share(inside[:, frames], cells[frames]) for frames in ranges.values()]),
            ),
        },
        coords={"level": list(levels), "range": list(ranges)},
    )


def frame_ranges(seen: int, frames: int) -> dict[str, slice]:
    """Names and slices of the frames seen and of the early, middle and late frames ahead."""
    edges = np.unique(np.linspace(seen, frames, 4).round().astype(int))
    ahead = [slice(int(a), int(b)) for a, b in pairwise(edges)]
    named = {f"frames {part.start + 1}–{part.stop}": part for part in ahead}
    return {f"frames 1–{seen} (seen)": slice(0, seen)} | named


def _count_inside(
    forecast: xr.Dataset, data: Trajectories, levels: Sequence[float]
) -> Float[np.ndarray, "B N"]:
    """Number of present cells inside each level's band, frame by frame."""
    draws = draws_of(forecast, "observation")
    inside = np.zeros((len(levels), data.values.shape[1]))
    for p, values in enumerate(data.values):
        ordered = np.sort(draws[:, p], axis=0)
        for k, level in enumerate(levels):
            low, high = central_band(ordered, level)
            # Comparisons with a missing value are false: it is never inside.
            inside[k] += ((low <= values) & (values <= high)).sum(axis=(1, 2))
    return inside


def _share(inside: Float[np.ndarray, "B N"], cells: np.ndarray) -> Float[np.ndarray, " B"]:
    total = cells.sum()
    return inside.sum(axis=1) / total if total else np.full(len(inside), np.nan)
