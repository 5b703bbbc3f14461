"""Score a forecast that is made already: find its frames and objects in what really happened."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.predict.forecast import last_seen
from comotion.scoring.distributions import AbstractPredictive, QuantilePaths, SampledPaths
from comotion.scoring.rolling import Origins

if TYPE_CHECKING:
    import xarray as xr

ONE_DRAW = "The forecast has one draw; scores need at least 2, better 100."
ON_FRAME = 1e-3
MOST_SEEN = 10


def origins_of(forecast: "xr.Dataset", data: Trajectories) -> Origins:
    """One origin per sequence of the forecast, with its slots: the last frame that it saw.

    References see as many frames before it as every sequence has, up to what the forecast saw.
    """
    data = data.select([name for name in forecast["feature"].values if name in data.features])
    sequence = _sequences(forecast, data)
    slots = _slots(forecast, data, sequence)
    times, end = data.times[sequence], last_seen(forecast)
    tolerance = ON_FRAME * float(np.nanmedian(np.diff(data.times, axis=1)))
    past = (times <= end[:, None] + tolerance).sum(axis=1)
    seen = int(min(past.min(), forecast.attrs.get("frames_seen", MOST_SEEN)))
    if seen < 2:
        raise BadInput(
            f"Sequence {data.sequence_names[sequence[past.argmin()]]!r} has {past.min()} frames up "
            f"to {end[past.argmin()]:g}, the last moment the forecast saw; score it on data that "
            "begin earlier."
        )
    asked = _ahead(forecast, tolerance)
    frames, known = _nearest(times, asked, tolerance)
    if not known.any():
        raise BadInput(
            f"No time of the forecast, from {np.nanmin(asked):g} to {np.nanmax(asked):g}, is in "
            f"the data, which are from {np.nanmin(times):g} to {np.nanmax(times):g}; score a "
            "forecast on data of the same time."
        )
    last = int(np.flatnonzero(known.any(axis=0))[-1]) + 1
    asked, frames, known = asked[:, :last], frames[:, :last], known[:, :last]
    before = past[:, None] - seen + np.arange(seen)
    index = np.concatenate([before, frames], axis=1)
    known = np.concatenate([np.ones_like(before, bool), known], axis=1)
    if not (slots >= 0).any():
        raise BadInput("No object of the forecast is in the data; check their names.")
    windows = _windows(data, sequence, slots, index, known, asked)
    present = np.all(windows.present[..., : windows.spatial or None], axis=-1)
    counts = present[:, seen - 1] & present[:, seen:].any(axis=1)
    if not counts.any():
        raise BadInput("No object of the forecast is in the data at its times.")
    return Origins(windows, counts, seen, sequence, past - 1)


def at_rows(forecast: "xr.Dataset", origins: Origins) -> AbstractPredictive:
    """What was forecast of every row in the frames to forecast: draws, or quantiles of them."""
    several = "observation" in forecast
    name, over = ("observation", "draw") if several else ("quantile", "level")
    cells = forecast[name].transpose("sequence", "object", over, "time", "feature").values
    step = float(np.nanmedian(np.diff(origins.windows.times, axis=1)))
    seen = _frames_seen(forecast, ON_FRAME * step)
    ahead = slice(seen, seen + origins.horizon)
    rows = cells[origins.origin, origins.slot, :, ahead, : len(origins.coordinates)]
    if rows.shape[1] < 2:
        raise BadInput(ONE_DRAW)
    lost = ~np.isfinite(rows).all(axis=(1, 3)) & ~np.isnan(origins.future).any(axis=-1)
    if lost.any():
        raise BadInput(
            f"{int(lost.sum())} of {lost.size} points to forecast have draws that are not finite; "
            "the model diverged there: leave these draws out, or fit again."
        )
    rows = np.nan_to_num(rows.swapaxes(0, 1))
    return SampledPaths(rows) if several else QuantilePaths(forecast["level"].values, rows)


def _sequences(forecast: "xr.Dataset", data: Trajectories) -> Int[np.ndarray, " P"]:
    """Which sequence of the data each one of the forecast is; a single one needs no name."""
    names = [str(name) for name in forecast["sequence"].values]
    if len(names) == len(data) == 1:
        return np.zeros(1, int)
    strangers = [name for name in names if name not in data.sequence_names]
    if strangers:
        raise BadInput(
            f"The data have no sequence {strangers[0]!r} of the forecast; score a forecast on the "
            "data it was made for."
        )
    return np.array([data.sequence_names.index(name) for name in names])


def _slots(
    forecast: "xr.Dataset", data: Trajectories, sequence: Int[np.ndarray, " P"]
) -> Int[np.ndarray, "P A"]:
    """Where the objects of the forecast are in the data; −1 where they are not."""
    names = forecast["object_name"].transpose("sequence", "object").values
    there = [data.object_names[p] for p in sequence]
    return np.array(
        [
            [own.index(name) if name and name in own else -1 for name in map(str, row)]
            for row, own in zip(names, there, strict=True)
        ]
    )


def _frames_seen(forecast: "xr.Dataset", tolerance: float) -> int:
    """How many of the forecast's times are up to its origin."""
    times = forecast["t"].transpose("sequence", "time").values
    return int((times <= last_seen(forecast)[:, None] + tolerance).sum(axis=1).max())


def _ahead(forecast: "xr.Dataset", tolerance: float) -> Float[np.ndarray, "P H"]:
    """The times after the origin: the last ones, as many in every sequence."""
    times = forecast["t"].transpose("sequence", "time").values
    seen = _frames_seen(forecast, tolerance)
    if seen == times.shape[1]:
        raise BadInput("The forecast has no time after the frames it saw: nothing can be scored.")
    return times[:, seen:]


def _nearest(
    times: Float[np.ndarray, "P N"], asked: Float[np.ndarray, "P H"], tolerance: float
) -> tuple[Int[np.ndarray, "P H"], Bool[np.ndarray, "P H"]]:
    """The frame of the data at each time, and whether there is one."""
    away = np.abs(times[:, None] - asked[..., None])
    away = np.where(np.isnan(away), np.inf, away)
    return away.argmin(axis=-1), away.min(axis=-1) <= tolerance


def _windows(
    data: Trajectories,
    sequence: Int[np.ndarray, " P"],
    slots: Int[np.ndarray, "P A"],
    index: Int[np.ndarray, "P F"],
    known: Bool[np.ndarray, "P F"],
    asked: Float[np.ndarray, "P H"],
) -> Trajectories:
    """Frames seen and frames to forecast, with the forecast's slots."""
    rows = sequence[:, None, None]
    values = data.values[rows, index[:, :, None], slots[:, None, :]]
    values = np.where((known[:, :, None] & (slots >= 0)[:, None, :])[..., None], values, np.nan)
    seen = index.shape[1] - asked.shape[1]
    times = np.concatenate([data.times[sequence[:, None], index[:, :seen]], asked], axis=1)
    return Trajectories.from_arrays(
        values,
        times,
        features=data.features,
        sequence_names=[data.sequence_names[p] for p in sequence],
        units=data.units,
    )
