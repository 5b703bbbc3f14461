"""Results of the same name: the newest has the name, those before it are kept beside it."""

import itertools
from pathlib import Path


def free_name(path: Path) -> Path:
    """NAME-1, NAME-2, …: the first that is not there."""
    ending = "" if path.is_dir() else path.suffix
    names = (f"{path.name.removesuffix(ending)}-{k}{ending}" for k in itertools.count(1))
    return next(place for name in names if not (place := path.with_name(name)).exists())


def told_aside(path: Path, aside: Path) -> str:
    return f"{path} was there already: it is kept as {aside} (overwrite replaces it)"
