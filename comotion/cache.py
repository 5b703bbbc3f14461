"""Compiled programs are kept between runs: the first run of a kind compiles, later ones do not."""

import os
import sys
import tempfile
from pathlib import Path

import platformdirs

FOLDER = "JAX_COMPILATION_CACHE_DIR"
# Most of our compilations take 1 to 20 s; many small ones below half a second would only fill the
# disk. The oldest files go when the folder is full.
SETTINGS = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.5",
    "JAX_COMPILATION_CACHE_MAX_SIZE": str(2 * 1024**3),
}
OFF = "COMOTION_CACHE"


def folder() -> Path | None:
    """Where compiled programs are kept, or None if they are not."""
    set_by_user = os.environ.get(FOLDER)
    if set_by_user is not None:
        return Path(set_by_user) if set_by_user else None
    place = Path(platformdirs.user_cache_dir("comotion")) / "compiled"
    return place if _writable(place) else None


def enable() -> Path | None:
    """Keep compiled programs from now on, unless the user has decided otherwise."""


def _writable(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False
