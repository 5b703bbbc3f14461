import contextlib
from collections.abc import Generator

import pytest

from comotion.config import Recipe, SystemConfig
from comotion.errors import BadInput
from comotion.jobs.engine import AbstractEngine, Failure, attempt, engine
from comotion.jobs.rows import Row, RunRows
from comotion.reproduce.drive import Progress, drive
from comotion.reproduce.perform import Task
from comotion.reproduce.runs import Fit, Run


class Here(AbstractEngine):
    """Works in this process, and remembers what it was asked to do."""

    workers = 1

    def __init__(self, stop_after: int | None = None):
        self.asked: list[str] = []
        self.stop_after = stop_after

    def map(self, work, items) -> Generator:
        for task in items:
            if len(self.asked) == self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(task.run.id)
            yield task, attempt(work, task)


def test_every_run_leaves_one_row_with_all_that_is_needed_to_make_it_again(runs, tmp_path):
    rows, said = RunRows(tmp_path / "rows.jsonl"), []
    assert drive(runs, rows, Here(), folder=tmp_path, say=said.append) == {}
    assert rows.ids() == {run.id for run in runs}
    row = rows.read()[0]
    assert row["run"] == runs[0].to_dict()
    assert set(row["scores"]) == {"test", "train", "T10"}
    assert set(row["scores"]["test"]) == {"model", "climatology", "constant velocity"}
    assert {"seconds", "finished", "versions", "commit", "machine", "diverged"} <= row.keys()
    assert len(row["by_lead"]["test"]["lead"]) == 12
    assert said[-1].startswith("3/3  true dynamics, 3 balls, none noise, seed 2: MSE ")
    assert said[-1].endswith("all done")
    assert " left" in said[0]


def test_starting_again_does_only_what_is_missing(runs, tmp_path):
    rows = RunRows(tmp_path / "rows.jsonl")
    first = Here(stop_after=2)
    with contextlib.suppress(KeyboardInterrupt):
        drive(runs, rows, first, folder=tmp_path, say=lambda _: None)
    second, said = Here(), []
    drive(runs, rows, second, folder=tmp_path, say=said.append)
    assert first.asked == [run.id for run in runs[:2]]
    assert second.asked == [runs[2].id]
    assert said[0] == "2 of 3 runs are there already"
    third = Here()
    drive(runs, rows, third, folder=tmp_path, say=lambda _: None)
    assert third.asked == []


def test_a_run_that_someone_else_is_making_is_left_to_them(runs, tmp_path, monkeypatch):
    rows = RunRows(tmp_path / "rows.jsonl")
    theirs = rows.claim(runs[0].id)
    assert theirs is not None

    def finish(_seconds: float) -> None:
        rows.append({"id": runs[0].id, "run": runs[0].to_dict()})
        theirs.release()

    monkeypatch.setattr("comotion.reproduce.drive.time.sleep", finish)
    here = Here()
    drive(runs, rows, here, folder=tmp_path, say=lambda _: None)
    assert here.asked == [run.id for run in runs[1:]]
    assert len(rows.read()) == 3


def test_grids_with_rows_of_their_own_do_not_work_in_one_folder_at_a_time(
    runs, tmp_path, monkeypatch
):
    theirs = Task(runs[0], tmp_path).claim()
    assert theirs is not None
    rows, here = RunRows(tmp_path / "ours.jsonl"), Here()

    def leave(_seconds: float) -> None:
        assert here.asked == [run.id for run in runs[1:]]
        theirs.release()

    monkeypatch.setattr("comotion.reproduce.drive.time.sleep", leave)
    drive(runs, rows, here, folder=tmp_path, say=lambda _: None)
    assert here.asked == [runs[1].id, runs[2].id, runs[0].id]


def test_what_failed_is_told_and_tried_again_next_time(runs, tmp_path):
    class Broken(Here):
        def map(self, work, items) -> Generator:
            for task in items:
                yield task, Failure("no", "line 1\nline 2")

    rows, said = RunRows(tmp_path / "rows.jsonl"), []
    failures = drive(runs[:1], rows, Broken(), folder=tmp_path, say=said.append)
    assert [failure.sentence for failure in failures.values()] == ["no"]
    report = tmp_path / runs[0].id / "failure.txt"
    assert said == [f"failed  true dynamics, 3 balls, none noise, seed 0: no (see {report})"]
    assert report.read_text() == "no\n\nline 1\nline 2"
    assert drive(runs[:1], rows, Here(), folder=tmp_path, say=lambda _: None) == {}


def test_the_time_left_is_that_of_runs_of_the_same_kind(runs):
    """A floor takes seconds, a fit minutes: one says nothing about the other."""
    system = Fit(SystemConfig(), Recipe())
    fits = [Run(system, run.scene, run.seed, run.scale, run.draws) for run in runs]
    progress = Progress(workers=2, say=lambda _: None)
    progress.learn(took(runs[0], 4.0))
    assert progress.left(runs[1:]) == "about 4 s left"
    assert progress.left([*runs[1:], *fits]) == "5 to go"
    progress.learn(took(fits[0], 600.0))
    assert progress.left([*runs[1:], *fits[1:]]) == "about 10 min left"


def took(run: Run, seconds: float) -> Row:
    return {"id": run.id, "run": run.to_dict(), "seconds": {"fit": seconds}}


def test_there_is_at_least_one_worker_wherever_the_work_is_done():
    for on in ("local", "ray"):
        with pytest.raises(BadInput, match="--workers 0: give at least 1"):
            engine(on, workers=0)
