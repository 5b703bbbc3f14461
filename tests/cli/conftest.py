import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

from comotion.cli import main

Command = Callable[..., subprocess.CompletedProcess]


SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_disable_most_optimizations": True,  # compiles faster; tiny models need not run fast
}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory) -> Iterator[Path]:
    """Programs compiled here are not compiled again by the commands started as processes."""
    place = tmp_path_factory.mktemp("compiled")
    settings = SETTINGS | {"jax_compilation_cache_dir": str(place)}
    before = {name: jax.config.values[name] for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    yield place
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


@pytest.fixture(scope="session")
def demo(tmp_path_factory, compiled) -> Path:
    """The folder of a tiny demo: a model, its config, and the data it is judged on."""
    out = tmp_path_factory.mktemp("runs") / "demo"
    assert main(["demo", "--quick", "--json", "--out", str(out)]) == 0
    return out


@pytest.fixture
def environment(compiled) -> dict[str, str]:
    """What a command started as a process sees."""
    return os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(compiled),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1e9",  # only read from it
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


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
