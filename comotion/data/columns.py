"""The columns of a long table: which ones there are, and their cells as numbers and labels."""

# pyright: reportAttributeAccessIssue=false
# (pyarrow.compute makes its functions when it is imported)

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float, Int

from comotion.data.checks import KEYS, POSITIONS, PREFIXES, VELOCITIES
from comotion.errors import BadInput

ALLOWED = "sequence, object, time, x, y, z, vx, vy, vz, and any starting with static_ or control_"
MISSING = pa.array(["", "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None"])


@dataclass(frozen=True)
class Source:
    """Where a table came from, so that errors can say where to look."""

    name: str
    csv: Path | None = None

    def row(self, index: int) -> str:
        if self.csv is None:
            return f"{self.name}, row {index} (counted from 0)"
        return f"{self.name}, line {_line_of_row(self.csv, index)}"


def _line_of_row(csv: Path, index: int) -> int:
    """Blank lines are no rows, and the first line that is not blank is the header."""
    with csv.open(encoding="utf-8") as lines:
        filled = (number for number, line in enumerate(lines, 1) if line != "\n")
        return next(islice(filled, index + 1, None))


@dataclass(frozen=True)
class Layout:
    """Which columns of a table play which part."""

    features: tuple[str, ...]
    static: tuple[str, ...]
    controls: tuple[str, ...]


def find_layout(names: Sequence[str], source: Source, extra: Sequence[str]) -> Layout:
    """Sort the columns into their parts; `extra` are further features."""
    _refuse_repeated(names, source)
    missing = [name for name in ("object", "time", "x", *extra) if name not in names]
    if missing:
        raise BadInput(
            f"{source.name} has no column {missing[0]!r} (it has {', '.join(names)}): "
            "add it or rename the column that holds it."
        )
    static, controls = (
        tuple(name for name in names if name.startswith(prefix)) for prefix in PREFIXES
    )
    known = {*KEYS, *POSITIONS, *VELOCITIES, *extra, *static, *controls}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInput(
            f"{source.name} has an unknown column {unknown[0]!r}; allowed are {ALLOWED}: "
            f"drop it with ignore=[{unknown[0]!r}] or keep it as a feature with "
            f"extra=[{unknown[0]!r}]."
        )
    return Layout(_features(names, source) + tuple(extra), static, controls)


def _features(names: Sequence[str], source: Source) -> tuple[str, ...]:
    """Positions x, y, z without a gap, then velocities for all of them or for none."""
    positions = tuple(name for name in POSITIONS if name in names)
    velocities = tuple(name for name in VELOCITIES if name in names)
    wanted = tuple("v" + name for name in positions)
    if positions == ("x", "z"):
        raise BadInput(f"{source.name} has columns x and z but no y: add it or rename z to y.")
    if velocities not in ((), wanted):
        raise BadInput(
            f"{source.name} has positions {', '.join(positions)} but velocities "
            f"{', '.join(velocities)}: give {', '.join(wanted)} or no velocities."
        )
    return positions + velocities


def _refuse_repeated(names: Sequence[str], source: Source) -> None:
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise BadInput(f"{source.name} has two columns {repeated[0]!r}: remove or rename one.")


def numbers(table: pa.Table, name: str, source: Source) -> Float[np.ndarray, "rows"]:
    """A column as float64, NaN where a cell is empty."""
    column = table[name]
    if _is_text(column.type):
        column = pc.utf8_trim_whitespace(column.cast(pa.string()))
        column = pc.if_else(pc.is_in(column, value_set=MISSING), None, column)
    try:
        values = np.array(pc.cast(column, pa.float64(), safe=False).to_numpy())
    except pa.ArrowInvalid:
        row, cell = _first_not_a_number(column)
        raise BadInput(
            f"{source.row(row)}: column {name!r} holds {cell!r}, which is not a number: "
            "correct it, or leave the cell empty if the value is missing."
        ) from None
    except pa.ArrowNotImplementedError:
        raise BadInput(
            f"{source.name}: column {name!r} holds {column.type}, not numbers: "
            "convert it to numbers first (for times, for example seconds since the start)."
        ) from None
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise BadInput(
            f"{source.row(row)}: column {name!r} is infinite: "
            "give a finite number, or leave the cell empty if the value is missing."
        )
    return values


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _first_not_a_number(column: pa.ChunkedArray) -> tuple[int, str]:
    def fails_up_to(row: int) -> bool:
        try:
            pc.cast(column[: row + 1], pa.float64())
        except pa.ArrowInvalid:
            return True
        return False

    row = bisect_left(range(len(column)), True, key=fails_up_to)
    return row, column[row].as_py()


def labels(table: pa.Table, name: str, source: Source) -> tuple[Int[np.ndarray, "rows"], list[str]]:
    """The number of each row's label, and the labels in natural order."""
    column = _as_text(table[name])
    empty = pc.fill_null(pc.equal(column, ""), True).to_numpy()
    if empty.any():
        raise BadInput(
            f"{source.row(int(np.argmax(empty)))}: column {name!r} is empty: "
            f"every row needs {'an' if name == 'object' else 'a'} {name}."
        )
    encoded = pc.dictionary_encode(column).combine_chunks()
    found = encoded.dictionary.to_pylist()
    ordered = natural_order(found)
    rank = {label: i for i, label in enumerate(ordered)}
    return np.array([rank[label] for label in found])[encoded.indices.to_numpy()], ordered


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Labels as text; whole numbers stored as floats lose their ".0"."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        if pc.all(pc.equal(column, pc.round(column))).as_py():
            column = column.cast(pa.int64())
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def natural_order(names: Sequence[str]) -> list[str]:
    """By value if all are numbers, otherwise as people count: ball2 before ball10."""
    try:
        return sorted(names, key=lambda name: (float(name), name))
    except ValueError:
        return sorted(names, key=lambda name: (_pieces(name), name))


def _pieces(name: str) -> list[str | int]:
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", name))]
