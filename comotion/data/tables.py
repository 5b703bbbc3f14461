"""Long tables, one row for every object and frame, to and from trajectories."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from comotion.data import columns, defaults
from comotion.data.columns import Source
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

Rows = Int[np.ndarray, "rows"]


@dataclass(frozen=True)
class Cells:
    """Where each row of a table belongs in the arrays."""

    sequence: Rows
    frame: Rows
    slot: Rows

    @property
    def shape(self) -> tuple[int, int, int]:
        P, N, A = (int(index.max()) + 1 for index in (self.sequence, self.frame, self.slot))
        return P, N, A

    def scatter(self, table: list[Float[np.ndarray, "rows"]]) -> Float[np.ndarray, "P N A K"]:
        array = np.full((*self.shape, len(table)), np.nan)
        for k, column in enumerate(table):
            array[self.sequence, self.frame, self.slot, k] = column
        return array


def from_arrow(table: pa.Table, source: Source, extra: Sequence[str] = ()) -> Trajectories:
    """Trajectories from rows in any order; columns in `extra` become further features."""
    layout = columns.find_layout(table.column_names, source, extra)
    if table.num_rows == 0:
        raise BadInput(f"{source.name} has no rows: give at least two frames of one object.")
    time = _times(table, source)
    sequence, sequence_names = _sequences(table, source)
    object_, object_names = columns.labels(table, "object", source)
    cells = Cells(sequence, rank_within(sequence, time), rank_within(sequence, object_))
    _refuse_repeated(cells, source)
    _refuse_sparse(cells, source)
    times = np.full(cells.shape[:2], np.nan)
    times[cells.sequence, cells.frame] = time
    _refuse_single_frames(times, sequence_names, source)

    def read_columns(wanted: Sequence[str]) -> list[Float[np.ndarray, "rows"]]:
        return [columns.numbers(table, name, source) for name in wanted]

    return Trajectories.from_arrays(
        cells.scatter(read_columns(layout.features)),
        times,
        features=layout.features,
        static=_static(cells, layout.static, read_columns(layout.static), source),
        static_names=[name.removeprefix("static_") for name in layout.static],
        controls=cells.scatter(read_columns(layout.controls)),
        control_names=[name.removeprefix("control_") for name in layout.controls],
        sequence_names=sequence_names,
        object_names=_names_of_slots(cells, object_, object_names),
    )


def _times(table: pa.Table, source: Source) -> Float[np.ndarray, "rows"]:
    time = columns.numbers(table, "time", source)
    if np.isnan(time).any():
        row = int(np.argmax(np.isnan(time)))
        raise BadInput(f"{source.row(row)}: column 'time' is empty: every row needs a time.")
    return time


def _sequences(table: pa.Table, source: Source) -> tuple[Rows, list[str]]:
    if "sequence" in table.column_names:
        return columns.labels(table, "sequence", source)
    return np.zeros(table.num_rows, dtype=np.int64), ["0"]


def _names_of_slots(cells: Cells, object_: Rows, names: list[str]) -> list[list[str]]:
    P, _, A = cells.shape
    label = np.full((P, A), len(names))
    label[cells.sequence, cells.slot] = object_
    names = [*names, ""]
    return [[names[i] for i in row] for row in label.tolist()]


def rank_within(group: Rows, key: np.ndarray) -> Rows:
    """How many different smaller keys each row's group has."""
    order = np.lexsort((key, group))
    new_group = np.diff(group[order], prepend=-1) != 0
    new_key = new_group | np.append(True, np.diff(key[order]) != 0)
    position = np.cumsum(new_key)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = position - position[new_group][np.cumsum(new_group) - 1]
    return ranks


def _refuse_repeated(cells: Cells, source: Source) -> None:
    """Several rows for one object in one frame."""
    order = np.lexsort((cells.slot, cells.frame, cells.sequence))
    sorted_cells = np.stack([cells.sequence, cells.frame, cells.slot])[:, order]
    repeats = np.all(np.diff(sorted_cells, axis=1) == 0, axis=0)
    if np.any(repeats):
        first = int(np.argmax(repeats))
        one, other = sorted(order[[first, first + 1]].tolist())
        raise BadInput(
            f"{source.row(other)} has the same sequence, object and time as "
            f"{source.row(one).removeprefix(source.name + ', ')}: remove one of them."
        )


def _refuse_sparse(cells: Cells, source: Source) -> None:
    """Objects that do not share frames would need arrays far larger than the table."""
    size, rows = int(np.prod(cells.shape)), len(cells.frame)
    if size > max(2e7, 50 * rows):
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
    cells: Cells, names: Sequence[str], table: list[np.ndarray], source: Source
) -> Float[np.ndarray, "P A C"]:
    """One value per object, which all its rows must share; empty cells do not count."""
    P, _, A = cells.shape
    static = np.full((P, A, len(names)), np.nan)
    for c, (name, column) in enumerate(zip(names, table, strict=True)):
        filled = np.flatnonzero(~np.isnan(column))[::-1]
        static[cells.sequence[filled], cells.slot[filled], c] = column[filled]
        expected = static[cells.sequence, cells.slot, c]
        differs = ~np.isnan(column) & (column != expected)
        if differs.any():
            row = int(np.argmax(differs))
            raise BadInput(
                f"{source.row(row)}: column {name!r} is {column[row]:g}, but {expected[row]:g} "
                "in an earlier row of the same object: a static property cannot change; "
                f"correct it or rename the column to control_{name.removeprefix('static_')}."
            )
    return static


def to_arrow(data: Trajectories) -> pa.Table:
    """One row for every object and frame with a value."""
    _refuse_untabular(data)
    p, n, a = np.nonzero(_rows_to_keep(data))
    table: dict[str, pa.Array] = {
        "sequence": _label_column([data.sequence_names[i] for i in p.tolist()]),
        "object": _label_column(np.array(data.object_names)[p, a].tolist()),
        "time": pa.array(data.times[p, n]),
    }
    parts = [(data.features, data.values[p, n, a])]
    parts.append((tuple(f"static_{name}" for name in data.static_names), data.static[p, a]))
    parts.append((tuple(f"control_{name}" for name in data.control_names), data.controls[p, n, a]))
    for names, array in parts:
        for k, name in enumerate(names):
            table[name] = pa.array(array[:, k], from_pandas=True)
    return pa.table(table)


def _refuse_untabular(data: Trajectories) -> None:
    if len(set(data.sequence_names)) < len(data):
        raise BadInput("Two sequences share a name: make the names different or write a .nc file.")
    if (data.neighbours != defaults.graph(None, data.exists)).any():
        raise BadInput("A table cannot hold a graph of neighbours: write a .nc file instead.")


def _rows_to_keep(data: Trajectories) -> np.ndarray:
    """Rows with a number, and an empty one for each frame or object that would vanish."""
    keep = np.any(data.present, axis=-1) | np.any(~np.isnan(data.controls), axis=-1)
    exists, is_frame = data.exists, np.isfinite(data.times)
    lonely_object = exists & ~keep.any(axis=1)
    keep[:, 0] |= lonely_object
    p, n = np.nonzero(is_frame & ~keep.any(axis=2))
    keep[p, n, exists.argmax(axis=1)[p]] = True
    return keep


def _label_column(names: list[str]) -> pa.Array:
    """Whole numbers where nothing is lost by it."""
    different = set(names)
    if all(name.lstrip("-").isdecimal() and str(int(name)) == name for name in different):
        return pa.array([int(name) for name in names])
    return pa.array(names)
