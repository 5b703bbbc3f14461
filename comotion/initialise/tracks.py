"""What is seen of every object, and how noisy it is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from comotion.data.trajectories import Trajectories

MEDIAN_TO_SD = 1 / 0.6745
ROUNDING = 1e-4
"""Noise is at least this share of a typical step: data without any still have rounding."""


@dataclass(frozen=True)
class Tracks:
    """Positions, and velocities where they are seen; NaN where nothing is."""

    times: Float[np.ndarray, "P N"]
    positions: Float[np.ndarray, "P N A d"]
    velocities: Float[np.ndarray, "P N A d"] | None


def tracks_of(data: Trajectories) -> Tracks:
    d = data.spatial
    seen = data.values[..., d : 2 * d] if data.velocities_observed else None
    return Tracks(data.times, data.values[..., :d], seen)


@dataclass(frozen=True)
class NoiseScale:
    """Standard deviations of what is seen of positions and velocities."""

    position: float
    velocity: float | None


def noise_scale(tracks: Tracks) -> NoiseScale:
    """From medians of differences, which hardly notice jumps.

    A straight flight has no second difference, a gently curved one no third.
    """
    times, positions = by_track(tracks.times, tracks.positions)
    step = np.diff(positions, axis=1)
    typical = _median(np.linalg.norm(step, axis=-1))
    position = max(_differenced(times, positions, 3), ROUNDING * typical)
    if tracks.velocities is None:
        return NoiseScale(position, None)
    velocities = by_track(tracks.times, tracks.velocities)[1]
    velocity = _differenced(times, velocities, 1)
    floor = ROUNDING * _median(np.linalg.norm(velocities, axis=-1))
    return NoiseScale(position, max(velocity, floor))


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
