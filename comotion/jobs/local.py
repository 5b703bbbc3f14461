"""Work in processes of this machine, each with its share of the cores."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from comotion.jobs.engine import MOST_ATTEMPTS, AbstractEngine, Failure, Item, attempt

CORES_EACH = 2
CONTEXT = multiprocessing.get_context("spawn")  # JAX does not survive a fork


@dataclass(frozen=True)
class LocalEngine(AbstractEngine):
    workers: int

    @classmethod
    def for_this_machine(cls, workers: int | None = None) -> "LocalEngine":
        return cls(workers or max(1, len(_cores()) // CORES_EACH))

    def map(
        self, work: Callable[[Item], Any], items: Iterable[Item]
    ) -> Generator[tuple[Item, Any], None, None]:
        waiting, again = iter(items), list[tuple[Item, int]]()
        idle: list[Worker] = []
        busy: dict[Worker, tuple[Item, int]] = {}
        shares = [self._share(number) for number in range(self.workers)]
        try:
            while True:
                while len(busy) < self.workers:
                    given = again.pop() if again else _first(waiting)
                    if given is None:
                        break
                    worker = idle.pop() if idle else Worker.start(work, shares.pop())
                    busy[worker] = given
                    with suppress(ConnectionError):  # it has died: the end of its pipe will tell
                        worker.connection.send(given[0])
                if not busy:
                    return
                for worker in _ready(busy):
                    item, attempts = busy.pop(worker)
                    try:
                        result = worker.connection.recv()
                        idle.append(worker)
                    except (EOFError, ConnectionError):
                        worker.stop()
                        shares.append(worker.cores)
                        if attempts < MOST_ATTEMPTS:
                            again.append((item, attempts + 1))
                            continue
                        result = Failure(f"its worker died {attempts} times")
                    yield item, result
        finally:
            for worker in (*idle, *busy):
                worker.stop()

    def _share(self, number: int) -> list[int]:
        cores = _cores()
        size = max(1, len(cores) // self.workers)
        first = number * size % len(cores)
        return cores[first : first + size]


@dataclass(frozen=True, eq=False)
class Worker:
    process: Any
    connection: Connection
    cores: list[int]

    @classmethod
    def start(cls, work: Callable[[Any], Any], cores: list[int]) -> "Worker":
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=serve, args=(theirs, work, cores), daemon=True)
        process.start()
        theirs.close()  # so that its death is the end of the pipe
        return cls(process, ours, cores)

    def stop(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


def serve(connection: Connection, work: Callable[[Any], Any], cores: list[int]) -> None:
    """A worker's life."""
    # Ctrl-C is the parent's business: training would take it as a wish to stop early.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)  # before JAX counts the cores it may use
    from comotion.backend import cache

    cache.enable()
    cache.mend_when_damaged()
    while True:
        try:
            item = connection.recv()
        except EOFError:
            return
        connection.send(attempt(work, item))


def _end_with_parent() -> None:
    """Nobody waits for the work of a process that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _first(waiting: Iterator[Item]) -> tuple[Item, int] | None:
    for item in waiting:
        return item, 1
    return None


def _ready(busy: dict[Worker, Any]) -> list[Worker]:
    ready = wait([worker.connection for worker in busy])
    return [worker for worker in busy if worker.connection in ready]


def _cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
