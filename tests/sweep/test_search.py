import json
import math
import re
from pathlib import Path

import numpy as np
import optuna
import pytest

from comotion.cli import main
from comotion.config import Stage, read_toml
from comotion.data import write
from comotion.errors import BadInput
from comotion.grid.engine import engine
from comotion.report.search import explained, search_figure
from comotion.simulate import bouncing_balls
from comotion.sweep.search import (
    Judge,
    Study,
    Trial,
    best_config,
    finished,
    forget_the_dead,
    missing,
    perform,
    suggested,
)
from comotion.sweep.space import Between, read_space

SPACE = """
scale = "smoke"
[studies.NODE]
hidden_alone = [4, 6]
activation = ["tanh"]
"""
STAGE = Stage(5, 10, 0.1)


@pytest.fixture
def space_file(tmp_path) -> Path:
    (tmp_path / "space.toml").write_text(SPACE)
    return tmp_path / "space.toml"


@pytest.fixture
def study(space_file, tmp_path) -> Study:
    data = tmp_path / "balls.csv"
    write(bouncing_balls(sequences=4, objects=2, frames=8, seed=1), data)
    return Study(read_space(str(space_file)), "NODE", tmp_path, data=data, share=0.75)


def carried_through(study: Study, bounds: list[float]) -> None:
    """A finished trial that reported these bounds on its way."""
    opened = study.open()
    trial = opened.ask()
    suggested(study, trial)
    for step, bound in enumerate(bounds):
        trial.report(bound, step)
    opened.tell(trial, bounds[-1])


def test_the_search_of_the_supplement_is_ready():
    space = read_space("supplement")
    assert space.studies["I-GPODE"]["inducing_alone"] == (100, 250, 500)
    assert space.studies["I-GPODE"]["inducing_pair"] == (100, 250, 500, 1000)
    assert space.studies["I-GPODE"]["covariance"] == ("diagonal", "full")
    assert space.studies["I-NODE"]["hidden_alone"] == (64, 128, 256, 512)
    activations = space.studies["I-BNODE"]["activation"]
    assert isinstance(activations, tuple)
    assert set(activations) == {"elu", "relu", "softplus", "tanh", "swish", "lip-swish"}
    assert [scene.noise for scene in space.scenes()] == ["none", "low", "high"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("scale = 'tiny'\n[studies.NODE]\nlatent = [1]", "scale: 'tiny' is not one of smoke"),
        ("colour = 1", "unknown field 'colour'; the fields are scale, noise, objects, studies"),
        ("scale = 'fast'", "give at least one table [studies.SYSTEM]"),
        ("[studies.GPT]\nlatent = [1]", "there is no system 'GPT'"),
        ("[studies.NODE]\nlatnet = [1]", "unknown field 'latnet'"),
        ("[studies.NODE]\nactivation = ['sin']", "'sin' is not one of elu"),
        ("[studies.NODE]\nlatent = 3", "give a list of values, or {low = …, high = …"),
        ("noise = ['loud']\n[studies.NODE]\nlatent = [1]", "noise: give a list of none, low"),
        ("scale =", "neither a readable TOML file nor one of supplement"),
    ],
)
def test_a_space_that_cannot_be_searched_is_refused(text, sentence, tmp_path):
    (tmp_path / "space.toml").write_text(text)
    with pytest.raises(BadInput, match=re.escape(sentence)):
        read_space(str(tmp_path / "space.toml"))


def test_ranges_are_whole_numbers_if_their_ends_are(tmp_path):
    text = "[studies.I-GPODE]\ninducing_pair = {low = 10, high = 500, log = true}"
    (tmp_path / "space.toml").write_text(text)
    space = read_space(str(tmp_path / "space.toml"))
    assert space.studies["I-GPODE"]["inducing_pair"] == Between(10, 500, log=True)


