"""From rows in any order to arrays: each row finds its sequence, frame and slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from comotion.data.cells import Source
from comotion.data.rows import Index, Numbers, Rows
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

SHORTEST_PIECE = 40
ROOM = 2e7


@dataclass(frozen=True)
class Cells:
    """Where each row of a table belongs in the arrays."""

    sequence: Index
    frame: Index
    slot: Index

    @property
    def shape(self) -> tuple[int, int, int]:
        P, N, A = (int(index.max()) + 1 for index in (self.sequence, self.frame, self.slot))
        return P, N, A

    def scatter(self, columns: Sequence[Numbers]) -> Float[np.ndarray, "P N A K"]:
        array = np.full((*self.shape, len(columns)), np.nan)
        for k, column in enumerate(columns):
            array[self.sequence, self.frame, self.slot, k] = column
        return array

    def row_at(self, place: tuple[int, int, int]) -> int:
        p, n, a = place
        here = (self.sequence == p) & (self.frame == n) & (self.slot == a)
        return int(np.flatnonzero(here)[0])


def assemble(rows: Rows, source: Source) -> tuple[Trajectories, Cells]:
    cells = _cells(rows)
    _refuse_repeated(cells, rows.row, source)
    _refuse_strangers(cells, source)
    rows, cells = cut_if_sparse(rows, cells)
    _refuse_sparse(cells, source)
    times = np.full(cells.shape[:2], np.nan)
    times[cells.sequence, cells.frame] = rows.time
    _refuse_single_frames(times, rows.sequence_names, source)
    data = Trajectories.from_arrays(
        cells.scatter(list(rows.features.values())),
        times,
        features=tuple(rows.features),
        static=_static(cells, rows.static, rows.row, source),
        static_names=[name.removeprefix("static_") for name in rows.static],
        controls=cells.scatter(list(rows.controls.values())),
        control_names=[name.removeprefix("control_") for name in rows.controls],
        sequence_names=rows.sequence_names,
        object_names=_names_of_slots(cells, rows),
    )
    return data, cells


def _cells(rows: Rows) -> Cells:
    return Cells(
        rows.sequence,
        rank_within(rows.sequence, rows.time),
        rank_within(rows.sequence, rows.object),
    )


def cut_if_sparse(rows: Rows, cells: Cells) -> tuple[Rows, Cells]:
    """Recordings whose objects are never there together, cut into pieces that fit in memory.

    A dense array has a slot for every object of a sequence; most of it would be empty.
    """
    enough = max(ROOM, 10 * len(rows.time))
    frames = cells.shape[1]
    pieces = 1
    best, cut = rows, cells
    while np.prod(cut.shape) > enough and frames // (2 * pieces) >= SHORTEST_PIECE:
        pieces *= 2
        best = _cut(rows, cells, pieces)
        cut = _cells(best)
    return (rows, cells) if _tracks(cut) > len(rows.time) / 2 else (best, cut)


def _tracks(cells: Cells) -> int:
    return len(np.unique(cells.sequence * cells.shape[2] + cells.slot))


def _cut(rows: Rows, cells: Cells, pieces: int) -> Rows:
    """Every sequence in so many pieces of about the same number of frames."""
    lengths = np.zeros(int(cells.sequence.max()) + 1, dtype=np.int64)
    np.maximum.at(lengths, cells.sequence, cells.frame + 1)
    each = np.minimum(pieces, np.maximum(lengths // SHORTEST_PIECE, 1))
    piece = cells.frame * each[cells.sequence] // lengths[cells.sequence]
    first = np.cumsum(each) - each
    names = [
        f"{name}.{k + 1}" if count > 1 else name
        for name, count in zip(rows.sequence_names, each.tolist(), strict=True)
        for k in range(count)
    ]
    return replace(rows, sequence=first[cells.sequence] + piece, sequence_names=names)


def _names_of_slots(cells: Cells, rows: Rows) -> list[list[str]]:
    P, _, A = cells.shape
    label = np.full((P, A), len(rows.object_names))
    label[cells.sequence, cells.slot] = rows.object
    names = [*rows.object_names, ""]
    return [[names[i] for i in row] for row in label.tolist()]


def rank_within(group: Index, key: np.ndarray) -> Index:
    """How many different smaller keys each row's group has."""
    order = np.lexsort((key, group))
    new_group = np.diff(group[order], prepend=-1) != 0
    new_key = new_group | np.append(True, np.diff(key[order]) != 0)
    position = np.cumsum(new_key)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = position - position[new_group][np.cumsum(new_group) - 1]
    return ranks


def _refuse_repeated(cells: Cells, row: Index, source: Source) -> None:
    """Several rows for one object in one frame."""
    order = np.lexsort((cells.slot, cells.frame, cells.sequence))
    sorted_cells = np.stack([cells.sequence, cells.frame, cells.slot])[:, order]
    repeats = np.all(np.diff(sorted_cells, axis=1) == 0, axis=0)
    if np.any(repeats):
        first = int(np.argmax(repeats))
        one, other = sorted(row[order[[first, first + 1]]].tolist())
        raise BadInput(
            f"{source.row(other)} has the same sequence, object and time as "
            f"{source.row(one).removeprefix(source.name + ', ')}: remove one of them."
        )


def _refuse_strangers(cells: Cells, source: Source) -> None:
    """Where no object is seen twice, the column of objects holds something else."""
    if _tracks(cells) == len(cells.slot) > 1:
        raise BadInput(
            f"{source.name} shows each of its {len(cells.slot)} objects only once, so nothing "
            "moves: check which column holds the object."
        )


def _refuse_sparse(cells: Cells, source: Source) -> None:
    """Objects that do not share frames would need arrays far larger than the table."""
    size, rows = int(np.prod(cells.shape)), len(cells.frame)
    if size > max(ROOM, 50 * rows):
        P, N, A = cells.shape
        raise BadInput(
            f"{source.name} has {rows} rows for {P} sequences of up to {N} different times and "
            f"{A} objects: let objects share frames by rounding their times, or use more sequences."
        )


def _refuse_single_frames(times: np.ndarray, names: Sequence[str], source: Source) -> None:
    single = np.isfinite(times).sum(axis=1) < 2
    if single.any():
        name = names[int(np.argmax(single))]
        raise BadInput(
            f"{source.name}: sequence {name!r} has only one frame: "
            "give at least two, or leave the sequence out."
        )


def _static(
    cells: Cells, columns: Mapping[str, Numbers], row: Index, source: Source
) -> Float[np.ndarray, "P A C"]:
    """One value per object, which all its rows must share; empty cells do not count."""
    P, _, A = cells.shape
    static = np.full((P, A, len(columns)), np.nan)
    for c, (name, column) in enumerate(columns.items()):
        filled = np.flatnonzero(~np.isnan(column))[::-1]
        static[cells.sequence[filled], cells.slot[filled], c] = column[filled]
        expected = static[cells.sequence, cells.slot, c]
        differs = ~np.isnan(column) & (column != expected)
        if differs.any():
            i = int(np.argmax(differs))
            raise BadInput(
                f"{source.row(int(row[i]))}: column {name!r} is {column[i]:g}, but {expected[i]:g} "
                "in an earlier row of the same object: a static property cannot change; "
                f"correct it or rename the column to control_{name.removeprefix('static_')}."
            )
    return static
