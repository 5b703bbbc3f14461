"""Which frames a forecast may see: those up to its origin."""

import dataclasses

import numpy as np
from jaxtyping import Float, Int

from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

Origin = str | float
"""The last moment that may be seen: "last", "first" (the first frames only), or a time."""


def seen_until(data: Trajectories, origin: Origin, frames: int) -> Trajectories:
    """The last `frames` frames up to the origin of every sequence; "first": its first ones."""
    ends = _ends(data, origin, frames)
    begins = np.maximum(ends - frames, 0)
    kept = int((ends - begins).max())
    index = begins[:, None] + np.arange(kept)[None, :]  # (P, frames)
    inside = index < ends[:, None]
    rows, index = np.arange(len(data))[:, None], np.minimum(index, data.times.shape[1] - 1)

    def cut(values: np.ndarray) -> np.ndarray:
        taken = values[rows, index]
        return np.where(inside.reshape(*inside.shape, *[1] * (taken.ndim - 2)), taken, np.nan)

    return dataclasses.replace(
        data, values=cut(data.values), times=cut(data.times), controls=cut(data.controls)
    )


def times_ahead(seen: Trajectories, horizon: float, step: float) -> Float[np.ndarray, "P T"]:
    """Every step after the last frame seen, up to `horizon`."""
    count = int(np.floor(horizon / step + 1e-6))
    if count < 1:
        raise BadInput(
            f"horizon={horizon:g} is less than a step between frames ({step:g}), so there is "
            "nothing to forecast; ask for a longer time ahead"
        )
    last = seen.times[np.arange(len(seen)), seen.lengths - 1]
    return last[:, None] + step * np.arange(1, count + 1)[None, :]


def times_after(data: Trajectories, seen: Trajectories) -> Float[np.ndarray, "P T"]:
    """The data's own times after the last frame seen, as many for every sequence."""
    last = seen.times[np.arange(len(seen)), seen.lengths - 1]
    later = [row[row > end] for row, end in zip(data.times, last, strict=True)]
    count = min(len(row) for row in later)
    if count == 0:
        raise BadInput(
            "there is no frame after the last one seen, so it must be said how far to forecast; "
            "give a horizon, or times"
        )
    return np.stack([row[:count] for row in later])


def origin_times(data: Trajectories, seen: Trajectories, frames: int) -> Float[np.ndarray, " P"]:
    """The time of the last frame seen; a forecast over all of the data saw its first frames."""
    count = np.minimum(frames, data.lengths) if seen is data else seen.lengths
    return seen.times[np.arange(len(seen)), count - 1]


def _ends(data: Trajectories, origin: Origin, frames: int) -> Int[np.ndarray, " P"]:
    """How many frames of each sequence there are up to the origin."""
    if origin == "last":
        return data.lengths
    if origin == "first":
        return np.minimum(frames, data.lengths)
    if isinstance(origin, str) or not np.isfinite(origin):
        raise BadInput(f"origin={origin!r} is no origin; give 'last', 'first' or a time")
    ends = np.sum(data.times <= origin, axis=1)
    if (ends == 0).any():
        late = int(np.argmin(ends))
        raise BadInput(
            f"origin={origin:g} is before the first frame of sequence "
            f"{data.sequence_names[late]!r} ({data.times[late, 0]:g}); give a later time"
        )
    return ends
