import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from comotion.cli import main

Command = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Path:
    """The folder of a tiny demo: a model, its config, and the data it is judged on.

    Made by the worker that needs it first; the others wait for it, and no test changes it.
    """
    here = tmp_path_factory.getbasetemp()
    shared = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    out = shared / "demo"
    with FileLock(shared / "demo.lock"):
        if not (out / "report.html").exists():
            assert main(["demo", "--quick", "--json", "--out", str(out)]) == 0
    return out


@pytest.fixture
def environment() -> dict[str, str]:
    """What a command started as a process sees: compiled programs to read, none to leave half."""
    return os.environ | {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1e9"}


@pytest.fixture
def comotion(environment, tmp_path) -> Command:
    """Runs a command as a process, in a folder of its own."""

    def run(*words: object, python: str = "") -> subprocess.CompletedProcess:
        program = f"{python}\nimport sys; from comotion.cli import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", program, *map(str, words)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
