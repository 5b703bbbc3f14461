"""Work that can be stopped at any moment.

A program that is being compiled hears no Ctrl-C until it is done, which takes up to a minute. So
the work has a thread of its own, and the one that hears the signal passes it on.
"""

import contextvars
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Result = TypeVar("Result")
PATIENCE = 2.0
"""Seconds that work has to stop by itself, so that Ctrl-C is answered within three."""
_left_behind: list[threading.Event] = []
"""Work that did not hear Ctrl-C and is still at it."""


class LeftBehind(KeyboardInterrupt):
    """The work did not hear that it should stop; it will as soon as it is back in Python."""


class _Work(Generic[Result]):
    def __init__(self, work: Callable[[], Result]):
        self.work, self.result, self.error = work, [], None
        # Not the thread's own end: a join that is interrupted takes it for dead.
        self.done = threading.Event()
        context = contextvars.copy_context()
        self.thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)

    def _run(self) -> None:
        try:
            self.result.append(self.work())
        except BaseException as error:  # handed to the thread that waits, whatever it is
            self.error = error
        finally:
            self.done.set()

    def stop(self) -> None:
        """Raises KeyboardInterrupt in the thread, at its next step in Python."""
        number = ctypes.c_ulong(self.thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(KeyboardInterrupt))


def interruptible(work: Callable[[], Result], heard: threading.Event) -> Result:
    """What `work` gives; on Ctrl-C it sees a KeyboardInterrupt, as if it ran here.

    Work that needs time to end well says that it has `heard`. If it does neither in time,
    `LeftBehind` is raised here and the work goes on alone until then.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # no signal comes here
    running = _Work(work)
    running.thread.start()
    while not running.done.is_set():
        try:
            running.done.wait(0.2)  # without a time Windows would not hear the signal
        except KeyboardInterrupt:
            heard.clear()
            _left_behind.append(running.done)  # whatever happens, even a second Ctrl-C
            with _lost_interrupts() as lost:
                running.stop()
                _wait_for_either(running, heard, lost)
            if not running.done.is_set() and not heard.is_set():
                raise LeftBehind from None
    if running.error is not None:
        raise running.error
    return running.result[0]


def _wait_for_either(running: _Work, heard: threading.Event, lost: threading.Event) -> None:
    until = time.monotonic() + PATIENCE
    while not running.done.is_set() and not heard.wait(0.05) and time.monotonic() < until:
        if lost.is_set():
            lost.clear()
            running.stop()


@contextmanager
def _lost_interrupts() -> Iterator[threading.Event]:
    """Set when one was raised where nobody can catch it, as in JAX's callback of the garbage
    collector: Python would print it and go on."""
    lost, usual = threading.Event(), sys.unraisablehook

    def notice(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            lost.set()
        else:
            usual(unraisable)

    sys.unraisablehook = notice
    try:
        yield lost
    finally:
        sys.unraisablehook = usual


def is_work_left_behind() -> bool:
    """Whether a process that ends now would cut work short that is in the middle of something."""
    return any(not done.is_set() for done in _left_behind)
