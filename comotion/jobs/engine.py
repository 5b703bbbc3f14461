"""Where work is done: in processes here, or by Ray on one machine or many."""

import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from comotion.errors import BadInput

Item = TypeVar("Item")
MOST_ATTEMPTS = 3
"""Of one piece of work whose workers die."""


@dataclass(frozen=True)
class Failure:
    """What went wrong with a piece of work, in one line, and where."""

    sentence: str
    traceback: str = ""


class AbstractEngine(ABC):
    """Does pieces of work side by side."""

    workers: int

    @abstractmethod
    def map(
        self, work: Callable[[Item], Any], items: Iterable[Item]
    ) -> Generator[tuple[Item, Any], None, None]:
        """Each item with its result or Failure, as they come; a new item is asked for only when
        someone is free to work on it. Work whose worker dies is given to another one."""


def engine(
    on: Literal["local", "ray"], address: str | None = None, workers: int | None = None
) -> AbstractEngine:
    """`workers`: how many pieces of work at a time; by default one for every two cores."""
    if workers is not None and workers < 1:
        raise BadInput(f"--workers {workers}: give at least 1")
    if on == "ray":
        from comotion.jobs.on_ray import RayEngine

        return RayEngine.connect(address, workers)
    if address is not None:
        raise BadInput(f"--address {address} is for --on ray; leave it out or add --on ray")
    from comotion.jobs.local import LocalEngine

    return LocalEngine.for_this_machine(workers)


def attempt(work: Callable[[Any], Any], item: Any) -> Any:
    """The result, or what went wrong: one failed run must not take the others with it."""
    try:
        return work(item)
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", traceback.format_exc())
