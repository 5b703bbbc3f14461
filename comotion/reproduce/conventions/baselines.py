"""The references every forecast is set beside: climatology and constant velocity.

Both are Gaussians fitted to the training data, whose summary travels inside the forecast.
"""

import numpy as np
import xarray as xr
from jaxtyping import Float

from comotion.data import Trajectories, constant_velocity
from comotion.data.summary import leads, never_zero
from comotion.reproduce.conventions.predictive import GaussianCells


def climatology_sd(forecast: xr.Dataset) -> Float[np.ndarray, " O"]:
    """Climatology's standard deviation of each feature, never zero."""
    return never_zero(forecast["climatology_sd"].values.astype(np.float64))


def climatology(forecast: xr.Dataset, data: Trajectories) -> list[GaussianCells]:
    """One Gaussian for every frame, object and sequence: no skill at all."""
    shape = data.values.shape[1:]
    mean = np.broadcast_to(forecast["climatology_mean"].values.astype(np.float64), shape)
    sd = np.broadcast_to(climatology_sd(forecast), shape)
    return [GaussianCells(mean, sd, _noise(forecast))] * len(data)


def dressed_constant_velocity(forecast: xr.Dataset, data: Trajectories) -> list[GaussianCells]:
    """Straight flight from the frames the forecast saw, as unsure as it was wrong in training.

    The standard deviation at a lead time is the root-mean-square error there on the training
    data, linear in between; an object without a known velocity falls back to climatology.
    """
    straight = constant_velocity(data, int(forecast.attrs["encoder_frames"]))
    known = ~np.isnan(straight)
    mean = np.where(known, straight, forecast["climatology_mean"].values)
    sd = np.where(known, _training_error(forecast, leads(data)), climatology_sd(forecast))
    noise = _noise(forecast)
    return [GaussianCells(mean[p], sd[p], noise) for p in range(len(data))]


def lead_times(forecast: xr.Dataset) -> Float[np.ndarray, "P N"]:
    """Time since the last frame the forecast saw; negative before it."""
    times = forecast["t"].transpose("sequence", "time").values
    last_seen = min(int(forecast.attrs["frames_seen"]), times.shape[1]) - 1
    return times - times[:, [last_seen]]


def _training_error(
    forecast: xr.Dataset, lead: Float[np.ndarray, "P N A"]
) -> Float[np.ndarray, "P N A O"]:
    known_leads = forecast["drift_lead"].values
    errors = forecast["drift_sd"].transpose("lead", "feature").values
    # Before an object's entry any lead will do, since nothing is compared with it.
    asked = np.nan_to_num(lead, nan=0.0)
    curves = [np.interp(asked, known_leads, error) for error in errors.T]
    return never_zero(np.stack(curves, axis=-1))


def _noise(forecast: xr.Dataset) -> Float[np.ndarray, "L A O"]:
    shape = [forecast.sizes[dim] for dim in ("draw", "object", "feature")]
    return np.random.default_rng(0).standard_normal(shape)
