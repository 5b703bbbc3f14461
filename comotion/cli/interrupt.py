"""Ctrl-C during training stops early instead of failing; the exit code must still say so."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


class Stopped(KeyboardInterrupt):
    """Stopped by the user; the text says what was kept."""


@dataclass
class Memory:
    interrupted: bool = False


@contextmanager
def remembering_interrupts() -> Iterator[Memory]:
    """Knows afterwards whether Ctrl-C was pressed, even if someone has dealt with it."""
    memory = Memory()

    def remember(_number: int, _frame: FrameType | None) -> None:
        memory.interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield memory
    finally:
        signal.signal(signal.SIGINT, before)
