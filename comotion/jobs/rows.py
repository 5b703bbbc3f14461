"""Rows of finished runs in one file, and claims on runs that are being made.

Both rest on locks that the system lets go of when their holder dies, however it dies: a row is
whole or is not there.
"""

import json
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from comotion.backend import disk

Row = dict[str, Any]


@dataclass(frozen=True)
class RunRows:
    """A file with one JSON object a line."""

    path: Path

    def read(self) -> list[Row]:
        """All rows; of rows with the same id the first, which may have been used already.

        A line that is no row is named once and left out.
        """
        if not self.path.exists():
            return []
        found: dict[str, Row] = {}
        for number, line in enumerate(self.path.read_bytes().splitlines(), 1):
            row = _parsed(line)
            if row is not None:
                found.setdefault(row["id"], row)
            elif line.strip():
                _tell(self.path, number)
        return list(found.values())

    def ids(self) -> set[str]:
        return {row["id"] for row in self.read()}

    def append(self, row: Row) -> bool:
        """Whether the row is new: a run is counted once, whoever finishes it."""
        line = json.dumps(row, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b", buffering=0) as file:
            disk.lock(file.fileno(), wait=True)
            file.seek(0)
            content = file.read()
            known = (_parsed(before) for before in content.splitlines())
            if row["id"] in {before["id"] for before in known if before is not None}:
                return False
            cut_short = content != b"" and not content.endswith(b"\n")
            try:
                rest = (b"\n" if cut_short else b"") + line.encode()
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(len(content))  # no half of a line on a full disk
                raise
        return True

    def claim(self, id_: str) -> disk.Claim | None:
        """A claim on the run's row, or None if someone else is making it."""
        return disk.claim(self.path.parent / f".{self.path.stem}-claims" / id_)


def _parsed(line: bytes) -> Row | None:
    """None for what is no row: cut short by a kill or a full disk, or damaged."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("id"), str) else None


@cache
def _tell(path: Path, number: int) -> None:
    print(f"note: {path}, line {number} is no row and is left out", file=sys.stderr)
