"""Which times to integrate over so that the times asked for are among them."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from comotion._types import FAST
from comotion.data.scaling import Scaling
from comotion.data.trajectories import Trajectories
from comotion.data.windows import Grid, without_gaps
from comotion.errors import BadInput
from comotion.systems import DataShape

LONG_GAP = 1.5
ON_FRAME = 1e-6


@dataclass(frozen=True)
class TimePlan:
    """A batch of grids, and where on them the asked times are."""

    grids: Grid
    wanted: Int[np.ndarray, "P T"]
    times: Float[np.ndarray, "P T"]
    alive: Bool[np.ndarray, "P T A"]


def plan_forecast(
    data: Trajectories, times: np.ndarray | None, scaling: Scaling, shape: DataShape, whole: bool
) -> TimePlan:
    """`times` are in the data's own unit and clock; `whole`: only multiples of a frame will do."""
    if times is None:
        asked = data.times
    else:
        asked = _per_sequence(np.asarray(times, float), data, ON_FRAME * shape.step)
    jump = whole and times is None  # from frame to frame, as in training
    nodes = []
    for p, length in enumerate(data.lengths):
        frames = data.times[p, :length]
        own = asked[p][np.isfinite(asked[p])]
        nodes.append(frames if jump else _nodes(frames, own, shape.step, whole))
    grids = _pad(nodes)
    wanted = np.stack(
        [
            np.searchsorted(grid, row).clip(0, len(grid) - 1)
            for grid, row in zip(grids, asked, strict=True)
        ]
    )
    return TimePlan(
        grids=_device_grid(data, grids, scaling),
        wanted=wanted,
        times=asked,
        alive=_alive(data, asked),
    )


def _per_sequence(
    times: np.ndarray, data: Trajectories, tolerance: float
) -> Float[np.ndarray, "P T"]:
    """In order, and exactly on a frame where they are meant to be."""
    if times.ndim > 2 or times.size == 0 or (times.ndim == 2 and len(times) not in (1, len(data))):
        raise BadInput(
            f"times have shape {times.shape}, but there are {len(data)} sequences; "
            "give one row of times for all of them, or one row for each"
        )
    asked = np.sort(np.broadcast_to(times, (len(data), times.shape[-1])), axis=1)
    asked = np.stack(
        [
            _on_frames(row, data.times[p, : data.lengths[p]], tolerance)
            for p, row in enumerate(asked)
        ]
    )
    early = asked[:, 0] < data.times[:, 0]
    if not np.isfinite(asked).all() or early.any():
        first = data.times[:, 0].max()
        raise BadInput(
            f"a forecast was asked for at time {asked.min():g}, but it starts at the first frame "
            f"({first:g}); ask for finite times from then on"
        )
    return asked


def _nodes(
    frames: np.ndarray, asked: np.ndarray, step: float, whole: bool
) -> Float[np.ndarray, " K"]:
    """Frames and asked times together, with long gaps cut into pieces of about one step."""
    if whole:
        return _whole_steps(frames, asked, step)
    nodes = np.union1d(frames[frames <= asked[-1]], asked)
    gaps = np.diff(nodes)
    pieces = np.where(gaps > LONG_GAP * step, np.ceil(gaps / step), 1).astype(int)
    ends = zip(nodes[:-1], nodes[1:], pieces, strict=True)
    cuts = [np.linspace(start, end, count, endpoint=False) for start, end, count in ends]
    return np.concatenate([*cuts, nodes[-1:]])


def _on_frames(times: np.ndarray, frames: np.ndarray, tolerance: float) -> np.ndarray:
    """A time within rounding of a frame is the frame: objects enter and leave at frames."""
    nearest = frames[np.abs(times[:, None] - frames[None, :]).argmin(axis=1)]
    return np.where(np.abs(times - nearest) <= tolerance, nearest, times)


def _whole_steps(frames: np.ndarray, asked: np.ndarray, step: float) -> Float[np.ndarray, " K"]:
    start = frames[0]
    counts = (asked - start) / step
    off = np.abs(counts - np.round(counts)) > ON_FRAME * np.maximum(1.0, np.abs(counts))
    if off.any():
        raise BadInput(
            f"a discrete-time model forecasts only at whole steps of {step:g} after the first "
            f"frame, not at time {asked[off][0]:g}; use a continuous-time system for any time"
        )
    nodes = start + step * np.arange(int(np.round(counts[-1])) + 1)
    nodes = _on_frames(nodes, frames, ON_FRAME * step)
    nodes[np.round(counts).astype(int)] = asked
    return nodes


def _pad(nodes: list[np.ndarray]) -> Float[np.ndarray, "P K"]:
    longest = max(len(row) for row in nodes)
    return np.stack([np.pad(row, (0, longest - len(row)), mode="edge") for row in nodes])


def _device_grid(data: Trajectories, grids: Float[np.ndarray, "P K"], scaling: Scaling) -> Grid:
    alive = _alive(data, grids)
    elapsed = (grids - grids[:, :1]) / float(scaling.time)
    return Grid(
        times=jnp.asarray(elapsed, FAST),
        active=jnp.asarray(alive[:, :-1] & alive[:, 1:]),
        controls=jnp.asarray(_controls(data, grids), FAST),
    )


def _alive(data: Trajectories, times: Float[np.ndarray, "P T"]) -> Bool[np.ndarray, "P T A"]:
    """Who is there at any time; whoever is there in the last frame stays for ever after."""
    rows = np.arange(len(data))[:, None]
    alive = data.alive  # (P, N, A)
    entry = data.times[rows, alive.argmax(axis=1)]
    last = alive.shape[1] - 1 - alive[:, ::-1].argmax(axis=1)
    stays = last >= data.lengths[:, None] - 1
    leave = np.where(stays, np.inf, data.times[rows, last])
    moment = times[:, :, None]
    inside = (moment >= entry[:, None, :]) & (moment <= leave[:, None, :])
    return inside & np.any(alive, axis=1)[:, None, :]


def _controls(data: Trajectories, grids: Float[np.ndarray, "P K"]) -> np.ndarray:
    P, _, A, U = data.controls.shape
    controls, given = np.zeros((P, grids.shape[1], A, U)), without_gaps(data)
    for p, length in enumerate(data.lengths):
        frames = data.times[p, :length]
        for a, u in np.ndindex(A, U):
            controls[p, :, a, u] = np.interp(grids[p], frames, given[p, :length, a, u])
    return controls
