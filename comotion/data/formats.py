"""Text files, Parquet and files of arrays, each as one arrow table or a set of arrays."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from comotion.data.cells import Source
from comotion.errors import BadInput


@dataclass(frozen=True)
class Dialect:
    """How a text file is written: names of columns (none without a header), where rows start."""

    names: tuple[str, ...] | None
    skipped: int
    delimiter: str | None  # None: any blanks
    first: tuple[str, ...]  # cells of the first line that is no comment


def read_text(path: Path) -> tuple[pa.Table, Source, Dialect]:
    """Every cell as text, so that errors can quote it; columns without a header are numbered."""
    content = _decoded(path)
    dialect = find_dialect(content, path.name)
    source = Source(path.name, path, dialect.skipped, decimal_comma=dialect.delimiter != ",")
    body = content if not dialect.skipped else content.split("\n", dialect.skipped)[-1]
    names = list(dialect.names or map(str, range(len(dialect.first))))
    if dialect.delimiter is None:
        body = "\n".join(",".join(line.split()) for line in body.split("\n"))
    return _parse(body, names, dialect.delimiter or ",", source), source, dialect


def _parse(body: str, names: list[str], delimiter: str, source: Source) -> pa.Table:
    wrong: list[arrow_csv.InvalidRow] = []

    def refuse(row: arrow_csv.InvalidRow) -> str:
        wrong.append(row)
        return "error"

    if not body.strip():
        return pa.table({name: pa.array([], pa.string()) for name in dict.fromkeys(names)})
    try:
        return arrow_csv.read_csv(
            io.BytesIO(body.encode()),
            # One thread, because several do not know the number of a wrong row.
            read_options=arrow_csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, invalid_row_handler=refuse),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}
            ),
        )
    except pa.ArrowInvalid as error:
        if not wrong:
            raise BadInput(f"{source.name} cannot be read as CSV ({error}): check it.") from None
        number = wrong[0].number
        row = source.row(0 if number is None else number - 1)
        raise BadInput(
            f"{row} has {wrong[0].actual_columns} cells, but the header has "
            f"{wrong[0].expected_columns}: give every row the same columns."
        ) from None


def find_dialect(content: str, where: str) -> Dialect:
    """Lines that begin with # are skipped; the last of them may be the header.

    A first line of numbers only is no header.
    """
    comment, skipped, line = "", 0, ""
    for line in io.StringIO(content):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        comment = line.strip("# \t\n") or comment
        skipped += 1
    else:
        raise BadInput(f"{where} is empty: give a header line and at least two frames.")
    line = line.rstrip("\n")
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


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    try:
        # Old spreadsheets end lines with \r alone.
        return re.sub(r"\r\n?", "\n", content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{path.name}, line {line} is not UTF-8 text: save the file in that encoding."
        ) from None


def read_parquet(path: Path) -> pa.Table:
    try:
        return parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(
            f"{path.name} cannot be read as Parquet ({reason}): check or make it again."
        ) from None


def read_arrays(path: Path) -> np.ndarray | dict[str, np.ndarray]:
    """What a .npy or .npz file holds; stored Python objects are refused, they could run code."""
    try:
        content = np.load(path, allow_pickle=False)
        return content if isinstance(content, np.ndarray) else {k: content[k] for k in content}
    except (ValueError, OSError, EOFError) as error:
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


def write_csv(table: pa.Table, path: Path) -> None:
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(table.column_names)
    with path.open("wb") as file:
        file.write(header.getvalue().encode())
        arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False))


def write_parquet(table: pa.Table, path: Path) -> None:
    parquet.write_table(table, path)
