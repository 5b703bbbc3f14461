import math

import pytest

from comotion.config import Stage
from comotion.errors import BadInput
from comotion.systems import system
from comotion.train import recipe
from comotion.train.fit import run_config
from comotion.train.recipe import changed
from comotion.train.step import LAST_RATE, learning_rate


@pytest.mark.parametrize(("name", "rate"), [("I-GPODE", 5e-4), ("I-NODE", 5e-4), ("I-BNODE", 1e-4)])
def test_the_papers_recipe_is_as_published(name, rate):
    stages = recipe("paper", system(name)).stages
    assert [stage.horizon for stage in stages] == [5, 16, 33]
    assert [stage.iterations for stage in stages] == [25_000, 12_500, 12_500]
    assert {stage.learning_rate for stage in stages} == {rate}
    assert learning_rate(stages[0], 24_999) == rate


def test_a_cosine_falls_from_the_rate_to_a_fiftieth_of_it():
    stage = Stage(5, 100, 0.1, "cosine")
    rates = [learning_rate(stage, done) for done in range(101)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[50] == pytest.approx(0.1 * (1 + LAST_RATE) / 2)
    assert math.isclose(rates[-1], 0.1 * LAST_RATE)
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    ("name", "parts", "seen", "regressed"),
    [
        ("I-GPODE", {}, False, False),
        ("I-GPODE", {"pair": "radial"}, False, True),
        ("I-GPODE-L", {}, False, True),
        ("I-GPODE-L", {}, True, False),
        ("I-GPODE/with-globals", {}, False, False),
        ("I-NODE", {}, True, True),
    ],
)
def test_the_papers_own_coordinates_start_from_nothing(name, parts, seen, regressed):
    short = recipe("short", system(name, **parts), velocities_seen=seen)
    assert short.regression == (short.pretrain > 0) == regressed


def test_systems_of_one_table_take_as_many_steps_whether_they_know_velocities_or_not():
    names = ("I-GPODE", "I-GPODE-L", "I-GPODE-L-S")
    assert len({recipe("short", system(name)).stages for name in names}) == 1


@pytest.mark.parametrize("name", ["I-NODE", "I-GPODE"])
def test_two_four_or_eight_devices_share_the_windows_of_a_step(name):
    assert recipe("short", system(name)).windows % 8 == 0


def test_neither_long_windows_nor_a_start_in_closed_form_need_a_tolerance():
    raw, radial, network = (
        recipe("short", system(name)) for name in ("I-GPODE", "comotion", "I-NODE")
    )
    for plan in (raw, radial):
        assert (plan.tolerance, plan.velocity_tolerance, plan.kernel_rate) == (0.0, 0.0, 1.0)
    assert network.tolerance > 0.0


def test_an_unknown_recipe_is_named():
    with pytest.raises(BadInput, match="there is no recipe 'quick': choose one of paper, short"):
        recipe("quick", system("I-GPODE"))


def test_iterations_are_shared_by_the_rounds_as_before_and_fields_are_checked():
    plan = recipe("short", system("I-NODE"))
    fewer = changed(plan, {"iterations": 12, "windows": 7})
    assert [stage.iterations for stage in plan.stages] == [600, 400, 200]
    assert [stage.iterations for stage in fewer.stages] == [6, 4, 2]
    assert fewer.windows == 7
    assert changed(plan, {"iterations": 1200}) == changed(plan, {}) == plan
    best = changed(plan, {"effort": "best", "iterations": 12})
    assert [stage.iterations for stage in best.stages] == [18, 12, 6]
    with pytest.raises(BadInput, match="effort='huge': choose one of quick, best"):
        changed(plan, {"effort": "huge"})
    with pytest.raises(BadInput, match="iterations=0: give a whole number, 1 or more"):
        changed(plan, {"iterations": 0})
    with pytest.raises(BadInput, match="recipe: windows: expected at least 1, got 0"):
        changed(plan, {"windows": 0})


def test_every_field_of_a_recipe_can_be_given_beside_parts_of_the_system():
    config = run_config("comotion", "short", 0, {"calibration": 3, "iterations": 9, "order": 1})
    assert config.recipe.calibration == 3
    assert sum(stage.iterations for stage in config.recipe.stages) == 9
    assert config.system.order == 1


def test_what_begins_at_the_last_frame_seen_learns_by_the_score_of_forecasts():
    assert recipe("short", system("motion")) == recipe("now", system("motion"))
    assert {stage.objective for stage in recipe("short", system("motion")).stages} == {"score"}
