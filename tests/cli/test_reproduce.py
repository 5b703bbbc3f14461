import json
from collections.abc import Generator

import pytest

from comotion.cli import main
from comotion.cli.reproduce_figures import figure_runs, make_models_again
from comotion.jobs.engine import AbstractEngine
from comotion.reproduce.perform import Task


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A part of a table, made at the smallest scale by a real worker."""
    folder = tmp_path_factory.mktemp("reproduce")
    words = ["--scale", "smoke", "--noise", "none", "--systems", "NODE", "--workers", "1"]
    assert main(["reproduce", "lnode", *words, "--out", str(folder)]) == 0
    return folder


def test_a_table_is_written_in_every_format_with_its_plot(out):
    names = {path.name for path in out.iterdir() if path.is_file()}
    endings = (".md", ".csv", ".tex")
    assert {
        f"lnode-smoke-{view}{ending}" for ending in endings for view in ("train", "test")
    } <= names
    assert {"lnode-smoke-skill.png", "rows.jsonl"} <= names
    assert "| none | NODE | " in (out / "lnode-smoke-test.md").read_text()


def test_a_finished_run_keeps_its_model_and_its_row_but_no_checkpoint(out):
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text().splitlines()]
    (row,) = [row for row in rows if row["run"]["name"] == "NODE"]
    folder = out / "runs" / row["id"]
    assert (folder / "model.safetensors").is_file()
    assert (folder / "metrics.jsonl").is_file()
    assert not (folder / "checkpoint").exists()
    assert row["scores"]["test"]["model"]["mse_draws_table"] > 0


def test_asking_again_makes_nothing_and_says_the_same_in_json(out, capsys):
    before = (out / "rows.jsonl").read_bytes()
    words = ["--scale", "smoke", "--noise", "none", "--systems", "NODE", "--json"]
    assert main(["reproduce", "lnode", *words, "--out", str(out)]) == 0
    shown, said = capsys.readouterr()
    assert (out / "rows.jsonl").read_bytes() == before
    assert said == "2 of 2 runs are there already\n"
    first = json.loads(shown)["lines"][0]
    assert (first["system"], first["seeds"]) == ("NODE", 1)
    assert first["paper"]["test"]["mse_draws_table"] == [30.07, 1.63]


def test_a_status_and_a_check_make_nothing(out, capsys):
    words = ["lnode", "--scale", "smoke", "--noise", "none", "--systems", "NODE", "--out", str(out)]
    assert main(["reproduce", *words, "--status"]) == 0
    assert "| lnode | 2 | 0 | 0 | 0.00 |" in capsys.readouterr().out
    assert main(["reproduce", *words, "--check"]) == 1
    assert "lnode, none, NODE, test: MSE " in capsys.readouterr().out


class Fitting(AbstractEngine):
    """Leaves a model for each task, and remembers whose."""

    workers = 1

    def __init__(self) -> None:
        self.fitted: list[str] = []

    def map(self, work, items) -> Generator:
        for task in items:
            self.fitted.append(task.run.id)
            leave_model(task)
            yield task, {}


def leave_model(task: Task) -> None:
    task.home.mkdir(parents=True)
    (task.home / "model.safetensors").touch()


def test_models_that_are_gone_are_made_again_and_nobodys_twice(tmp_path, monkeypatch, capsys):
    runs, engine = figure_runs("smoke"), Fitting()
    theirs = Task(runs[0], tmp_path)
    claim = theirs.claim()
    assert claim is not None

    def finish(_seconds: float) -> None:
        leave_model(theirs)
        claim.release()

    monkeypatch.setattr("comotion.cli.reproduce_figures.time.sleep", finish)
    assert make_models_again(runs, tmp_path, engine)
    assert engine.fitted == [run.id for run in runs[1:]]
    assert capsys.readouterr().err == f"2 models are not in {tmp_path}: they are fitted again\n"
    assert make_models_again(runs, tmp_path, engine)
    assert len(engine.fitted) == 2


def test_a_tracker_that_is_not_installed_is_noticed_before_any_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("comotion.train.tracking.find_spec", lambda package: None)
    words = ["--scale", "smoke", "--track", "mlflow", "--out", str(tmp_path / "out")]
    assert main(["reproduce", "gps", *words]) == 2
    assert "mlflow is not installed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bb7"], "there is no table 'bb7': choose one of gps, "),
        (["gps", "--seeds", "0"], "--seeds 0: give at least 1"),
        (["gps", "--noise", "loud"], "--noise loud: table 'gps' has none, low, high"),
        (["gps", "--workers", "0"], "--workers 0: give at least 1"),
        (["gps", "--address", "here:1"], "--address here:1 is for --on ray"),
        (["gps", "--scale", "huge"], "invalid choice"),
    ],
)
def test_impossible_wishes_are_refused_in_one_sentence(words, sentence, tmp_path, capsys):
    assert main(["reproduce", *words, "--out", str(tmp_path / "out")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()
