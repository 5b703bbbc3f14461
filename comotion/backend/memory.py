"""How much memory there is to take: asked before it is taken, because afterwards is too late."""

import os
from math import inf
from pathlib import Path

from comotion.errors import BadInput

SHARE = 0.9
"""Of what is free, what one thing may take."""


def check_room(bytes_: float, what: str, advice: str) -> None:
    """Refuses what would not fit in memory."""
    free = free_bytes()
    if bytes_ > SHARE * free:
        raise BadInput(
            f"{what} takes {in_words(bytes_)} of memory and {in_words(free)} are free; {advice}"
        )


def free_bytes() -> float:
    """What the system, or the limit of a container, leaves; endless where nobody says."""
    return min(_of_the_system(), _of_the_container())


def in_words(bytes_: float) -> str:
    return f"{bytes_ / 1e9:.1f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:.1f} MB"


def _of_the_system() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = dict(line.split(":", 1) for line in lines)
        return float(found["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return inf


def _of_the_container() -> float:
    group = Path("/sys/fs/cgroup")
    try:
        most = float((group / "memory.max").read_text())
        return most - float((group / "memory.current").read_text())
    except (OSError, ValueError):  # no container, or "max"
        return inf
