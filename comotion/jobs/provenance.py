"""What a row needs to be made again: versions, commit, machine."""

import importlib.metadata
import os
import platform
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

PACKAGES = ("comotion", "jax", "jaxlib", "equinox", "diffrax", "optax", "numpy")


def provenance() -> dict[str, Any]:
    versions = {name: _version(name) for name in PACKAGES}
    return {
        "versions": versions | {"python": platform.python_version()},
        "commit": commit(),
        "machine": {"cpu": processor(), "cores": os.cpu_count()},
    }


def processor() -> str:
    """Its name and kind: machines with as many cores differ threefold in speed."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(errors="replace").splitlines() if information.is_file() else []
    split = (line.partition(":") for line in lines)
    told = {name.strip(): value.strip() for name, _, value in split}
    kind = [f"{name} {told[name]}" for name in ("cpu family", "model") if name in told]
    return ", ".join([platform.machine(), *filter(None, [told.get("model name")]), *kind])


@lru_cache
def commit() -> str | None:
    """Of the package's own checkout, with a + if files differ from it; None if it has none."""
    here = Path(__file__).resolve().parents[2]
    if not (here / ".git").exists():
        return None
    name = _git(here, "rev-parse", "--short", "HEAD")
    return name + "+" if name and _git(here, "status", "--porcelain", "comotion") else name


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
