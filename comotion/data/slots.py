"""Pieces of sequences, and whole recordings, as sequences side by side in as few slots as do."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

Piece = tuple[int, slice]  # a sequence and some of its frames


def gather(
    data: Trajectories,
    pieces: Sequence[Piece],
    names: Sequence[str] | None = None,
    kept: Bool[np.ndarray, "P A"] | None = None,
) -> Trajectories:
    """One sequence for each piece, with a slot for each object that is seen in it."""
    seen = np.any(data.present, axis=-1)
    if kept is not None:
        seen &= kept[:, None]
    names = data.sequence_names if names is None else names
    slots = [np.flatnonzero(seen[p, frames].any(axis=0)) for p, frames in pieces]
    filled = [i for i, there in enumerate(slots) if there.size]
    if not filled:
        raise BadInput("No value is left in the frames that were asked for: ask for more of them.")
    pieces, slots = [pieces[i] for i in filled], [slots[i] for i in filled]
    frames = [np.arange(data.lengths[p])[cut] for p, cut in pieces]
    N, A = max(map(len, frames)), max(map(len, slots))
    places = list(zip([p for p, _ in pieces], frames, slots, strict=True))
    return replace(
        data,
        values=_stack([data.values[p][np.ix_(n, a)] for p, n, a in places], (N, A)),
        times=_stack([data.times[p, n] for p, n, _ in places], (N,)),
        static=_stack([data.static[p, a] for p, _, a in places], (A,)),
        controls=_stack([data.controls[p][np.ix_(n, a)] for p, n, a in places], (N, A)),
        graph=None if data.graph is None else _graphs(data.graph, places, A),
        sequence_names=tuple(names[i] for i in filled),
        object_names=tuple(
            tuple(data.object_names[p][i] for i in a) + ("",) * (A - len(a)) for p, _, a in places
        ),
    )


def joined(recordings: Sequence[tuple[str, Trajectories]]) -> Trajectories:
    """All sequences of several recordings, each under its recording's name."""
    (first, one), *others = recordings
    for name, data in others:
        for what in ("features", "static_names", "control_names"):
            ours, theirs = getattr(one, what), getattr(data, what)
            if ours != theirs:
                raise BadInput(
                    f"{name} has {', '.join(theirs) or 'none'} where {first} has "
                    f"{', '.join(ours) or 'none'}: give all files the same columns."
                )
        if data.units != one.units:
            raise BadInput(
                f"{name} is measured in {data.units}, {first} in {one.units}: give all files the "
                "same units."
            )
    every = [data for _, data in recordings]
    N, A = (max(data.values.shape[axis] for data in every) for axis in (1, 2))
    graphs = None
    if any(data.graph is not None for data in every):
        graphs = np.zeros((sum(map(len, every)), A, A), dtype=bool)
        for p, graph in enumerate(graph for data in every for graph in data.neighbours):
            graphs[p, : len(graph), : len(graph)] = graph
    return replace(
        one,
        values=_stack([v for data in every for v in data.values], (N, A)),
        times=_stack([t for data in every for t in data.times], (N,)),
        static=_stack([s for data in every for s in data.static], (A,)),
        controls=_stack([c for data in every for c in data.controls], (N, A)),
        graph=graphs,
        sequence_names=tuple(
            name if len(data) == 1 else f"{name}/{sequence}"
            for name, data in recordings
            for sequence in data.sequence_names
        ),
        object_names=tuple(
            names + ("",) * (A - len(names)) for data in every for names in data.object_names
        ),
    )


def _stack(arrays: Sequence[np.ndarray], sizes: tuple[int, ...]) -> np.ndarray:
    """One array of all, with NaN where one is shorter than `sizes`."""
    stacked = np.full((len(arrays), *sizes, *arrays[0].shape[len(sizes) :]), np.nan)
    for i, array in enumerate(arrays):
        stacked[(i, *map(slice, array.shape[: len(sizes)]))] = array
    return stacked


def _graphs(graph: np.ndarray, places: Sequence[tuple], A: int) -> Bool[np.ndarray, "Q A A"]:
    graphs = np.zeros((len(places), A, A), dtype=bool)
    for i, (p, _, a) in enumerate(places):
        graphs[i, : len(a), : len(a)] = graph[p][np.ix_(a, a)]
    return graphs
