"""Recordings of any size: cut in time, thinned, without some objects, packed into few slots.

In one sequence a slot holds one object. A long recording with objects that come and go is cut
into windows, so that it needs about as many slots as objects are there at once.
"""

import difflib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Bool

from comotion.data.slots import gather
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

SHORTEST = 32
ROOM = 1.25


def windows(data: Trajectories, frames: int, every: int | None = None) -> Trajectories:
    """Pieces of so many frames; by default each frame is in one of them, the last may be shorter.

    With `every`, windows begin every so many frames and may overlap.
    """
    if frames < 2 or (every is not None and every < 1):
        raise BadInput(
            f"windows({frames}, every={every}) cannot be cut: ask for windows of at least 2 "
            "frames that begin every 1 or more frames."
        )
    pieces = [
        (p, slice(start, start + frames))
        for p, length in enumerate(data.lengths.tolist())
        for start in _starts(length, frames, every or frames)
    ]
    names = [f"{data.sequence_names[p]}@{data.times[p, cut.start]:g}" for p, cut in pieces]
    return gather(data, pieces, names)


def _starts(length: int, frames: int, every: int) -> list[int]:
    starts = list(range(0, max(length - frames, 0) + 1, every))
    rest = starts[-1] + every
    return [*starts, rest] if length - starts[-1] > frames and length - rest >= 2 else starts


def packed(data: Trajectories, shortest: int = SHORTEST) -> Trajectories:
    """Cut where most slots would be empty: the longest windows with few more slots than needed."""
    wanted = ROOM * at_once(data)
    frames = int(data.lengths.max())
    if data.values.shape[2] <= wanted or frames < 2 * shortest:
        return data
    while frames > shortest and _slots(data, frames) > wanted:
        frames = max(frames // 2, shortest)
    return windows(data, frames)


def at_once(data: Trajectories) -> int:
    """The most objects that are in a scene together."""
    return int(data.alive.sum(axis=-1).max())


def _slots(data: Trajectories, frames: int) -> int:
    """The most objects in any window of so many frames."""
    seen = np.any(data.present, axis=-1)
    starts = np.arange(0, seen.shape[1], frames)
    return int(np.logical_or.reduceat(seen, starts, axis=1).sum(axis=-1).max())


def last(data: Trajectories, frames: int) -> Trajectories:
    """The last frames of every sequence."""
    if frames < 1:
        raise BadInput(f"last({frames}) keeps nothing: ask for at least 1 frame.")
    ends = data.lengths.tolist()
    return gather(data, [(p, slice(max(end - frames, 0), end)) for p, end in enumerate(ends)])


def between(data: Trajectories, start: float | int | None, end: float | int | None) -> Trajectories:
    """The frames from time `start` to time `end`, both included; sequences without any are gone."""
    low, high = (-np.inf if start is None else start), (np.inf if end is None else end)
    inside = (data.times >= low) & (data.times <= high)
    chosen = np.flatnonzero(inside.any(axis=1)).tolist()
    if not chosen:
        first, final = np.nanmin(data.times), np.nanmax(data.times)
        raise BadInput(
            f"between({start}, {end}) holds no frame: the data are from {first:g} to {final:g}."
        )
    pieces = [(p, _run(inside[p])) for p in chosen]
    return gather(data, pieces, [data.sequence_names[p] for p in chosen])


def _run(inside: Bool[np.ndarray, "N"]) -> slice:
    frames = np.flatnonzero(inside)
    return slice(int(frames[0]), int(frames[-1]) + 1)


def thin(data: Trajectories, every: int) -> Trajectories:
    """Every so many frames one, from the first on."""
    if every < 1:
        raise BadInput(f"thin({every}) means nothing: keep every 2nd, 3rd, … frame.")
    ends = data.lengths.tolist()
    return gather(data, [(p, slice(0, end, every)) for p, end in enumerate(ends)])


def only(data: Trajectories, names: Sequence[str]) -> Trajectories:
    """The named objects alone."""
    _refuse_strangers(data, names)
    return _with_slots(data, np.isin(np.array(data.object_names), list(map(str, names))))


def without(data: Trajectories, names: Sequence[str]) -> Trajectories:
    """All but the named objects."""
    _refuse_strangers(data, names)
    return _with_slots(data, ~np.isin(np.array(data.object_names), list(map(str, names))))


def _refuse_strangers(data: Trajectories, names: Sequence[str]) -> None:
    known = dict.fromkeys(name for row in data.object_names for name in row if name)
    for name in map(str, names):
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f" (did you mean {close[0]!r}?)" if close else ""
            listed = ", ".join(list(known)[:10]) + (", …" if len(known) > 10 else "")
            raise BadInput(f"There is no object {name!r}{guess}; there are {listed}.")


def _with_slots(data: Trajectories, kept: Bool[np.ndarray, "P A"]) -> Trajectories:
    left = np.flatnonzero((kept & data.alive.any(axis=1)).any(axis=1)).tolist()
    if not left:
        raise BadInput("No object would be left: keep at least one.")
    ends = data.lengths.tolist()
    pieces = [(p, slice(0, ends[p])) for p in left]
    return gather(data, pieces, [data.sequence_names[p] for p in left], kept)


def split(
    data: Trajectories, parts: Sequence[float | int], by: str | None = None
) -> tuple[Trajectories, ...]:
    """Consecutive groups: so many sequences each, or shares (of time, if sequences are too few)."""
    whole = all(isinstance(part, int | np.integer) for part in parts)
    total = len(data) if whole else 1 + 1e-9
    if not parts or min(parts) <= 0 or sum(parts) > total:
        raise BadInput(
            f"split{tuple(parts)} cannot be cut from {len(data)} sequences: give positive counts "
            "that sum to at most that number, or shares that sum to at most 1."
        )
    ends = np.append(0, np.cumsum(parts))
    if not whole and len(data) > 1 and by != "time":
        shares = np.rint(ends * len(data)).astype(int)
        if (np.diff(shares) > 0).all():
            ends, whole = shares, True
    if whole:
        return tuple(data[int(a) : int(b)] for a, b in pairwise(ends))
    return tuple(_share(data, a, b) for a, b in pairwise(ends))


def _share(data: Trajectories, start: float, end: float) -> Trajectories:
    pieces = [(p, slice(round(start * n), round(end * n))) for p, n in enumerate(data.lengths)]
    if min(cut.stop - cut.start for _, cut in pieces) < 2:
        raise BadInput(
            f"A share from {start:.3g} to {end:.3g} of {int(data.lengths.min())} frames holds "
            "fewer than 2 frames: give larger shares or more data."
        )
    return gather(data, pieces)
