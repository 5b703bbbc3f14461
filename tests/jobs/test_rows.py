import errno
import multiprocessing
import os
import signal
import time

import pytest

from comotion.jobs.rows import RunRows

CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture
def rows(tmp_path) -> RunRows:
    return RunRows(tmp_path / "deep" / "rows.jsonl")


def append_many(path, name: str, count: int) -> None:
    for number in range(count):
        RunRows(path).append({"id": f"{name}{number}", "filling": name * 5000})


def hold_a_claim(path, ready) -> None:
    assert RunRows(path).claim("run") is not None
    ready.set()
    time.sleep(60)


def test_a_run_is_counted_once(rows):
    assert rows.read() == []
    assert rows.append({"id": "a", "value": 1})
    assert not rows.append({"id": "a", "value": 2})
    assert rows.append({"id": "b", "value": 3})
    assert [row["value"] for row in rows.read()] == [1, 3]


def test_a_line_cut_short_is_forgotten_and_the_next_one_is_whole(rows):
    rows.append({"id": "a"})
    with rows.path.open("a") as file:
        file.write('{"id": "b", "val')
    assert rows.ids() == {"a"}
    assert rows.append({"id": "b"})
    assert rows.ids() == {"a", "b"}


BAD_LINES = [b"\xff\xfe", b"[1]", b"7", b'{"id": [1]}', b'{"value": 1}', b"[" * 100_000, b"\0"]


@pytest.mark.parametrize("bad", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_line_that_is_no_row_is_left_out_and_named_once(rows, bad, capsys):
    rows.append({"id": "a"})
    with rows.path.open("ab") as file:
        file.write(bad + b"\n")
    assert rows.append({"id": "b"})
    assert rows.ids() == rows.ids() == {"a", "b"}
    assert capsys.readouterr().err == f"note: {rows.path}, line 2 is no row and is left out\n"


def test_a_full_disk_leaves_no_half_of_a_row(rows, monkeypatch):
    rows.append({"id": "a"})
    before = rows.path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        rows.append({"id": "b"})
    assert rows.path.read_bytes() == before


def test_two_processes_append_without_mixing_their_lines(rows):
    rows.path.parent.mkdir(parents=True)
    others = [CONTEXT.Process(target=append_many, args=(rows.path, name, 20)) for name in "ab"]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    assert rows.ids() == {f"{name}{number}" for name in "ab" for number in range(20)}
    assert len(rows.path.read_text().splitlines()) == 40


def test_a_claim_is_held_by_one_and_free_after_its_release(rows):
    claim = rows.claim("run")
    assert claim is not None
    assert rows.claim("run") is None
    assert rows.claim("another") is not None
    claim.release()
    assert not claim.path.exists()
    again = rows.claim("run")
    assert again is not None
    again.release()


def test_a_claim_dies_with_its_holder(rows):
    ready = CONTEXT.Event()
    holder = CONTEXT.Process(target=hold_a_claim, args=(rows.path, ready))
    holder.start()
    assert ready.wait(60)
    assert rows.claim("run") is None
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join(60)
    assert rows.claim("run") is not None
