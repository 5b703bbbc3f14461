"""NetCDF files, sealed with a checksum by us; those of others are opened with care.

A damaged file can keep the HDF5 library busy for ever or crash it. So a file without our seal is
first read by a process of its own, which can be stopped; one whose seal is broken is not read.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comotion.backend.disk import about_files, replacing
from comotion.backend.memory import check_room, free_bytes, in_words
from comotion.errors import BadInput

if TYPE_CHECKING:
    import xarray

MAGIC = b"\x89HDF\r\n\x1a\n"
SEAL = re.compile(rb"\ncomotion sha256 ([0-9a-f]{64})\n\Z")
SEAL_LENGTH = 82
BLOCK = 1 << 22
PATIENCE, RATE = 30.0, 2e6
"""Seconds to start a process, and bytes a second that the slowest disk gives."""
TRIAL = """
import sys, xarray
with open(sys.argv[1], "rb") as file:
    found = xarray.open_dataset(file, engine="h5netcdf")
    if found.nbytes > float(sys.argv[2]):
        sys.exit(f"it says it holds {found.nbytes / 1e9:.1f} GB, more than there is memory")
    found.load()
"""


def write_netcdf(dataset: "xarray.Dataset", path: str | os.PathLike) -> None:
    """Whole or not at all; made in memory, because HDF5 breaks down on a full disk."""
    check_room(2.0 * dataset.nbytes, f"writing {Path(path).name}", "write a part of it")
    content = bytes(dataset.to_netcdf(engine="h5netcdf"))
    with replacing(path) as temporary:
        temporary.write_bytes(content)
        seal(temporary)


@dataclass(frozen=True)
class DiskRoom(Mapping[str, np.ndarray]):
    """Arrays of one shape inside of a file. Each time one is asked for it is mapped anew, so that
    of what was read or written nothing stays in memory."""

    path: Path
    places: dict[str, int]
    shape: tuple[int, ...]
    kind: type[np.floating]
    attributes: dict[str, Any] = field(default_factory=dict)
    """said of the file when it is closed"""

    def __getitem__(self, name: str) -> np.ndarray:
        return np.memmap(self.path, self.kind, "r+", self.places[name], self.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


@contextmanager
def netcdf_with_room(
    dataset: "xarray.Dataset",
    path: Path,
    names: Sequence[str],
    axes: Mapping[str, int],
    kind: type[np.floating],
) -> Iterator[DiskRoom]:
    """A file with further variables, to be filled in where they are on the disk: whole or not at
    all, and refused before anything is computed if there is no room for it."""
    import h5netcdf

    with replacing(path) as temporary:
        temporary.write_bytes(bytes(dataset.to_netcdf(engine="h5netcdf")))
        places = _make_room(temporary, names, axes, kind)
        _reserve(temporary, path)
        room = DiskRoom(temporary, places, tuple(axes.values()), kind)
        yield room
        with h5netcdf.File(temporary, "a") as file:
            file.attrs.update(room.attributes)
        seal(temporary)


def _make_room(
    path: Path, names: Sequence[str], axes: Mapping[str, int], kind: type[np.floating]
) -> dict[str, int]:
    """Where in the file each variable begins; nothing is written there yet."""
    import h5netcdf
    import h5py

    with h5netcdf.File(path, "a") as file:
        for axis, size in axes.items():
            if axis not in file.dimensions:
                file.dimensions[axis] = size
        for name in names:
            variable = file.create_variable(name, tuple(axes), kind)
            # At the first number that is written HDF5 takes room for all.
            variable[tuple(size - 1 for size in axes.values())] = 0
    with h5py.File(path) as file:
        return {name: file[name].id.get_offset() for name in names}


def _reserve(path: Path, target: Path) -> None:
    """Or writing to a map of the file would end the process when the disk is full."""
    size, free = path.stat().st_size, float(shutil.disk_usage(path.parent).free)
    if size > free:
        raise BadInput(
            f"{target.name} takes {in_words(float(size))} on the disk and {in_words(free)} are "
            "free; make room, or write elsewhere"
        )
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                raise BadInput(about_files(error)) from error


def open_lazily(path: Path) -> "xarray.Dataset":
    """A file that we have just written: what is asked of it is read, and nothing else."""
    import xarray as xr

    return xr.open_dataset(path, engine="h5netcdf", cache=False)


def seal(path: Path) -> None:
    """Adds the checksum of what is in the file; readers of HDF5 take no notice of it."""
    digest = _digest(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(b"\ncomotion sha256 " + digest + b"\n")


def open_netcdf(path: Path) -> "xarray.Dataset":
    import xarray as xr

    if not _is_sealed(path):
        _try_elsewhere(path)
    # Through a file object, because HDF5 would keep a broken file open under its path. Damage
    # surfaces as any kind of error, depending on which byte is wrong.
    with path.open("rb") as file:
        try:
            found = xr.open_dataset(file, engine="h5netcdf")
            check_room(float(found.nbytes), path.name, "open a part of it with xarray")
            return found.load()
        except BadInput:
            raise
        except Exception as error:
            raise _unreadable(path, str(error) or type(error).__name__) from None


def _is_sealed(path: Path) -> bool:
    """Whether we wrote the file and nothing was changed since; refuses it if something was."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if MAGIC not in file.read(4096):
            raise _unreadable(path, "it is no HDF5 file")
        file.seek(max(0, size - SEAL_LENGTH))
        found = SEAL.search(file.read())
    if found is None:
        return False
    if _digest(path, size - SEAL_LENGTH) != found[1]:
        raise _unreadable(path, "its checksum does not match its content")
    return True


def _try_elsewhere(path: Path) -> None:
    if not sys.executable:  # inside of another program
        return
    words = [sys.executable, "-c", TRIAL, str(path), str(free_bytes())]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        trial = subprocess.run(
            words,
            capture_output=True,
            env=environment,
            timeout=PATIENCE + path.stat().st_size / RATE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _unreadable(path, "reading it comes to no end") from None
    if trial.returncode < 0:
        raise _unreadable(path, "it crashes the HDF5 library")
    if trial.returncode > 0:
        lines = trial.stderr.decode(errors="replace").strip().splitlines()
        raise _unreadable(path, lines[-1] if lines else "no reason is known")


def _digest(path: Path, size: int) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0:
            block = file.read(min(size, BLOCK))
            if not block:
                break
            digest.update(block)
            size -= len(block)
    return digest.hexdigest().encode()


def _unreadable(path: Path, reason: str) -> BadInput:
    line = reason.splitlines()[0]
    return BadInput(f"{path.name} cannot be read as NetCDF-4 ({line}): check or make it again.")
