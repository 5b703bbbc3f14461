"""Rolling origins: forecasts are made again and again along the data, and scored on what follows.

An origin is the last frame a forecast may see. References, models and scores share one record of
the origins, so that all of them answer for the same objects in the same frames.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from comotion.data import Trajectories
from comotion.data.slots import gather
from comotion.errors import BadInput

LONG_STEP = 1.5
ENOUGH_BLOCKS = 8


@dataclass(frozen=True)
class Protocol:
    """How many frames are seen and forecast, and which objects count.

    An object counts at an origin if it is there in the last frame seen, in at least two and in a
    share `seen_share` of the frames seen, and in at least one frame to forecast; with
    `whole_future` in all of them. Origins with fewer than `least_objects` such objects are left
    out. Without `stride` origins are half a horizon apart; of more than `most_origins` so many
    are taken, evenly over the data. With `unbroken`, windows in which a step is longer than one
    and a half usual ones are left out: a camera that was off, frames that were dropped.
    """

    seen: int
    horizon: int
    stride: int | None = None
    seen_share: float = 1.0
    whole_future: bool = False
    least_objects: int = 1
    most_origins: int | None = None
    unbroken: bool = False

    def __post_init__(self):
        for name in ("seen", "horizon", "stride", "least_objects", "most_origins"):
            value, least = getattr(self, name), 2 if name == "seen" else 1
            if value is not None and value < least:
                raise BadInput(f"{name}={value} makes no protocol; give at least {least}.")
        if not 0 < self.seen_share <= 1:
            raise BadInput(
                f"seen_share={self.seen_share:g} is no share; give one above 0, up to 1."
            )

    @property
    def frames(self) -> int:
        return self.seen + self.horizon

    @property
    def step(self) -> int:
        return self.stride or max(1, self.horizon // 2)


@dataclass(frozen=True, eq=False)
class Origins:
    """Windows of frames seen and frames to forecast, one per origin.

    `windows` holds one sequence per origin with the objects that are there; `counts` says which
    of them are scored. A *row* is one counting object at one origin: what follows has R of them.
    """

    windows: Trajectories
    counts: Bool[np.ndarray, "K A"]
    seen: int
    sequence: Int[np.ndarray, " K"]  # which sequence of the data each window was cut from
    frame: Int[np.ndarray, " K"]  # and which of its frames is the last one seen

    @cached_property
    def origin(self) -> Int[np.ndarray, " R"]:
        """The origin of each row."""
        return np.nonzero(self.counts)[0]

    @cached_property
    def slot(self) -> Int[np.ndarray, " R"]:
        """The slot of each row's object in its window."""
        return np.nonzero(self.counts)[1]

    @property
    def horizon(self) -> int:
        return self.windows.values.shape[1] - self.seen

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What is scored: positions, or every feature of data without positions."""
        features = self.windows.features
        return features[: self.windows.spatial or len(features)]

    @cached_property
    def past(self) -> Float[np.ndarray, "R S O"]:
        """All features in the frames seen, NaN where missing."""
        return self.windows.values[self.origin, : self.seen, self.slot]

    @cached_property
    def future(self) -> Float[np.ndarray, "R H d"]:
        """The coordinates to forecast, NaN where nobody knows them."""
        future = self.windows.values[self.origin, self.seen :, self.slot]
        return future[..., : len(self.coordinates)]

    @cached_property
    def past_times(self) -> Float[np.ndarray, "R S"]:
        """Time since the origin: zero at the last frame seen, negative before."""
        return self._since_origin[self.origin, : self.seen]

    @cached_property
    def leads(self) -> Float[np.ndarray, "R H"]:
        """Time since the origin in the frames to forecast."""
        return self._since_origin[self.origin, self.seen :]

    @property
    def lead(self) -> Float[np.ndarray, " H"]:
        """The median lead time of each frame to forecast."""
        return np.nanmedian(self.windows.times[:, self.seen :] - self._start, axis=0)

    @cached_property
    def blocks(self) -> Int[np.ndarray, " K"]:
        """Groups of origins to resample: windows that share frames are together or side by side.

        Each block is a stretch of two windows' length within one sequence; of one, where the data
        are too short for enough of them to be resampled.
        """
        window = self.windows.values.shape[1]
        for stretch in (2 * window, window):
            names = np.stack([self.sequence, self.frame // stretch], axis=1)
            blocks = np.unique(names, axis=0, return_inverse=True)[1].reshape(-1)
            if blocks.max(initial=0) + 1 >= ENOUGH_BLOCKS:
                break
        return blocks

    def seen_windows(self) -> Trajectories:
        """What a model may look at: every window up to its origin, without those who come later."""
        seen = self.windows.first_frames(self.seen)
        here = np.any(seen.present, axis=(1, 3))
        graph = None if seen.graph is None else seen.graph & here[:, :, None] & here[:, None]
        names = tuple(
            tuple(name if there else "" for name, there in zip(*slots, strict=True))
            for slots in zip(seen.object_names, here, strict=True)
        )
        static = np.where(here[..., None], seen.static, np.nan)
        controls = np.where(here[:, None, :, None], seen.controls, np.nan)
        return replace(seen, graph=graph, object_names=names, static=static, controls=controls)

    def __len__(self) -> int:
        return len(self.windows)

    def __repr__(self) -> str:
        return (
            f"Origins({len(self)} origins, {len(self.origin)} rows, "
            f"{self.seen} frames seen, {self.horizon} forecast)"
        )

    @property
    def _start(self) -> Float[np.ndarray, "K 1"]:
        return self.windows.times[:, [self.seen - 1]]

    @property
    def _since_origin(self) -> Float[np.ndarray, "K F"]:
        # Padding has no time; nothing is known there, so the last time will do.
        return np.fmax.accumulate(self.windows.times - self._start, axis=1)


def roll(data: Trajectories, protocol: Protocol) -> Origins:
    """Every origin of the data at which at least one object counts."""
    present = np.all(data.present[..., : data.spatial or None], axis=-1)  # P N A
    steps = np.diff(data.times, axis=1)
    limit = LONG_STEP * np.nanmedian(steps) if protocol.unbroken else np.inf
    cuts = [
        (p, start)
        for p, length in enumerate(data.lengths)
        for start in range(0, int(length) - protocol.frames + 1, protocol.step)
        if steps[p, start : start + protocol.frames - 1].max() <= limit
    ]
    if not cuts:
        raise BadInput(
            f"The longest sequence has {int(data.lengths.max())} frames, but {protocol.seen} seen "
            f"and {protocol.horizon} to forecast need {protocol.frames}; ask for fewer."
        )
    counting = [_counting(present[p, n : n + protocol.frames], protocol) for p, n in cuts]
    kept = [k for k, row in enumerate(counting) if row.sum() >= protocol.least_objects]
    if not kept:
        raise BadInput(
            f"No origin has {protocol.least_objects} objects in {protocol.seen} frames seen and in "
            "frames to forecast; ask for fewer frames, or for a smaller `seen_share`."
        )
    kept = [kept[i] for i in _evenly(len(kept), protocol.most_origins)]
    return _gather(data, [cuts[k] for k in kept], [counting[k] for k in kept], protocol)


def _evenly(count: int, most: int | None) -> list[int]:
    return np.linspace(0, count - 1, min(count, most or count)).astype(int).tolist()


def _counting(present: Bool[np.ndarray, "F A"], protocol: Protocol) -> Bool[np.ndarray, " A"]:
    seen, future = present[: protocol.seen], present[protocol.seen :]
    enough = max(2, int(np.ceil(protocol.seen_share * protocol.seen)))
    followed = future.all(axis=0) if protocol.whole_future else future.any(axis=0)
    return seen[-1] & (seen.sum(axis=0) >= enough) & followed


def _gather(
    data: Trajectories,
    cuts: list[tuple[int, int]],
    counting: list[Bool[np.ndarray, " A"]],
    protocol: Protocol,
) -> Origins:
    """The windows, each with a slot for every object that is seen in it."""
    F, seen = protocol.frames, protocol.seen
    names = [f"{data.sequence_names[p]} from frame {n + seen - 1}" for p, n in cuts]
    windows = gather(data, [(p, slice(n, n + F)) for p, n in cuts], names)
    there = np.any(data.present, axis=-1)
    counts = np.zeros((len(cuts), windows.values.shape[2]), bool)
    for k, (p, n) in enumerate(cuts):
        packed = counting[k][there[p, n : n + F].any(axis=0)]
        counts[k, : len(packed)] = packed
    sequence, first = np.array(cuts).T
    return Origins(windows, counts, seen, sequence, first + seen - 1)
