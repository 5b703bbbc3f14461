"""Tracks: one axis of one object each, as the Kalman filters read them."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion.data import Trajectories
from comotion.scoring.rolling import Origins

PIECE = 64
MOST_PIECES = 1000


class KalmanTracks(NamedTuple):
    """One axis of one object each, in units of a median step and a median time between frames.

    The last axis is over tracks, where the compiler vectorises. `steps` holds the different times
    between frames and `which` the one before each frame: few, so each is worked out once.
    """

    values: Float[Array, "F m n"]  # position, and velocity where it is measured
    present: Bool[Array, "F m n"]
    steps: Float[Array, " u"]
    which: Int[Array, "F n"]


class TrackUnits(NamedTuple):
    """The median distance and the median time between neighbouring frames."""

    length: float
    time: float


def units_of(data: Trajectories) -> TrackUnits:
    steps = np.linalg.norm(np.diff(data.values[..., : data.spatial or None], axis=1), axis=-1)
    length, time = float(np.nanmedian(steps)), float(np.nanmedian(np.diff(data.times, axis=1)))
    # Where most objects rest most of the time, the mean step is still a scale.
    return TrackUnits(length or float(np.nanmean(steps)) or 1.0, time)


def rms_speed(tracks: KalmanTracks) -> float:
    """Of neighbouring frames that both have a position."""
    both = np.asarray(tracks.present[1:, 0] & tracks.present[:-1, 0])
    change = np.diff(np.asarray(tracks.values[:, 0]), axis=0)[both]
    elapsed = np.asarray(tracks.steps)[np.asarray(tracks.which[1:])[both]]
    return float(np.sqrt(((change / elapsed) ** 2).mean())) if both.any() else 1.0


def pieces(data: Trajectories, units: TrackUnits) -> KalmanTracks:
    """Every object from its entry to its exit, cut into pieces of at most `PIECE` frames.

    Of very many pieces some are taken, evenly over the data.
    """
    size, last = min(PIECE, data.values.shape[1]), data.values.shape[1] - 1
    cuts = np.array(_cuts(data, size))
    cuts = cuts[np.linspace(0, len(cuts) - 1, min(len(cuts), MOST_PIECES)).astype(int)]
    p, a, begin, end = (column[:, None] for column in cuts.T)
    frames = begin + np.arange(size)
    inside = frames < end
    frames = np.minimum(frames, last)
    values = np.where(inside[..., None], data.values[p, frames, a], np.nan)
    times = np.where(inside, data.times[p, frames], np.nan)
    axes = data.spatial or len(data.features)
    return tracks_of_rows(values, times, axes, data.velocities_observed, units)


def at_origins(
    origins: Origins, start: Float[np.ndarray, "R d"], units: TrackUnits
) -> KalmanTracks:
    """The frames seen, relative to `start`, then frames to forecast without a measurement."""
    d = len(origins.coordinates)
    hidden = np.full((*origins.future.shape[:2], origins.past.shape[-1]), np.nan)
    values = np.concatenate([origins.past, hidden], axis=1)
    values[..., :d] -= start[:, None]
    times = np.concatenate([origins.past_times, origins.leads], axis=1)
    return tracks_of_rows(values, times, d, origins.windows.velocities_observed, units)


def rows(cells: Float[Array, "F n"], shape: tuple[int, ...]) -> Float[np.ndarray, "R H d"]:
    """The last frames of the tracks of `at_origins`, axes together again."""
    R, H, d = shape
    return np.asarray(cells)[-H:].reshape(H, R, d).swapaxes(0, 1)


def _cuts(data: Trajectories, size: int) -> list[tuple[int, int, int, int]]:
    alive = data.alive
    entry, frames = alive.argmax(axis=1), alive.sum(axis=1)
    ends = (entry + frames).tolist()
    return [
        (p, a, begin, min(begin + size, ends[p][a]))
        for p, a in np.argwhere(frames > 0).tolist()
        for begin in range(int(entry[p, a]), ends[p][a], size)
    ]


def tracks_of_rows(
    values: Float[np.ndarray, "R F O"],
    times: Float[np.ndarray, "R F"],
    axes: int,
    velocities: bool,
    units: TrackUnits,
) -> KalmanTracks:
    """Of one object each, in the data's units; NaN where nothing is measured."""
    measured = [values[..., :axes] / units.length]
    if velocities:
        measured.append(values[..., axes : 2 * axes] * units.time / units.length)
    kinds = np.stack(measured)  # m R F d
    kinds = np.moveaxis(kinds, 2, 0)  # F m R d
    flat = kinds.reshape(*kinds.shape[:2], -1)
    gaps = np.diff(times / units.time, axis=1, prepend=0.0)
    gaps[:, 0] = 0.0
    # Padding has no time: nothing is measured there, so any step will do.
    steps, which = np.unique(np.round(np.nan_to_num(gaps), 9), return_inverse=True)
    return KalmanTracks(
        values=jnp.asarray(np.nan_to_num(flat)),
        present=jnp.asarray(~np.isnan(flat)),
        steps=jnp.asarray(steps),
        which=jnp.asarray(which.reshape(gaps.shape).T.repeat(axes, axis=1)),
    )
