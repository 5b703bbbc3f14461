import dataclasses
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
from comotion.jobs.engine import engine
from comotion.report.search import explained, search_figure
from comotion.reproduce.sweep.search import (
    StopsEarly,
    Study,
    SweepTrial,
    best_config,
    finished,
    forget_the_dead,
    missing,
    perform,
    suggested,
)
from comotion.reproduce.sweep.settings import keep_to, settings
from comotion.reproduce.sweep.space import Between, Space, read_space
from comotion.simulate import bouncing_balls
from comotion.systems import system
from comotion.train import recipe
from comotion.train.fit import run_config

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


def study_of_two_sizes(folder: Path, velocities: bool) -> Study:
    """Of a system that is trained in another way where velocities are hidden."""
    data = folder / "balls.csv"
    write(bouncing_balls(sequences=4, objects=2, frames=8, velocities=velocities), data)
    sizes = {"inducing_pair": (5, 6)}
    return Study(Space({"I-GPODE-L": sizes}, "fast", ("none",), 3), "I-GPODE-L", folder, data=data)


def own_data(study: Study) -> list[str]:
    """The words for a search on the study's data, in its folder."""
    return ["--data", str(study.data), "--split", str(study.share), "--out", str(study.folder)]


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
        ("noise = 3\n[studies.NODE]\nlatent = [1]", "noise: give a list of none, low, high"),
        ("noise = [[]]\n[studies.NODE]\nlatent = [1]", "higher, got [[]]"),
        ("scale = []\n[studies.NODE]\nlatent = [1]", "scale: [] is not one of smoke"),
        ("objects = 0\n[studies.NODE]\nlatent = [1]", "objects: give a whole number of at least 1"),
        ("objects = 'x'\n[studies.NODE]\nlatent = [1]", "of at least 1, got 'x'"),
        ("objects = 2.5\n[studies.NODE]\nlatent = [1]", "of at least 1, got 2.5"),
        (
            "studies = 3",
            "studies: give at least one table [studies.SYSTEM] of fields and values, got 3",
        ),
        ("[studies]\nNODE = 3", "studies.NODE: give a table of at least one field and its values"),
        (
            "[studies.NODE]",
            "studies.NODE: give a table of at least one field and its values, got {}",
        ),
        ("[studies.NODE]\nlatent = []", "studies.NODE: latent: give a list of values, or {low"),
        (
            "[studies.NODE]\nlatent = {low = 9, high = 8}",
            "latent: give two finite numbers, low not",
        ),
        ("[studies.NODE]\nlatent = {low = 'a', high = 8}", "got low = 'a', high = 8"),
        ("[studies.NODE]\nradius = {low = 1, high = inf}", "got low = 1, high = inf"),
        ("[studies.NODE]\nlatent = {low = 1, high = 8, log = 3}", "log: give true or false, got 3"),
        ("[studies.NODE]\nlatent = {low = 0, high = 8, log = true}", "low = 0 has no logarithm"),
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
    words = [str(space_file), *own_data(study), "--workers", "1", "--json"]
    assert main(["sweep", *words, "--trials", "1"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"NODE, 1/1: -?[0-9.]+ \(hidden_alone [46], activation tanh\)\n", err)
    first = json.loads(out)["NODE"]["best"]
    assert np.isfinite(first["log_likelihood"])
    assert [trial.number for trial in missing(study, 2)] == [1]
    carried_through(study, [first["log_likelihood"] - 1.0])
    assert main(["sweep", *words, "--trials", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == "NODE: 2 trials are there already\n"
    assert json.loads(out)["NODE"]["best"] == first
    best = read_toml(Path(first["config"]))
    assert best == best_config(study)
    assert best.system.hidden_alone == first["values"]["hidden_alone"]
    assert (tmp_path / "NODE" / "what-mattered.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--scale", "fast"], 'scale "smoke", not "fast"; choose another --out folder'),
        (["--seed", "3"], "seed 0, not 3; choose another --out folder"),
        (["--split", "0.5"], "split 0.75, not 0.5; choose another --out folder"),
        (["--data", "other.csv"], 'data fingerprint "'),
    ],
)
def test_a_search_with_other_settings_wants_another_folder(
    words, sentence, study, space_file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    write(bouncing_balls(sequences=4, objects=2, frames=8, seed=2), "other.csv")
    keep_to(study, settings(study))
    carried_through(study, [1.0])
    assert main(["sweep", str(space_file), *own_data(study), "--trials", "1", *words]) == 2
    said = capsys.readouterr().err
    assert f"--out {tmp_path}: NODE was searched there with {sentence}" in said
    assert len(study.open().trials) == 1


@pytest.mark.parametrize("other", ["hidden_alone = [4, 8]", "hidden_alone = [4, 6]\nlatent = [8]"])
def test_a_search_over_other_fields_wants_another_folder(other, study, space_file, capsys):
    keep_to(study, settings(study))
    carried_through(study, [1.0])
    space_file.write_text(SPACE.replace("hidden_alone = [4, 6]", other))
    assert main(["sweep", str(space_file), *own_data(study), "--trials", "1"]) == 2
    seen = 'with fields {"activation": ["tanh"], "hidden_alone": [4, 6]}, not {"activation"'
    assert seen in capsys.readouterr().err


def test_trials_of_which_nobody_knows_the_settings_are_not_taken_up(study):
    carried_through(study, [1.0])
    with pytest.raises(BadInput, match='with scale unknown, not "smoke"; choose another --out'):
        keep_to(study, settings(study))


def test_simulated_data_are_another_search_than_a_file(study):
    simulated = dataclasses.replace(study, data=None)
    keep_to(simulated, settings(simulated))
    keep_to(study, settings(study))  # nothing was tried yet
    carried_through(study, [1.0])
    with pytest.raises(BadInput, match='with data "from a file", not "simulated"'):
        keep_to(simulated, settings(simulated))


def test_whole_numbers_and_others_are_different_fields(study):
    def over(low: float, high: float) -> dict[str, str]:
        space = dataclasses.replace(study.space, studies={"NODE": {"radius": Between(low, high)}})
        return settings(dataclasses.replace(study, space=space))

    assert over(0, 1)["fields"] != over(0.0, 1.0)["fields"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--data", "nowhere.csv"], "nowhere.csv does not exist: check the path"),
        (["--split", "1"], "--split 1 leaves nothing to train or to choose on of 4 sequences"),
        (["--split", "0.1"], "give a share between 0 and 1 that leaves some of both"),
        (["--split", "nan"], "--split nan leaves nothing to train or to choose on"),
        (["--seed", "-1"], "--seed -1: give at least 0"),
        (["--trials", "0"], "--trials 0: give at least 1"),
        (["--only", "NODF"], "--only NODF: the studies are NODE"),
    ],
)
def test_what_no_trial_could_use_is_refused_before_any_begins(
    words, sentence, study, space_file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    out = ["--out", str(tmp_path / "out"), "--trials", "1"]
    assert main(["sweep", str(space_file), *own_data(study), *out, *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_more_balls_than_the_box_holds_are_refused_before_any_trial(space_file, tmp_path, capsys):
    space_file.write_text("objects = 12" + SPACE)
    words = ["--trials", "1", "--out", str(tmp_path / "out")]
    assert main(["sweep", str(space_file), *words]) == 2
    assert "12 balls of radius 1.2 found no places" in capsys.readouterr().err


@pytest.mark.parametrize("velocities", [True, False])
def test_the_best_config_is_what_a_fit_of_the_data_would_do(velocities, tmp_path):
    study = study_of_two_sizes(tmp_path, velocities)
    carried_through(study, [1.0])
    best = best_config(study)
    assert best is not None
    assert best == run_config(best.system, "short", 0, {}, velocities_seen=velocities)
    assert best.recipe.regression is not velocities
    assert best.recipe.calibration > 0


def test_the_best_of_a_tiny_search_is_calibrated_too(study):
    carried_through(study, [1.0])
    best = best_config(study)
    assert best is not None
    assert (best.recipe.name, best.recipe.calibration) == ("tiny", 100)


@pytest.mark.parametrize("velocities", [True, False])
def test_a_trial_trains_as_its_data_want_but_is_not_calibrated(velocities, tmp_path, monkeypatch):
    recipes = []

    def note_the_recipe(*_, recipe, **__):
        recipes.append(recipe)
        raise optuna.TrialPruned

    monkeypatch.setattr("comotion.train.fit", note_the_recipe)
    study = study_of_two_sizes(tmp_path, velocities)
    assert perform(SweepTrial(study, 0))["state"] == "PRUNED"
    named = recipe("short", system("I-GPODE-L"), velocities_seen=velocities)
    assert recipes == [dataclasses.replace(named, calibration=0)]


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
    judge = StopsEarly(trial, before=0)
    judge.show(STAGE, {"iteration": 1, "elbo": 3.0})
    judge.show(STAGE, {"iteration": 1, "valid_log_likelihood": 2.0})
    judge = StopsEarly(study.open().ask(), before=0)
    with pytest.raises(optuna.TrialPruned):
        judge.show(STAGE, {"iteration": 1, "valid_log_likelihood": -5.0})
    with pytest.raises(optuna.TrialPruned):
        judge.show(STAGE, {"iteration": 2, "valid_log_likelihood": float("nan")})


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
    monkeypatch.setattr(
        "comotion.train.validation.held_out_log_likelihood", lambda *_, **__: math.nan
    )
    assert perform(SweepTrial(study, 0))["state"] == "PRUNED"
