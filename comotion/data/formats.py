"""Text files, Parquet and files of arrays, each as one table or a set of arrays."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comotion.data import frames
from comotion.data.cells import DataTable, Source
from comotion.errors import BadInput


@dataclass(frozen=True)
class Dialect:
    """How a text file is written: names of columns (none without a header), where rows start."""

    names: tuple[str, ...] | None
    skipped: int
    delimiter: str | None  # None: any blanks
    first: tuple[str, ...]  # cells of the first line that is no comment


def read_text(path: Path) -> tuple[DataTable, Source, Dialect]:
    """Every cell as text, so that errors can quote it; columns without a header are numbered."""
    lines = _lines(path)
    dialect = find_dialect(lines, path.name)
    source = Source(path.name, path, dialect.skipped, dialect.delimiter)
    rows = list(filter(str.strip if dialect.delimiter is None else None, lines[dialect.skipped :]))
    names = list(dialect.names or map(str, range(len(dialect.first))))
    cells = _cells(rows, len(names), source)
    return DataTable(list(zip(names, cells.T, strict=True))), source, dialect


def _cells(rows: list[str], width: int, source: Source) -> np.ndarray:
    if not rows:
        return np.empty((0, width), object)
    try:
        # Three times as fast as the csv module.
        cells = np.loadtxt(
            rows, dtype=object, delimiter=source.delimiter, quotechar='"', comments=None, ndmin=2
        )
    except ValueError:
        cells = np.empty((0, 0))
    if cells.shape == (len(rows), width):
        return cells
    for i, row in enumerate(rows):
        count = len(cells_of(row, source.delimiter))
        if count != width:
            if row.count('"') % 2:
                raise BadInput(f"{source.row(i)}: a quote is not closed: close it or take it out.")
            raise BadInput(
                f"{source.row(i)} has {count} cells, but the header has {width}: "
                "give every row the same columns."
            )
    raise BadInput(f"{source.name} cannot be read as CSV (a quote is not closed): check it.")


def find_dialect(lines: Sequence[str], where: str) -> Dialect:
    """Lines that begin with # are skipped; the last of them may be the header.

    A first line of numbers only is no header.
    """
    comment, skipped, line = "", 0, ""
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            break
        comment = line.strip("# \t") or comment
        skipped += 1
    else:
        raise BadInput(f"{where} is empty: give a header line and at least two frames.")
    delimiter = max(",;\t|", key=line.count)
    delimiter = delimiter if delimiter in line else None
    cells = tuple(cells_of(line, delimiter))
    if not all(map(is_number, cells)):
        return Dialect(_names(cells), skipped + 1, delimiter, cells)
    header = cells_of(comment, delimiter)
    names = _names(header) if len(header) == len(cells) else None
    return Dialect(names, skipped, delimiter, cells)


def cells_of(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def is_number(cell: str) -> bool:
    try:
        float(cell.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def _names(cells: Sequence[str]) -> tuple[str, ...]:
    """A heading without text is how a data frame writes its index."""
    return tuple(cell.strip() or "(index)" for cell in cells)


def _lines(path: Path) -> list[str]:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{path.name}, line {line} is not UTF-8 text: save the file in that encoding."
        ) from None
    # Old spreadsheets end lines with \r alone.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def read_parquet(path: Path) -> DataTable:
    arrow = pyarrow_for_parquet()
    try:
        content = arrow.parquet.read_table(path, page_checksum_verification=True)
        return frames.as_table(content, path.name)
    except BadInput:
        raise
    except Exception as error:  # names that are no text come to light only when they are used
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(
            f"{path.name} cannot be read as Parquet ({reason}): check or make it again."
        ) from None


def read_arrays(path: Path) -> np.ndarray | dict[str, np.ndarray]:
    """What a .npy or .npz file holds; stored Python objects are refused, they could run code."""
    try:
        with path.open("rb") as file:  # NumPy leaves a damaged one open
            content = np.load(file, allow_pickle=False)
            return content if isinstance(content, np.ndarray) else {k: content[k] for k in content}
    except Exception as error:  # whatever bytes that mean nothing make of the reader
        if "allow_pickle" in str(error):
            raise BadInput(
                f"{path.name} holds Python objects, not plain arrays, and opening them could run "
                "code: if you trust the file, give cm.read what np.load(…, allow_pickle=True) "
                "gives, or export it as .csv (idtracker.ai does)."
            ) from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(
            f"{path.name} cannot be read as arrays ({reason}): check or make it again."
        ) from None


def write_csv(table: DataTable, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.names)
        writer.writerows(zip(*(_written(column) for _, column in table.columns), strict=True))


def _written(column: np.ndarray) -> Iterable[Any]:
    """The shortest text that gives a number back, none for NaN."""
    if column.dtype.kind != "f":
        return column.tolist()
    numbers = column.tolist() if column.dtype == np.float64 else column
    return ("" if number != number else str(number).removesuffix(".0") for number in numbers)


def write_parquet(table: DataTable, path: Path) -> None:
    arrow = pyarrow_for_parquet()
    content = frames.as_frame(table, "pyarrow")
    arrow.parquet.write_table(content, path, write_page_checksum=True)


def pyarrow_for_parquet() -> Any:
    """What speaks Parquet; it is an extra, because it is larger than all else that reads tables."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(
            "Parquet files need pyarrow: pip install 'comotion[parquet]', or use .csv."
        ) from None
    return pyarrow
