"""CSV and Parquet files as arrow tables."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from comotion.data.columns import Source
from comotion.errors import BadInput


def read_csv(path: Path) -> pa.Table:
    """Every cell as text, so that errors can quote it."""
    _refuse_other_encodings(path)
    header, line = _header(path)
    delimiter = max(",;\t", key=header.count)
    wrong: list[arrow_csv.InvalidRow] = []

    def refuse(row: arrow_csv.InvalidRow) -> str:
        wrong.append(row)
        return "error"

    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
        return arrow_csv.read_csv(
            path,
            # One thread, because several do not know the number of a wrong row.
            read_options=arrow_csv.ReadOptions(
                column_names=names, skip_rows=line, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, invalid_row_handler=refuse),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}
            ),
        )
    except (pa.ArrowInvalid, csv.Error) as error:
        if not wrong:
            raise BadInput(f"{path.name} cannot be read as CSV ({error}): check it.") from None
        row = Source(path.name, path).row(wrong[0].number - line - 1)
        raise BadInput(
            f"{row} has {wrong[0].actual_columns} cells, but the header has "
            f"{wrong[0].expected_columns}: give every row the same columns."
        ) from None


def _refuse_other_encodings(path: Path) -> None:
    content = path.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{path.name}, line {line} is not UTF-8 text: save the file in that encoding."
        ) from None


def _header(path: Path) -> tuple[str, int]:
    """The first line that is not blank, and its number."""
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                return line.rstrip("\n"), number
    raise BadInput(f"{path.name} is empty: give a header line and at least two frames.")


def read_parquet(path: Path) -> pa.Table:
    try:
        return parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(
            f"{path.name} cannot be read as Parquet ({reason}): check or make it again."
        ) from None


def write_csv(table: pa.Table, path: Path) -> None:
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(table.column_names)
    with path.open("wb") as file:
        file.write(header.getvalue().encode())
        arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False))


def write_parquet(table: pa.Table, path: Path) -> None:
    parquet.write_table(table, path)
