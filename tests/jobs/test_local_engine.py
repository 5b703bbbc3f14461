import multiprocessing
import os
import signal
import time
from pathlib import Path

from comotion.jobs.engine import Failure
from comotion.jobs.local import LocalEngine


def square(number: int) -> int:
    if number == 3:
        raise ValueError("three is not squared")
    return number**2


def die_at_first(mark: Path) -> str:
    """Kills its own process the first time it is asked, as the system does when memory is out."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "made"


def process(_: int) -> int:
    return os.getpid()


def always_die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sign_and_sleep(mark: Path) -> None:
    mark.write_text(str(os.getpid()))
    time.sleep(60)


def drive_one(mark: Path) -> None:
    list(LocalEngine(1).map(sign_and_sleep, [mark]))


def cores(_: int) -> list[int]:
    return sorted(os.sched_getaffinity(0))


def test_items_come_back_with_their_results_and_one_failure_harms_no_other():
    found = dict(LocalEngine(1).map(square, range(5)))
    failure = found.pop(3)
    assert found == {0: 0, 1: 1, 2: 4, 4: 16}
    assert isinstance(failure, Failure)
    assert failure.sentence == "ValueError: three is not squared"
    assert "in square" in failure.traceback


def test_an_item_is_asked_for_only_when_someone_is_free():
    asked = []

    def items():
        for number in range(4):
            asked.append(number)
            yield number

    engine = LocalEngine(1).map(square, items())
    assert next(engine) == (0, 0)
    assert asked == [0]
    engine.close()


def test_work_whose_worker_is_killed_is_done_again(tmp_path):
    marks = [tmp_path / "a", tmp_path / "b"]
    assert dict(LocalEngine(1).map(die_at_first, marks)) == dict.fromkeys(marks, "made")


def test_a_worker_that_dies_while_it_has_nothing_to_do_is_replaced():
    engine = LocalEngine(1).map(process, range(2))
    _, idle = next(engine)
    os.kill(idle, signal.SIGKILL)
    while _state(idle) != "Z":
        time.sleep(0.01)
    ((_, other),) = engine
    assert other != idle


def test_work_that_kills_every_worker_is_given_up():
    ((_, failure),) = LocalEngine(1).map(always_die, [0])
    assert failure == Failure("its worker died 3 times")


def test_workers_end_when_the_process_they_work_for_is_killed(tmp_path):
    mark = tmp_path / "worker"
    driver = multiprocessing.get_context("spawn").Process(target=drive_one, args=(mark,))
    driver.start()
    deadline = time.monotonic() + 60
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    driver.kill()
    driver.join()
    worker = int(mark.read_text())
    while Path(f"/proc/{worker}").exists() and _state(worker) != "Z":
        assert time.monotonic() < deadline, "the worker goes on for nobody"
        time.sleep(0.05)


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def test_workers_share_the_cores():
    available = cores(0)
    engine = LocalEngine(len(available))
    assert [engine._share(number) for number in range(len(available))] == [[c] for c in available]
    ((_, used),) = LocalEngine(1).map(cores, [0])
    assert used == available
