import copy
import re

import pytest

from comotion.errors import BadInput
from comotion.jobs.rows import Row
from comotion.report import reproduction_table, skill_figure, skill_table
from comotion.reproduce import Found, found, labels, results, runs_of, select, table
from comotion.reproduce.conventions import METRICS
from comotion.reproduce.goals import check
from comotion.reproduce.runs import OURS, TRUE_DYNAMICS
from comotion.reproduce.scales import SCALES, TABLE_DRAWS
from comotion.reproduce.status import statuses
from comotion.reproduce.today import id_of
from comotion.systems import system
from comotion.train.recipe import recipe

LABELS = ("gps", "interactions", "missing-vel", "charges", "lnode", "disent", "discr-cont-gp")
LABELS += ("bb2", "bb3", "supp:missing-vel", "supp:charges")


def made_up(label: str, mse: dict[str, float], scale: str = "fast", **chosen) -> Found:
    """A table whose runs gave these errors, with as many log likelihoods below zero."""
    wanted = select(table(label), **chosen)
    rows: list[Row] = []
    for run in runs_of(wanted, scale, seeds=2):
        error = mse.get(run.source.name, 30.0) + run.seed
        scores = dict.fromkeys(METRICS, 0.25) | {"mse_draws_table": error, "ell_table": -error}
        beside = {"climatology": scores, "constant velocity": scores, "model": scores}
        curves = {name: {"skill_crps": [0.9, 0.5, 0.1]} for name in beside}
        views = dict.fromkeys(wanted.views, beside)
        leads = {"lead": [-1.0, 0.0, 1.0]} | curves
        row = {"id": run.id, "run": run.to_dict(), "scores": views, "diverged": {}}
        rows.append(copy.deepcopy(row) | {"by_lead": {"test": leads, "single": leads}})
    return found(wanted, rows, scale)


def test_every_table_is_there_and_cites_where_its_numbers_are_from():
    assert labels() == list(LABELS)
    assert "NeurIPS" in results()["citation"]


def test_numbers_are_those_printed():
    (entry,) = [e for e in table("bb2").entries if (e.setting, e.system) == ("low", "I-NODE")]
    assert entry.printed["train"] == {"mse_draws_table": (4.39, 0.64), "ell_table": (-33.49, 7.16)}
    assert entry.printed["test"]["ell_table"] == (-66.1, 3.3)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("label", LABELS)
def test_every_table_has_runs_at_every_scale_and_a_floor_and_ours_for_every_scene(label, scale):
    chosen = table(label)
    runs = runs_of(chosen, scale, seeds=2)
    assert len({run.id for run in runs}) == len(runs)
    assert len(runs) == 2 * (len(chosen.entries) + 2 * len(chosen.scenes))


def test_networks_have_the_papers_draws():
    draws = {run.source.name: run.draws for run in runs_of(table("interactions"), "fast", 1)}
    few, many = TABLE_DRAWS, SCALES["fast"].draws
    assert draws == {"I-GPODE": many, "I-NODE": few, "I-BNODE": few} | dict.fromkeys(
        (OURS, TRUE_DYNAMICS), many
    )


def test_a_row_with_more_draws_than_wanted_today_is_as_good():
    (run,) = [one for one in runs_of(table("gps"), "fast", 1) if one.source.name == "GPODE"][:1]
    for draws, same in ((run.draws - 1, False), (run.draws, True), (run.draws + 1, True)):
        row = {"id": "then", "run": run.to_dict() | {"draws": draws}}
        assert (id_of(row) == run.id) == same


def test_tables_share_their_runs():
    ids = {label: {run.id for run in runs_of(table(label), "fast", 1)} for label in LABELS}
    assert ids["gps"] < ids["bb3"]
    assert ids["interactions"] < ids["bb3"]
    assert ids["disent"] < ids["interactions"]


def test_settings_become_scenes_and_forms():
    charges = {(entry.setting, entry.system) for entry in table("charges").entries}
    assert ("with global latents", "I-GPODE-S/with-globals") in charges
    assert {entry.scene.velocities for entry in table("missing-vel").entries} == {False}
    assert [entry.system for entry in table("disent").entries] == ["I-GPODE", "I-NODE", "I-BNODE"]
    assert table("bb2").entries[-1].scene.noise == "higher"


