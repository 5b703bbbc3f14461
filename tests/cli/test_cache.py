import os
import subprocess
import sys
from pathlib import Path

import pytest

from comotion.backend.cache import _forget_oldest, size

COMPILE = """
from comotion.backend import cache
print(cache.enable())
import jax
print(jax.jit(lambda x: x + 1)(1.0))
"""


def run(program: str, **variables: str) -> subprocess.CompletedProcess:
    names = ("JAX_COMPILATION_CACHE_DIR", "TF_CPP_MIN_LOG_LEVEL")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=kept | variables,
        capture_output=True,
        text=True,
        check=True,
    )


def test_programs_are_kept_in_the_users_cache_folder_and_loaded_silently(tmp_path):
    first = run(COMPILE, XDG_CACHE_HOME=str(tmp_path))
    place = Path(first.stdout.splitlines()[0])
    assert place.is_relative_to(tmp_path / "comotion")
    kept = {path.name for path in place.glob("*-cache")}
    assert kept
    second = run(COMPILE, XDG_CACHE_HOME=str(tmp_path))
    assert {path.name for path in place.glob("*-cache")} == kept
    assert first.stdout == second.stdout
    assert (first.stderr, second.stderr) == ("", "")


MENDED = COMPILE.replace("import jax\n", "cache.mend_when_damaged()\nimport jax\n")


@pytest.mark.parametrize("damage", [lambda content: content[:40], bytes.swapcase])
def test_damaged_programs_are_told_once_and_compiled_anew(tmp_path, damage):
    place = Path(run(MENDED, XDG_CACHE_HOME=str(tmp_path)).stdout.splitlines()[0])
    whole = list(place.glob("*-cache"))
    for path in whole:
        path.write_bytes(damage(path.read_bytes()))
    second, third = (run(MENDED, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2))
    assert second.stderr == f"note: {place} held {len(whole)} damaged programs, now compiled anew\n"
    assert third.stderr == ""
    assert sorted(place.glob("*-cache")) == sorted(whole)


def test_the_users_own_choice_is_respected(tmp_path):
    own = tmp_path / "own"
    moved = run(COMPILE, XDG_CACHE_HOME=str(tmp_path), JAX_COMPILATION_CACHE_DIR=str(own))
    assert moved.stdout.splitlines()[0] == str(own)
    again = run(COMPILE, XDG_CACHE_HOME=str(tmp_path), JAX_COMPILATION_CACHE_DIR=str(own))
    assert (moved.stderr, again.stderr) == ("", "")
    assert list(own.glob("*-cache"))
    off = run(COMPILE, XDG_CACHE_HOME=str(tmp_path), JAX_COMPILATION_CACHE_DIR="")
    assert off.stdout.splitlines()[0] == "None"
    assert not (tmp_path / "comotion").exists()


def test_a_folder_that_cannot_be_made_turns_the_cache_off(tmp_path):
    (tmp_path / "file").touch()
    done = run(COMPILE, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert done.stdout.splitlines()[0] == "None"


def test_once_jax_is_imported_nothing_is_changed(tmp_path):
    late = "import jax\nfrom comotion.backend import cache\nprint(cache.enable())"
    late += "\nprint(jax.config.jax_compilation_cache_dir)"
    done = run(late, XDG_CACHE_HOME=str(tmp_path))
    assert done.stdout == "None\nNone\n"


def test_the_oldest_programs_go_when_the_folder_is_full(tmp_path):
    for age in range(4):
        path = tmp_path / f"{age}-cache"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    assert size(tmp_path) == 400
    _forget_oldest(tmp_path, 250)
    assert {path.name for path in tmp_path.iterdir()} == {"0-cache", "1-cache"}
