"""Rows of finished runs in one file, and claims on runs that are being made.

Both rest on locks that the system lets go of when their holder dies, however it dies: there are
no stale claims to find, and a row is whole or is not there.
"""

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class RunRows:
    """A file with one JSON object a line."""

    path: Path

    def read(self) -> list[Row]:
        """All rows; of rows with the same id the first, which may have been used already."""
        if not self.path.exists():
            return []
        found: dict[str, Row] = {}
        for line in self.path.read_text().splitlines():
            row = _parsed(line)
            if row is not None:
                found.setdefault(row["id"], row)
        return list(found.values())

    def ids(self) -> set[str]:
        return {row["id"] for row in self.read()}

    def append(self, row: Row) -> bool:
        """Whether the row is new: a run is counted once, whoever finishes it."""
        line = json.dumps(row, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            content = file.read()
            known = (_parsed(before) for before in content.splitlines())
            if row["id"] in {before["id"] for before in known if before is not None}:
                return False
            cut_short = content != "" and not content.endswith("\n")
            file.write("\n" + line if cut_short else line)
            file.flush()
            os.fsync(file.fileno())
        return True

    def claim(self, id_: str) -> "Claim | None":
        """A claim on the run's row, or None if someone else is making it."""
        return claim(self.path.parent / f".{self.path.stem}-claims" / id_)


@dataclass(frozen=True)
class Claim:
    path: Path
    descriptor: int

    def release(self) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def claim(path: Path) -> Claim | None:
    """A claim on whatever the path stands for, or None if someone else has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        if _is_still(path, descriptor):
            return Claim(path, descriptor)
        os.close(descriptor)  # its last holder removed it between our opening and locking


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _parsed(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except json.JSONDecodeError:  # cut short by a kill or a full disk
        return None
    return row if isinstance(row, dict) and "id" in row else None
