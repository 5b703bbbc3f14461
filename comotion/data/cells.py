"""Cells of a table as numbers, times and labels; a cell that cannot be used is quoted."""

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

from comotion.errors import BadInput

MISSING = pa.array(["", "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None"])


@dataclass(frozen=True)
class Source:
    """Where a table came from, so that errors can say where to look.

    Rows of a text file start after line `skipped`; blank lines are no rows.
    """

    name: str
    text: Path | None = None
    skipped: int = 0
    decimal_comma: bool = False

    def row(self, index: int) -> str:
        if self.text is None:
            return f"{self.name}, row {index} (counted from 0)"
        return f"{self.name}, line {self.line(index)}"

    def line(self, index: int) -> int:
        if self.text is None:
            return index
        with self.text.open(encoding="utf-8") as lines:
            numbered = islice(enumerate(lines, 1), self.skipped, None)
            filled = (number for number, line in numbered if line != "\n")
            return next(islice(filled, index, None))


def numbers(table: pa.Table, name: str, source: Source) -> Float[np.ndarray, "rows"]:
    """A column as float64, NaN where a cell is empty."""
    column = _trimmed(table[name], source)
    try:
        values = np.array(pc.cast(column, pa.float64(), safe=False).to_numpy())
    except pa.ArrowInvalid:
        row, cell = _first_that_fails(column, pa.float64())
        raise BadInput(
            f"{source.row(row)}: column {name!r} holds {cell!r}, which is not a number: "
            "correct it, or leave the cell empty if the value is missing."
        ) from None
    except pa.ArrowNotImplementedError:
        raise BadInput(
            f"{source.name}: column {name!r} holds {column.type}, not numbers: "
            "convert it to numbers first."
        ) from None
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise BadInput(
            f"{source.row(row)}: column {name!r} is infinite: "
            "give a finite number, or leave the cell empty if the value is missing."
        )
    return values


def times(table: pa.Table, name: str, source: Source) -> tuple[Float[np.ndarray, "rows"], str]:
    """A column of times, and the first date if it holds dates: seconds count from there."""
    column = _trimmed(table[name], source)
    dates = _as_dates(column)
    if dates is None:
        time, origin = _plain_times(table, name, source), ""
    else:
        seconds = pc.cast(dates, pa.int64()).to_numpy(zero_copy_only=False)
        time = (seconds - np.nanmin(seconds)) / 1e9
        origin = str(pc.min(dates).cast(pa.string()).as_py())[: len("2024-05-31 12:00:00")]
    if np.isnan(time).any():
        row = int(np.argmax(np.isnan(time)))
        raise BadInput(f"{source.row(row)}: column {name!r} is empty: every row needs a time.")
    return time, origin


def _plain_times(table: pa.Table, name: str, source: Source) -> Float[np.ndarray, "rows"]:
    try:
        return numbers(table, name, source)
    except BadInput as error:
        sentence = str(error).replace(
            "which is not a number", "which is neither a number nor a date such as 2024-05-31T12:00"
        )
        raise BadInput(sentence) from None


def _as_dates(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """In nanoseconds; None for what holds no dates."""
    if pa.types.is_temporal(column.type):
        return pc.cast(column, pa.timestamp("ns"), safe=False)
    if not _is_text(column.type):
        return None
    filled = column.drop_null()
    first = filled[0].as_py() if len(filled) else ""
    if not re.match(r"\d{4}-\d\d-\d\d", first):
        return None
    zone = "UTC" if re.search(r"(Z|[+-]\d\d:?\d\d)$", first) else None
    try:
        return pc.cast(column, pa.timestamp("ns", tz=zone))
    except pa.ArrowInvalid:
        return None


def _trimmed(column: pa.ChunkedArray, source: Source) -> pa.ChunkedArray:
    """Text without blanks around it, empty where it says that a value is missing."""
    if not _is_text(column.type):
        return column
    column = pc.utf8_trim_whitespace(column.cast(pa.string()))
    if source.decimal_comma:
        column = pc.replace_substring_regex(column, r"^([-+]?\d*),(\d+)$", r"\1.\2")
    return pc.if_else(pc.is_in(column, value_set=MISSING), None, column)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _first_that_fails(column: pa.ChunkedArray, kind: pa.DataType) -> tuple[int, str]:
    def fails_up_to(row: int) -> bool:
        try:
            pc.cast(column[: row + 1], kind)
        except pa.ArrowInvalid:
            return True
        return False

    row = bisect_left(range(len(column)), True, key=fails_up_to)
    return row, column[row].as_py()


def labels(
    table: pa.Table, name: str, source: Source, what: str
) -> tuple[Int[np.ndarray, "rows"], list[str]]:
    """The number of each row's label, and the labels in natural order."""
    column = _as_text(table[name])
    empty = pc.fill_null(pc.equal(column, ""), True).to_numpy()
    if empty.any():
        raise BadInput(
            f"{source.row(int(np.argmax(empty)))}: column {name!r} is empty: "
            f"every row needs {'an' if what == 'object' else 'a'} {what}."
        )
    encoded = pc.dictionary_encode(column).combine_chunks()
    found = _whole(encoded.dictionary.to_pylist())
    ordered = natural_order(found)
    rank = {label: i for i, label in enumerate(ordered)}
    return np.array([rank[label] for label in found])[encoded.indices.to_numpy()], ordered


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        if pc.all(pc.equal(column, pc.round(column))).as_py():
            column = column.cast(pa.int64())
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _whole(found: list[str]) -> list[str]:
    """Whole numbers that were stored as floats lose their ".0", if all of them have it."""
    if all(re.fullmatch(r"-?\d+\.0*", label) for label in found):
        return [label.partition(".")[0] for label in found]
    return found


def natural_order(names: Sequence[str]) -> list[str]:
    """By value if all are numbers, otherwise as people count: ball2 before ball10."""
    try:
        return sorted(names, key=lambda name: (float(name), name))
    except ValueError:
        return sorted(names, key=lambda name: (_pieces(name), name))


def _pieces(name: str) -> list[str | int]:
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", name))]
