"""Where results go: checked before the work begins, so that none of it is lost."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from comotion.errors import BadInput


def check_output(path: Path, endings: Sequence[str]) -> None:
    """Refuse a path that could not be written to, or whose ending names no format."""
    if path.suffix.lower() not in endings:
        raise BadInput(f"--out {path}: give a name that ends in {', '.join(endings)}")
    if path.is_dir():
        raise BadInput(f"--out {path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise BadInput(f"--out {path}: the folder {path.parent} does not exist; make it first")
    if not os.access(path.parent, os.W_OK):
        raise BadInput(f"--out {path}: the folder {path.parent} may not be written to")
    if path.suffix.lower() == ".parquet":
        from comotion.data.formats import pyarrow_for_parquet

        pyarrow_for_parquet()


@contextmanager
def keeping(path: Path, overwrite: bool) -> Iterator[None]:
    """What is written inside takes the place of a file of this name, which is kept under another
    one unless it is to be replaced. If writing fails, all is as before."""
    from comotion.backend.disk import free_name, told_aside

    if overwrite or not path.exists():
        yield
        return
    aside = free_name(path)
    shutil.copy2(path, aside)
    try:
        yield
    except BaseException:
        aside.unlink()
        raise
    note(told_aside(path, aside))


def as_json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def note(text: str) -> None:
    """For people who watch; never mixed with results."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def counting(what: str, total: int, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many are done, if someone is watching the terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
