"""What the training data alone promise: climatology, and how fast straight lines go wrong."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from comotion.data.describe import time_steps
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

MOST_LEADS = 100
SMALLEST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class TrainingSummary:
    """Reference figures to set forecasts beside.

    `drift_sd` is the root-mean-square error of the constant-velocity forecast at each lead time.
    """

    mean: Float[np.ndarray, "O"]
    sd: Float[np.ndarray, "O"]
    lead: Float[np.ndarray, "K"]
    drift_sd: Float[np.ndarray, "K O"]


def never_zero(sd: Float[np.ndarray, "*b"]) -> Float[np.ndarray, "*b"]:
    """Spreads of which none is nothing: what never varied would make a reference infinitely sure.

    The smallest is a share of the largest, so that a change of units changes nothing.
    """
    largest = float(np.max(sd, initial=0.0))
    return np.maximum(sd, SMALLEST_SHARE * (largest if largest > 0 else 1.0))


def summarise(data: Trajectories, encoder_frames: int = 5) -> TrainingSummary:
    mean = _mean(data.values, data.present, (0, 1, 2))
    sd = np.sqrt(_mean((data.values - mean) ** 2, data.present, (0, 1, 2)))
    lead, drift_sd = _drift(data, encoder_frames)
    # A feature no straight line could be drawn for has nothing better than its climatology.
    return TrainingSummary(mean, sd, lead, np.where(np.isnan(drift_sd), sd, drift_sd))


def constant_velocity(data: Trajectories, encoder_frames: int) -> Float[np.ndarray, "P N A O"]:
    """Straight lines from the first `encoder_frames` frames of each object; NaN before its entry.

    Velocities and other features keep their mean over these frames; velocities that are hidden
    or missing are the least-squares slope of the positions.
    """
    if encoder_frames < 1:
        raise BadInput(f"encoder_frames is {encoder_frames}: give at least 1.")
    d, values = data.spatial, data.values
    lead = leads(data)
    frame = np.arange(lead.shape[1])[:, None]
    window = data.alive & (frame < _entry(data)[:, None] + encoder_frames)
    used = window[..., None] & data.present
    since = np.where(np.isnan(lead), 0.0, lead)[..., None]
    level = _mean(values, used, (1,))
    velocity = _slope(since, values[..., :d], used[..., :d])
    if data.velocities_observed:
        observed = level[..., d : 2 * d]
        velocity = np.where(np.isnan(observed), velocity, observed)
        level[..., d : 2 * d] = velocity
    start = _mean(values[..., :d] - velocity[:, None] * since, used[..., :d], (1,))
    forecast = np.tile(level[:, None], (1, lead.shape[1], 1, 1))
    forecast[..., :d] = start[:, None] + velocity[:, None] * since
    forecast[np.isnan(lead)] = np.nan
    return forecast


def leads(data: Trajectories) -> Float[np.ndarray, "P N A"]:
    """Time since each object's entry; NaN before it and after the sequence's last frame."""
    entry_time = np.take_along_axis(data.times, _entry(data), axis=1)
    lead = data.times[:, :, None] - entry_time[:, None, :]
    entered = np.any(data.alive, axis=1)[:, None] & (lead >= 0)
    return np.where(entered, lead, np.nan)


def _entry(data: Trajectories) -> Int[np.ndarray, "P A"]:
    return np.argmax(data.alive, axis=1)


def _drift(
    data: Trajectories, encoder_frames: int
) -> tuple[Float[np.ndarray, "K"], Float[np.ndarray, "K O"]]:
    """Lead times and the root-mean-square error of straight lines at each."""
    lead = leads(data)
    squared = (data.values - constant_velocity(data, encoder_frames)) ** 2
    width = _bin_width(data, lead)
    known = ~np.isnan(squared)
    reached = np.any(known, axis=-1)
    bins = np.rint(lead[reached] / width).astype(np.int64)
    filled, bins = np.unique(bins, return_inverse=True)
    mean_lead = np.bincount(bins, lead[reached]) / np.bincount(bins)
    errors = [
        _binned_rms(bins, column, there, len(filled))
        for column, there in zip(squared[reached].T, known[reached].T, strict=True)
    ]
    return mean_lead, np.stack(errors, axis=-1)


def _bin_width(data: Trajectories, lead: Float[np.ndarray, "P N A"]) -> float:
    """The frames themselves if they are regular and few."""
    steps = time_steps(data)
    if steps is None:
        return 1.0
    widest = float(np.nanmax(lead)) / (MOST_LEADS - 1)
    return steps.median if steps.regular and steps.median >= widest else widest


def _binned_rms(
    bins: Int[np.ndarray, "R"],
    squared: Float[np.ndarray, "R"],
    known: Bool[np.ndarray, "R"],
    count: int,
) -> Float[np.ndarray, "K"]:
    total = np.bincount(bins[known], squared[known], minlength=count)
    number = np.bincount(bins[known], minlength=count)
    return np.sqrt(_ratio(total, number))


def _slope(
    t: Float[np.ndarray, "P N A 1"],
    x: Float[np.ndarray, "P N A d"],
    used: Bool[np.ndarray, "P N A d"],
) -> Float[np.ndarray, "P A d"]:
    """Least squares over the frames used; NaN where fewer than two are."""
    t = np.where(used, t, np.nan)
    away = t - _mean(t, used, (1,))[:, None]
    moment = np.nansum(away * x, axis=1)
    return _ratio(moment, np.nansum(away**2, axis=1))


def _mean(x: np.ndarray, used: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    return _ratio(np.sum(np.where(used, x, 0.0), axis=axis), np.sum(used, axis=axis))


def _ratio(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    """NaN instead of a division by zero."""
    return np.divide(total, number, out=np.full(np.shape(total), np.nan), where=number > 0)
