"""How long each phase of a piece of work took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


def _silent(sentence: str) -> None:
    pass


@dataclass
class Clock:
    """`say` is told which phase is running."""

    say: Callable[[str], None] = _silent
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.say(f"{name} …")
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 2)

    def __str__(self) -> str:
        phases = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
        return f"{phases}; together {sum(self.seconds.values()):.1f} s"
