"""Compiled programs are kept between runs: the first run of a kind compiles, later ones load.

Users decide with JAX's own variable: `JAX_COMPILATION_CACHE_DIR=/some/folder` moves the cache,
an empty value turns it off.
"""

import hashlib
import os
import platform
import shutil
import sys
import tempfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import platformdirs

FOLDER = "JAX_COMPILATION_CACHE_DIR"
SETTINGS = {
    # Ours take 1 to 20 s each, but the hundreds of small ones take as long together.
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # XLA calls tuning preferences missing CPU features when it loads what it has compiled itself,
    # and says so at length: https://github.com/openxla/xla/issues/44565
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
MOST_BYTES = 2 * 1024**3
DAMAGED = "Error reading persistent compilation cache entry"
PROGRAM, ZSTANDARD = "-cache", b"\x28\xb5\x2f\xfd"


def enable() -> Path | None:
    """Keep compiled programs from now on, unless the user decided otherwise; says where.

    JAX reads its settings when it is imported: afterwards it is too late, and nothing is changed.
    """
    if "jax" in sys.modules:
        return folder()
    if FOLDER not in os.environ:
        place = Path(platformdirs.user_cache_dir("comotion")) / f"compiled-{_this_machine()}"
        if not (_writable(place) and shutil.disk_usage(place).free > MOST_BYTES):
            return None  # JAX would keep half a program on a full disk, and complain ever after
        _forget_oldest(place, MOST_BYTES)
        os.environ[FOLDER] = str(place)
    if folder() is not None:
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
    return folder()


def mend_when_damaged() -> None:
    """A program that was written by half, or damaged since, is told once and compiled anew.

    JAX would complain in every process from then on, and never replace it.
    """
    usual, place = warnings.showwarning, folder()
    if place is None:
        return

    def show(message: Warning | str, *about: Any, **more: Any) -> None:
        if DAMAGED not in str(message):
            usual(message, *about, **more)
        elif count := forget_damaged(place):
            print(
                f"note: {place} held {count} damaged programs, now compiled anew", file=sys.stderr
            )

    warnings.showwarning = show


def forget_damaged(place: Path) -> int:
    """Removes the programs that cannot be unpacked; says how many there were."""
    damaged = [path for _, _, path in _files(place) if not _can_be_unpacked(path)]
    for path in damaged:
        path.unlink(missing_ok=True)
    return len(damaged)


def _can_be_unpacked(path: Path) -> bool:
    try:
        content = path.read_bytes()
        if path.name.endswith(PROGRAM) and not content.startswith(ZSTANDARD):
            zlib.decompress(content)
    except (OSError, zlib.error):
        return False
    return True


def folder() -> Path | None:
    """Where compiled programs are kept, or None if they are not."""
    place = os.environ.get(FOLDER)
    return Path(place) if place else None


def size(place: Path) -> int:
    """Bytes of all files in the folder."""
    return sum(bytes_ for _, bytes_, _ in _files(place))


def _this_machine() -> str:
    """Machines that share a home folder must not share programs made for one processor."""
    features = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        lines = information.read_text(errors="replace").splitlines()
        features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(f"{platform.machine()} {features}".encode()).hexdigest()[:8]


def _writable(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False


def _forget_oldest(place: Path, most: int) -> None:
    """JAX could do this itself, but only with one more package installed."""
    total = 0
    for _, bytes_, path in sorted(_files(place), reverse=True):
        total += bytes_
        if total > most:
            path.unlink(missing_ok=True)


def _files(place: Path) -> list[tuple[float, int, Path]]:
    """Time of last use, size and path of every file; others may delete them meanwhile."""
    found = []
    for path in place.glob("*"):
        try:
            stat = path.stat()
        except OSError:
            continue
        found.append((max(stat.st_atime, stat.st_mtime), stat.st_size, path))
    return found
