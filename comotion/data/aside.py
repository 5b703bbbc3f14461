"""Results of the same name: the newest has the name, those before it are moved aside."""

import itertools
from pathlib import Path


def move_aside(path: Path) -> Path | None:
    """Renames what is at `path`, a file or a folder, to NAME-1, NAME-2, …, and says which."""
    if not path.exists():
        return None
    ending = "" if path.is_dir() else path.suffix
    names = (f"{path.name.removesuffix(ending)}-{k}{ending}" for k in itertools.count(1))
    free = next(place for name in names if not (place := path.with_name(name)).exists())
    path.rename(free)
    return free


def told_aside(path: Path, moved: Path) -> str:
    return f"{path} was there already: it is kept as {moved} (overwrite replaces it)"
