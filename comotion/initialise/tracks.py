"""What is seen of every object, and how noisy it is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from comotion.data.trajectories import Trajectories
from comotion.data.windows import Dataset

MEDIAN_TO_SD = 1 / 0.6745  # of normal numbers
ROUNDING = 1e-4
"""Noise is at least this share of a typical step: data without any still have rounding."""


@dataclass(frozen=True)
class Tracks:
    """Positions, and velocities where they are seen; NaN where nothing is."""

    times: Float[np.ndarray, "P N"]
    positions: Float[np.ndarray, "P N A d"]
    velocities: Float[np.ndarray, "P N A d"] | None

    def __getitem__(self, some: slice) -> "Tracks":
        """Of some sequences."""
        parts = self.times, self.positions, self.velocities
        times, positions, velocities = (None if p is None else p[some] for p in parts)
        assert times is not None
        assert positions is not None
        return Tracks(times, positions, velocities)


def tracks_of(data: Trajectories) -> Tracks:
    d = data.spatial
    seen = data.values[..., d : 2 * d] if data.velocities_observed else None
    return Tracks(data.times, data.values[..., :d], seen)


@dataclass(frozen=True)
class NoiseScale:
    """Standard deviations of what is seen of positions and velocities."""

    position: float
    velocity: float | None

    def at_least(self, other: "NoiseScale") -> "NoiseScale":
        if self.velocity is None or other.velocity is None:
            return NoiseScale(max(self.position, other.position), None)
        return NoiseScale(max(self.position, other.position), max(self.velocity, other.velocity))


def share_of_motion(tracks: Tracks, steps: float, speeds: float) -> NoiseScale:
    """Of a typical step from frame to frame, and of a typical speed."""
    _, positions = by_track(tracks.times, tracks.positions)
    step = _median(np.linalg.norm(np.diff(positions, axis=1), axis=-1))
    if tracks.velocities is None:
        return NoiseScale(steps * step, None)
    speed = _median(np.linalg.norm(by_track(tracks.times, tracks.velocities)[1], axis=-1))
    return NoiseScale(steps * step, speeds * speed)


def noise_scale(tracks: Tracks) -> NoiseScale:
    """From medians of differences, which hardly notice jumps.

    A straight flight has no second difference, a gently curved one no third.
    """
    least = share_of_motion(tracks, ROUNDING, ROUNDING)
    position = _differenced(*by_track(tracks.times, tracks.positions), 3)
    if tracks.velocities is None:
        return NoiseScale(position, None).at_least(least)
    velocity = _differenced(*by_track(tracks.times, tracks.velocities), 1)
    return NoiseScale(position, velocity).at_least(least)


def _differenced(
    times: Float[np.ndarray, "T N"], values: Float[np.ndarray, "T N d"], order: int
) -> float:
    """Size of the differences of this order, divided so that white noise keeps its own."""
    count = times.shape[1] - order
    if count < 1:
        return 0.0
    t = np.stack([times[:, k : k + count] for k in range(order + 1)])  # order+1, T, count
    apart = t[:, None] - t[None] + np.eye(order + 1)[..., None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = 1 / np.prod(apart, axis=1)
        weights = weights / np.linalg.norm(weights, axis=0)
    shifted = np.stack([values[:, k : k + count] for k in range(order + 1)])
    return _median(np.abs(np.einsum("ktn,ktnd->tnd", weights, shifted))) * MEDIAN_TO_SD


def _median(values: np.ndarray) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there)) if there.size else 0.0


def by_track(
    times: Float[np.ndarray, "P N"], values: Float[np.ndarray, "P N A d"]
) -> tuple[Float[np.ndarray, "T N"], Float[np.ndarray, "T N d"]]:
    """One row for each object of each sequence."""
    objects = values.shape[2]
    rows = np.moveaxis(values, 2, 1).reshape(-1, values.shape[1], values.shape[3])
    return np.repeat(times, objects, axis=0), rows


def tracks_of_windows(dataset: Dataset, spatial: int) -> Tracks:
    windows, lengths = dataset.windows, np.asarray(dataset.lengths)
    values = np.where(windows.present, np.asarray(windows.values, float), np.nan)
    times = np.asarray(windows.times, float)
    times = np.where(np.arange(times.shape[1])[None] < lengths[:, None], times, np.nan)
    seen = values[..., spatial : 2 * spatial] if values.shape[-1] >= 2 * spatial else None
    return Tracks(times, values[..., :spatial], seen)