def test_parts_of_a_table_can_be_chosen():
    some = select(table("charges"), systems=["I-NODE"])
    assert {entry.system.partition("/")[0] for entry in some.entries} == {"I-NODE"}
    assert len(select(table("bb3"), noise=["low"], systems=["NODE", "I-NODE"]).entries) == 2


@pytest.mark.parametrize(
    ("choose", "sentence"),
    [
        (lambda: table("bb4"), "there is no table 'bb4': choose one of gps, interactions, "),
        (lambda: select(table("gps"), noise=["loud"]), "--noise loud: table 'gps' has none, low"),
        (lambda: select(table("gps"), systems=["NODE"]), "table 'gps' has I-GPODE, GPODE"),
        (lambda: select(table("gps"), systems=["ours"]), "a system of table 'gps' beside it"),
    ],
)
def test_what_a_table_does_not_have_is_refused(choose, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        choose()


def test_a_winner_other_than_the_papers_is_marked():
    found = made_up("interactions", {"I-GPODE": 10.0, "I-NODE": 20.0}, noise=["none"])
    # The paper's I-NODE has the smaller error, its I-GPODE the larger likelihood.
    assert found.differing("test") == {0: "≠ MSE (paper: I-NODE)"}
    assert made_up("gps", {"I-GPODE": 10.0}).differing("test") == {}


def test_directions_are_not_judged_before_every_system_is_there():
    whole = made_up("gps", {"GPODE": 1.0}, noise=["none"])
    assert whole.differing("test")
    assert found(whole.table, whole.lines[0].rows, "fast").differing("test") == {}


def test_a_table_shows_both_numbers_and_the_references_without_letting_them_win():
    found = made_up("gps", {"I-GPODE": 10.0, "true dynamics": 0.1}, noise=["low"])
    shown = reproduction_table(found, "test")
    text = shown.to_markdown()
    assert "| low | I-GPODE | **10.50 ± 0.71** | **17.80 ± 0.90** |" in text
    assert "| low | true dynamics | 0.60 ± 0.71 | – |" in text
    assert [row[1] for row in shown.rows] == [
        "I-GPODE",
        "GPODE",
        "climatology",
        "constant velocity",
        "ours",
        "true dynamics",
    ]
    assert r"$\mathbf{10.50 \pm 0.71}$" in shown.to_latex()
    assert "MSE,MSE sd,paper MSE,paper MSE sd" in shown.to_csv()
    assert shown.to_latex().startswith("% table convention: summed over objects and features")


def test_a_table_says_how_long_was_trained():
    found = made_up("gps", {}, noise=["low"])
    shown = reproduction_table(found, "test")
    steps = [row[[column.name for column in shown.columns].index("steps")] for row in shown.rows]
    plans = [recipe("short", system(name)) for name in ("I-GPODE", "GPODE")]
    assert steps[:4] == [*(str(sum(s.iterations for s in p.stages)) for p in plans), "", ""]


def test_training_sequences_have_no_more_draws_than_the_papers():
    found = made_up("bb2", {})
    views = {view: reproduction_table(found, view).to_markdown() for view in ("train", "test")}
    assert ["ELL, all draws" in text for text in views.values()] == [False, True]


def test_references_of_charges_are_shown_once_for_all_settings():
    shown = made_up("charges", {})
    assert [line.setting for line in shown.lines if line.is_reference] == ["any"] * 4


@pytest.mark.parametrize("label", ["charges", "disent", "bb2"])
def test_skill_by_lead_time_is_drawn_and_written(label):
    found = made_up(label, {})
    view = found.table.views[-1]
    figure = skill_figure(found, view)
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    assert len(drawn) == len({entry.setting for entry in found.table.entries})
    assert all(axes.lines for axes in drawn)
    row = skill_table(found, view).rows[0]
    assert row[2:4] == (0.1, None), "one frame ahead, and two, which there is not"


def test_settings_of_which_nothing_has_been_run_have_no_panel():
    whole = made_up("bb2", {})
    low = [row for row in whole.rows if row["run"]["scene"]["noise"] == "low"]
    figure = skill_figure(found(whole.table, low, "fast"), "test")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["low"]


def test_a_row_of_an_older_recipe_is_marked_until_todays_is_there():
    today = made_up("gps", {"GPODE": 1.0}, noise=["none"])
    old = copy.deepcopy(today.rows)
    for row in old:
        row["id"] += "-old"
        if "recipe" in row["run"]["source"]:
            row["run"]["source"]["recipe"]["stages"][0]["iterations"] = 7
    shown = found(today.table, old, "fast")
    assert [line.name for line in shown.lines if line.is_stale] == ["I-GPODE", "GPODE", "ours"]
    assert "older recipe" in reproduction_table(shown, "test").to_markdown()
    again = found(today.table, [*today.rows, *old], "fast")
    assert not any(line.is_stale for line in again.lines)


def test_parts_that_were_added_since_make_no_row_old():
    shown = made_up("gps", {}, noise=["none"])
    for row in shown.rows:
        row["run"]["source"].get("system", {}).pop("contacts", None)
    lines = [line for line in shown.lines if line.name != "ours"]  # ours had none before
    assert not any(line.is_stale for line in lines)


def test_a_run_whose_draws_diverged_is_marked_and_not_averaged():
    shown = made_up("gps", {"GPODE": 1.0}, noise=["none"])
    lost = shown.lines[1].rows[0]
    lost["diverged"] = {"test": 0.25}
    lost["scores"]["test"]["model"]["mse_draws_table"] = 1e6
    assert shown.lines[1].ours("test", "mse_draws_table") == 2.0, "that of the other seed"
    assert "25.0% of draws diverged" in reproduction_table(shown, "test").to_markdown()


def test_a_smaller_scale_fills_in_and_says_so():
    whole = made_up("gps", {}, noise=["none"])
    rows = [row for row in whole.rows if row["run"]["name"] != "GPODE"]
    rows.append(made_up("gps", {"GPODE": 3.0}, scale="quick", noise=["none"]).lines[1].rows[0])
    shown = found(whole.table, rows, "fast", ["quick"])
    assert [line.scale for line in shown.lines][:2] == ["fast", "quick"]
    assert "125, scale quick" in reproduction_table(shown, "test").to_markdown()


def test_every_cell_is_held_against_the_paper():
    near = {"I-GPODE": 18.0, "GPODE": 26.0}  # printed: 17.3 ± 1.2 and 23.9 ± 0.9
    shown = made_up("gps", near, noise=["none"])
    result = check([shown.table], shown.rows, "fast")
    assert not result.passed
    assert result.summary[0] == "MSE as good as printed: 1 of 2 cells (50%, wanted 80%)"
    assert result.misses == (
        "gps, none, GPODE, test: MSE 26.5, wanted at most 25.7 (paper 23.9 ± 0.9)",
    )
    assert result.summary[-1] == "systems with too few seeds of today's recipe: 2, wanted 0"


def test_a_status_counts_what_is_there_stale_and_missing_and_how_long_it_would_take():
    shown = made_up("gps", {}, noise=["none"])
    rows: list[Row] = copy.deepcopy(shown.rows)
    for row in rows:
        row["seconds"] = {"fit": 360.0, "score test": 36.0}
    stages = rows[0]["run"]["source"]["recipe"]["stages"]
    for stage in stages:
        stage["iterations"] //= 2
    (status,) = statuses([shown.table], rows[:-1], "fast", seeds=2)
    assert (status.there, len(status.stale), len(status.missing)) == (6, 1, 1)
    # Of two rows like the stale run one had half of its steps; scoring takes as long as ever.
    assert status.hours == pytest.approx(((2 * 360 + 360) / 2 + 360 + 2 * 36) / 3600)


def test_a_later_row_of_the_same_cell_counts():
    old = made_up("gps", {"GPODE": 1.0}, noise=["none"])
    new = copy.deepcopy(old.rows)
    for row in new:
        row["id"] += "-new"
        row["scores"]["test"]["model"]["mse_draws_table"] = 5.0
    again = found(old.table, [*old.rows, *new], "fast")
    assert again.lines[1].ours("test", "mse_draws_table") == (5.0, 0.0)
