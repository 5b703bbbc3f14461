"""Steps that nothing in the recording could make: glitches and swapped identities.

A step counts as implausible if it is far above what nine in ten steps stay below, in speed and in
length (with irregular times, noise alone gives any speed), and if neither the step before nor the
one after goes the same way, as they do when something darts off. If the object is back soon, the
frames between are a glitch and become missing; otherwise what follows is another object.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from comotion.data.trajectories import Trajectories
from comotion.data.units import with_unit

TIMES_USUAL = 4.0
USUAL = 0.9
MOST = 0.01
FEWEST_STEPS = 50
LONGEST_GLITCH = 3
SAME_WAY = 0.25
MOST_NAMED = 5

Place = tuple[int, int, int]  # sequence, frame, slot


@dataclass(frozen=True)
class FoundJumps:
    """Frames to leave out, frames at which another object begins, and how many steps there are."""

    glitches: tuple[Place, ...]
    swaps: tuple[Place, ...]
    steps: int
    speed: float
    unit: str = ""

    def __len__(self) -> int:
        return len(self.glitches) + len(self.swaps)

    def sentences(self, name: str, row: str, number: Callable[[Place], int]) -> list[str]:
        """What was found and done, if anything; `number` says where a place was in the file."""
        if not len(self):
            return []
        places = sorted(self.glitches + self.swaps)
        listed = ", ".join(str(number(place)) for place in places[:MOST_NAMED])
        more = ", …" if len(places) > MOST_NAMED else ""
        return [
            f"{name}: {len(self)} of {self.steps} steps are faster than "
            f"{with_unit(f'{self.speed:.3g}', self.unit)}, "
            f"{TIMES_USUAL:g} times what most stay below ({row}s {listed}{more}): "
            f"{len(self.glitches)} positions left out as glitches, {len(self.swaps)} tracks cut "
            "where identities seem swapped"
        ]


def find_jumps(data: Trajectories) -> FoundJumps:
    d = data.spatial
    tracks = list(_tracks(data)) if d else []
    lengths = [np.linalg.norm(np.diff(x, axis=0), axis=-1) for _, _, _, x, _ in tracks]
    durations = [np.diff(t) for _, _, _, _, t in tracks]
    every_length = np.concatenate([np.empty(0), *lengths])
    if every_length.size < FEWEST_STEPS:
        return FoundJumps((), (), every_length.size, np.inf)
    every_speed = every_length / np.concatenate(durations)
    limit = Limit(
        *(TIMES_USUAL * float(np.quantile(v, USUAL)) for v in (every_length, every_speed))
    )
    glitches: list[Place] = []
    swaps: list[Place] = []
    for p, a, frames, x, t in tracks:
        bad, breaks = _sort_out(x, t, limit)
        glitches += [(p, int(frames[i]), a) for i in bad]
        swaps += [(p, int(frames[i]), a) for i in breaks]
    if len(glitches) + len(swaps) > MOST * every_length.size:
        return FoundJumps((), (), every_length.size, limit.speed)
    return FoundJumps(
        tuple(glitches), tuple(swaps), every_length.size, limit.speed, data.units.speed
    )


def leave_out(data: Trajectories, jumps: FoundJumps) -> Trajectories:
    """Glitches become missing; after a swap the rest of a track is an object of its own."""
    if not len(jumps):
        return data
    values = data.values.copy()
    for place in jumps.glitches:
        values[place] = np.nan
    data = replace(data, values=values)
    return _begin_anew(data, jumps.swaps) if jumps.swaps else data


@dataclass(frozen=True)
class Limit:
    """What no step exceeds in both ways at once."""

    length: float
    speed: float

    def broken(self, way: np.ndarray, duration: np.ndarray) -> np.ndarray:
        return (way > self.length) & (way > self.speed * duration) if self.length else way < 0


def _tracks(
    data: Trajectories,
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, np.ndarray]]:
    """Sequence, slot, frames, positions and times of every object seen at least twice."""
    d = data.spatial
    placed = np.all(data.present[..., :d], axis=-1)
    for p, a in np.argwhere(placed.sum(axis=1) > 1).tolist():
        frames = np.flatnonzero(placed[p, :, a])
        yield p, a, frames, data.values[p, frames, a, :d], data.times[p, frames]


def _sort_out(
    x: Float[np.ndarray, "n d"], t: Float[np.ndarray, "n"], limit: Limit
) -> tuple[list[int], list[int]]:
    """Which frames of a track are glitches, and at which it begins to be another object."""
    steps = np.diff(x, axis=0)
    broken = limit.broken(np.linalg.norm(steps, axis=-1), np.diff(t)) & ~_continued(steps)
    glitches, breaks = [], []
    good = 0  # the last frame that can be trusted
    for step in np.flatnonzero(broken).tolist():
        if step < good:
            continue
        back = _back(x, t, step, limit)
        if back is None:
            breaks.append(step + 1)
            good = step + 1
        else:
            glitches += range(step + 1, back)
            good = back
    return glitches, breaks


def _continued(steps: Float[np.ndarray, "n d"]) -> Bool[np.ndarray, "n"]:
    """Whether the step before or after goes a good part of the same way."""
    along = np.sum(steps[1:] * steps[:-1], axis=-1)
    squared = SAME_WAY * np.sum(steps**2, axis=-1)
    before, after = np.append(-1.0, along), np.append(along, -1.0)
    return (before > squared) | (after > squared)


def _back(x: np.ndarray, t: np.ndarray, before: int, limit: Limit) -> int | None:
    """The first frame soon after a jump that is within reach of the frame before it."""
    later = np.arange(before + 2, min(before + 2 + LONGEST_GLITCH, len(t)))
    way = np.linalg.norm(x[later] - x[before], axis=-1)
    near = ~limit.broken(way, t[later] - t[before])
    return int(later[np.argmax(near)]) if near.any() else None


def _begin_anew(data: Trajectories, swaps: tuple[Place, ...]) -> Trajectories:
    """Further slots for what follows a swap; the piece after the first one of "12" is "12~2"."""
    A, further = data.values.shape[2], max(Counter(p for p, _, _ in swaps).values())
    values, controls = (_widened(array, 2, further) for array in (data.values, data.controls))
    static = _widened(data.static, 1, further)
    graph = None if data.graph is None else np.pad(data.graph, ((0, 0), *[(0, further)] * 2))
    names = [[*row, *[""] * further] for row in data.object_names]
    pieces, used = Counter((p, a) for p, _, a in swaps), Counter[int]()
    # The latest first, so that each takes along what is left up to the next.
    for p, n, a in sorted(swaps, reverse=True):
        new = A + used[p]
        used[p] += 1
        for array in (values, controls):
            array[p, n:, new], array[p, n:, a] = array[p, n:, a].copy(), np.nan
        static[p, new] = static[p, a]
        names[p][new] = f"{names[p][a]}~{pieces[p, a] + 1}"
        pieces[p, a] -= 1
        if graph is not None:
            graph[p, new], graph[p, :, new] = graph[p, a], graph[p, :, a]
    return replace(
        data,
        values=values,
        controls=controls,
        static=static,
        graph=graph,
        object_names=tuple(map(tuple, names)),
    )


def _widened(array: np.ndarray, axis: int, further: int) -> np.ndarray:
    pad = [(0, further if i == axis else 0) for i in range(array.ndim)]
    return np.pad(array, pad, constant_values=np.nan)
