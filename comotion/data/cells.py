"""Cells of a table as numbers, times and labels; a cell that cannot be used is quoted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from numbers import Number
from pathlib import Path
from types import NoneType

import numpy as np
from jaxtyping import Bool, Float, Int

from comotion.errors import BadInput

MISSING = {None, "", "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "None"}
DECIMAL_COMMA = re.compile(r"^([-+]?\d*),(\d+)$")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*?)?(Z|[+-]\d\d:?\d\d)?")


@dataclass(frozen=True, eq=False)
class DataTable:
    """Columns of one length with their names, which may repeat until they are looked at.

    Text is an array of objects, None where there is nothing.
    """

    columns: Sequence[tuple[str, np.ndarray]]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def __getitem__(self, name: str) -> np.ndarray:
        return dict(self.columns)[name]

    def __len__(self) -> int:
        return len(self.columns[0][1]) if self.columns else 0


def with_gaps(column: np.ndarray, gaps: Bool[np.ndarray, "rows"]) -> np.ndarray:
    """A copy of objects, None in the gaps."""
    objects = column.astype(object)
    objects[gaps] = None
    return objects


@dataclass(frozen=True)
class Source:
    """Where a table came from, so that errors can say where to look.

    Rows of a text file start after line `skipped`, with the `delimiter` between cells, None for
    any blanks; blank lines are no rows.
    """

    name: str
    text: Path | None = None
    skipped: int = 0
    delimiter: str | None = ","

    def row(self, index: int) -> str:
        if self.text is None:
            return f"{self.name}, row {index} (counted from 0)"
        return f"{self.name}, line {self.line(index)}"

    def line(self, index: int) -> int:
        if self.text is None:
            return index
        with self.text.open(encoding="utf-8") as lines:
            numbered = islice(enumerate(lines, 1), self.skipped, None)
            blanks = None if self.delimiter is None else "\n"
            filled = (number for number, line in numbered if line.strip(blanks))
            return next(islice(filled, index, None))


def numbers(table: DataTable, name: str, source: Source) -> Float[np.ndarray, "rows"]:
    """A column as float64, NaN where a cell is empty."""
    column = _of_one_kind(table, name, source)
    if column.dtype == object:
        values = _parsed(column, name, source)
    elif np.can_cast(column.dtype, np.float64, "same_kind"):
        values = column.astype(np.float64)
    else:
        kind = {"M": "timestamps", "m": "durations"}.get(column.dtype.kind, column.dtype.name)
        raise BadInput(
            f"{source.name}: column {name!r} holds {kind}, not numbers: "
            "convert it to numbers first."
        )
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise BadInput(
            f"{source.row(row)}: column {name!r} is infinite: "
            "give a finite number, or leave the cell empty if the value is missing."
        )
    return values


def times(table: DataTable, name: str, source: Source) -> tuple[Float[np.ndarray, "rows"], str]:
    """A column of times, and the first date if it holds dates: seconds count from there."""
    dates = _as_dates(_of_one_kind(table, name, source), source)
    if dates is None:
        time, origin = _plain_times(table, name, source), ""
    else:
        first = np.nanmin(dates)
        time = (dates - first) / np.timedelta64(1, "s")
        origin = str(first)[: len("2024-05-31T12:00:00")].replace("T", " ")
    if np.isnan(time).any():
        row = int(np.argmax(np.isnan(time)))
        raise BadInput(f"{source.row(row)}: column {name!r} is empty: every row needs a time.")
    return time, origin


def _plain_times(table: DataTable, name: str, source: Source) -> Float[np.ndarray, "rows"]:
    try:
        return numbers(table, name, source)
    except BadInput as error:
        sentence = str(error).replace(
            "which is not a number", "which is neither a number nor a date such as 2024-05-31T12:00"
        )
        raise BadInput(sentence) from None


def _as_dates(column: np.ndarray, source: Source) -> np.ndarray | None:
    """In nanoseconds; None for what holds no dates."""
    if column.dtype.kind == "M":
        return column.astype("datetime64[ns]")
    if column.dtype != object or not DATE.match(next(filter(None, _trimmed(column, source)), "")):
        return None
    import pandas as pd

    text = list(_trimmed(column, source))
    zoned = {found and found[1] is not None for found in map(DATE.fullmatch, filter(None, text))}
    if zoned not in ({True}, {False}):
        return None
    try:
        dates = pd.to_datetime(np.array(text, object), format="ISO8601", utc=True)
    except ValueError:
        return None
    return dates.tz_localize(None).as_unit("ns").to_numpy()


def _of_one_kind(table: DataTable, name: str, source: Source) -> np.ndarray:
    """Numbers, dates or text; Python's objects as the one of these that all of them are."""
    column = table[name]
    if column.dtype.kind in "SUT":
        return column.astype(str).astype(object)
    if column.dtype != object:
        return column
    kinds = set(map(type, column.tolist())) - {NoneType}
    for kind, dtype in ((str, object), (Number, np.float64), (date, "datetime64[ns]")):
        if all(issubclass(found, kind) for found in kinds):
            return column.astype(dtype, copy=False)
    what = "mixes kinds of values" if len(kinds) > 1 else "holds neither numbers nor text"
    raise BadInput(
        f"{source.name}: column {name!r} {what} ({', '.join(sorted(k.__name__ for k in kinds))}): "
        "convert the column to one kind."
    )


def _parsed(column: np.ndarray, name: str, source: Source) -> Float[np.ndarray, "rows"]:
    """Text as numbers: as Python reads them, but 1_000 is none."""
    try:
        if "_" not in "".join(filter(None, column)):
            return with_gaps(column, column == "").astype(np.float64)
    except ValueError:  # then cell by cell: decimal commas, words for missing, or a wrong one
        pass
    values = np.full(len(column), np.nan)
    for row, cell in enumerate(_trimmed(column, source)):
        try:
            values[row] = np.nan if cell is None else float(cell.replace("_", "?"))
        except ValueError:
            raise BadInput(
                f"{source.row(row)}: column {name!r} holds {cell!r}, which is not a number: "
                "correct it, or leave the cell empty if the value is missing."
            ) from None
    return values


def _trimmed(column: np.ndarray, source: Source) -> Iterator[str | None]:
    """Text without blanks around it, None where it says that a value is missing."""
    for cell in column:
        trimmed = cell and cell.strip()
        if trimmed and source.delimiter != ",":
            trimmed = DECIMAL_COMMA.sub(r"\1.\2", trimmed)
        yield None if trimmed in MISSING else trimmed


def labels(
    table: DataTable, name: str, source: Source, what: str
) -> tuple[Int[np.ndarray, "rows"], list[str]]:
    """The number of each row's label, and the labels in natural order."""
    column = _of_one_kind(table, name, source)
    if column.dtype.kind == "M":
        column = with_gaps(np.datetime_as_string(column, unit="auto"), np.isnat(column))
    cells = column.tolist()
    place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    different = np.fromiter(map(place.__getitem__, cells), np.int64, len(cells))
    found = _whole([_label(cell) for cell in place])
    empty = np.array([not label for label in found])[different]
    if empty.any():
        raise BadInput(
            f"{source.row(int(np.argmax(empty)))}: column {name!r} is empty: "
            f"every row needs {'an' if what == 'object' else 'a'} {what}."
        )
    ordered = natural_order(list(dict.fromkeys(found)))
    rank = {label: i for i, label in enumerate(ordered)}
    return np.array([rank[label] for label in found])[different], ordered


def _label(cell: str | bool | int | float | None) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


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
