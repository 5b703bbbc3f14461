"""Ctrl-C is heard at any moment, also while nothing in Python is running."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from comotion.train.interruptible import LeftBehind, interruptible, is_work_left_behind


@pytest.fixture(autouse=True)
def hearing() -> Iterator[None]:
    """A process that was started in the background may have been told to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c(after: float) -> None:
    threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_work_runs_as_if_it_were_here():
    assert interruptible(lambda: 7, threading.Event()) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, threading.Event())


def test_work_in_python_sees_the_interrupt_and_may_answer_it():
    def count() -> str:
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            return "kept"

    press_ctrl_c(after=0.2)
    assert interruptible(count, threading.Event()) == "kept"


def test_an_interrupt_that_nobody_can_catch_is_raised_again(capsys):
    """As in a callback of the garbage collector, which Python prints and forgets."""

    class Dying:
        def __del__(self) -> None:
            while True:
                time.sleep(0.01)

    def count() -> str:
        Dying()
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            return "kept"

    press_ctrl_c(after=0.2)
    assert interruptible(count, threading.Event()) == "kept"
    assert capsys.readouterr().err == ""


def test_work_that_hears_nothing_is_left_behind_within_three_seconds():
    press_ctrl_c(after=0.2)
    begun = time.monotonic()
    with pytest.raises(LeftBehind):
        interruptible(lambda: time.sleep(5), threading.Event())
    assert time.monotonic() - begun < 3.2
    assert is_work_left_behind()
    time.sleep(3.5)
    assert not is_work_left_behind()


def test_a_second_ctrl_c_ends_at_once_what_the_first_is_waiting_for():
    press_ctrl_c(after=0.2)
    press_ctrl_c(after=0.6)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: time.sleep(2), threading.Event())
    assert time.monotonic() - begun < 1.9
    assert is_work_left_behind(), "so that the process does not tear it down with noise"
    time.sleep(1.5)
    assert not is_work_left_behind()


def test_work_that_has_heard_may_take_its_time_until_it_is_asked_again():
    heard, times = threading.Event(), []

    def tidy() -> int:
        while True:
            try:
                while True:
                    time.sleep(0.01)
                    if len(times) == 1 and time.monotonic() - times[0] > 3:
                        return len(times)
            except KeyboardInterrupt:
                heard.set()
                times.append(time.monotonic())

    press_ctrl_c(after=0.2)
    assert interruptible(tidy, heard) == 1