def test_a_search_fits_chooses_and_goes_on_where_it_was(study, space_file, tmp_path, capsys):
    made = perform(Trial(study, 0))
    assert made["state"] == "COMPLETE"
    assert np.isfinite(made["value"])
    assert [trial.number for trial in missing(study, 2)] == [1]
    carried_through(study, [made["value"] - 1.0])
    words = [str(space_file), "--trials", "2", "--out", str(tmp_path), "--json"]
    assert main(["sweep", *words, "--data", str(study.data), "--split", "0.75"]) == 0
    out, err = capsys.readouterr()
    assert err == "NODE: 2 trials are there already\n"
    result = json.loads(out)["NODE"]
    assert result["best"]["values"] == made["values"]
    best = read_toml(Path(result["best"]["config"]))
    assert best == best_config(study)
    assert best.system.hidden_alone == made["values"]["hidden_alone"]
    assert (tmp_path / "NODE" / "what-mattered.png").stat().st_size > 1000


@pytest.mark.filterwarnings("ignore:os.fork", "ignore::ResourceWarning")
def test_a_trial_made_on_ray_is_in_the_journal(study):
    ray = pytest.importorskip("ray")
    on_ray = engine("ray", workers=1)
    try:
        ((trial, made),) = on_ray.map(perform, missing(study, 1))
    finally:
        ray.shutdown()
    assert trial.number == 0
    assert made["state"] == "COMPLETE"
    assert [done.value for done in finished(study)] == [made["value"]]


def test_a_trial_that_falls_behind_is_stopped(study):
    for _ in range(4):
        carried_through(study, [0.0, 1.0])
    trial = study.open().ask()
    judge = Judge(trial, before=0)
    judge.show(STAGE, {"iteration": 1, "elbo": 3.0})
    judge.show(STAGE, {"iteration": 1, "valid_elbo": 2.0})
    judge = Judge(study.open().ask(), before=0)
    with pytest.raises(optuna.TrialPruned):
        judge.show(STAGE, {"iteration": 1, "valid_elbo": -5.0})
    with pytest.raises(optuna.TrialPruned):
        judge.show(STAGE, {"iteration": 2, "valid_elbo": float("nan")})


def test_trials_whose_process_died_do_not_count(study):
    carried_through(study, [1.0])
    study.open().ask()
    forget_the_dead(study)
    assert [trial.state.name for trial in study.open().trials] == ["COMPLETE", "FAIL"]
    assert len(finished(study)) == 1


def test_two_searches_in_one_folder_are_refused(space_file, tmp_path, capsys):
    import fcntl

    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["sweep", str(space_file), "--out", str(tmp_path / "out")]) == 2
    assert "a search is going on there" in capsys.readouterr().err


def test_the_field_that_makes_the_difference_comes_first():
    trials = [({"size": size, "colour": c}, float(size)) for size in (1, 2) for c in "ab"]
    assert explained(trials) == {"size": 1.0, "colour": 0.0}
    titles = [axes.get_title(loc="left") for axes in search_figure("balls", trials).axes]
    assert titles == ["size (100%)", "colour (0%)"]


def test_numbers_that_never_recur_are_compared_by_quarters():
    """Between four groups of twenty chance results lies 3/19 of the variance, ± 0.12."""
    rng = np.random.default_rng(0)
    size, chance, results = np.linspace(0, 1, 20), rng.uniform(size=20), rng.normal(size=20)
    trials = [({"chance": float(c)}, float(r)) for c, r in zip(chance, results, strict=True)]
    assert explained(trials)["chance"] < 3 / 19 + 4 * 0.12
    mattered = [({"size": float(s)}, float(s)) for s in size]
    assert explained([*mattered, ({"size": 0.5}, -np.inf)])["size"] > 0.9
    assert search_figure("balls", mattered).axes[0].get_title(loc="left").startswith("size (9")


def test_a_trial_whose_bound_is_no_number_is_stopped(study, monkeypatch):
    monkeypatch.setattr("comotion.train.validation.held_out_elbo", lambda *_, **__: math.nan)
    assert perform(Trial(study, 0))["state"] == "PRUNED"
