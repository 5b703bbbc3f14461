"""Files that are written whole or not at all, by one process at a time, and never lost."""

import errno
import itertools
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from comotion.errors import BadInput

try:
    import fcntl
except ImportError:  # Windows, where everybody gets every lock
    fcntl = None

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place only if all goes well."""
    target = Path(path)
    if not target.parent.is_dir():
        raise BadInput(f"The folder {target.parent} does not exist: make it before writing there.")
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        yield temporary
        with temporary.open("rb") as file:  # on the disk before its name says so
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as whole:
        whole.write_text(text, encoding="utf-8")


def free_name(path: Path) -> Path:
    """NAME-1, NAME-2, …: the first that is not there. The newest result has the name itself."""
    ending = "" if path.is_dir() else path.suffix
    names = (f"{path.name.removesuffix(ending)}-{k}{ending}" for k in itertools.count(1))
    return next(place for name in names if not (place := path.with_name(name)).exists())


def told_aside(path: Path, aside: Path) -> str:
    return f"{path} was there already: it is kept as {aside} (overwrite replaces it)"


def about_files(error: OSError) -> str:
    """What went wrong, and what to do."""
    where = f"{error.filename}: " if error.filename else ""
    advice = "make room, or write elsewhere"
    if error.errno not in FULL:
        advice = "check the path and its permissions"
    return f"{where}{error.strerror or error}; {advice} (files written before are whole)"


@dataclass(frozen=True)
class Claim:
    """Work that nobody else does meanwhile.

    It rests on a lock that the system lets go of when its holder dies, however it dies: there are
    no stale claims to find.
    """

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
        if not lock(descriptor, wait=False):
            os.close(descriptor)
            return None
        if _is_still(path, descriptor):
            return Claim(path, descriptor)
        os.close(descriptor)  # its last holder removed it between our opening and locking


def lock(descriptor: int, *, wait: bool) -> bool:
    """Whether the open file is ours alone, until it is closed."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # some shared drives have no locks
            raise
    return True


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
