"""Which laws the data show: what is tried, what is kept, what is said."""

import numpy as np
import pytest

import comotion as cm
from comotion.identification import choose
from comotion.identification.structures import ALONE, NEAREST, NULL, PAIR, beside, rounds


@pytest.fixture(scope="module")
def found():
    """Two walkers that go straight on, with the search stopped after its first structure."""
    rng = np.random.default_rng(0)
    times = 0.5 * np.arange(24)
    start, velocity = rng.normal(size=(2, 8, 1, 2, 2))
    values = 5 * start + velocity * times[None, :, None, None]
    data = cm.Trajectories.from_arrays(values + 0.02 * rng.normal(size=values.shape), times)
    steps = pytest.MonkeyPatch()
    steps.setitem(choose.STEPS, "quick", 10)
    try:
        return cm.identify(data, horizon=4, time_limit=0.0)
    finally:
        steps.undo()


def test_without_time_the_null_is_the_answer_and_what_was_not_tried_is_said(found):
    assert found.chosen.structure is NULL
    text = str(found)
    for name in ("climatology", "constant velocity", "Kalman filter", "no law"):
        assert f"\n{name}" in text
    assert "not tried: f_s of place (the time limit was reached)" in text
    assert found.conclusion in text


def test_where_there_is_no_law_a_straight_line_is_not_beaten_by_much(found):
    """Going straight on is the truth: the null may gain by smoothing noise, and by nothing else."""
    skill = found.chosen.evaluation.skill("constant velocity")
    assert skill.estimate > -0.5
    assert "straight line" in found.conclusion


def test_the_model_that_was_chosen_forecasts(found):
    data = cm.Trajectories.from_arrays(
        np.cumsum(np.ones((1, 12, 2, 2)), axis=1), 0.5 * np.arange(12)
    )
    forecast = found.model.predict(data, horizon=1.0, draws=3)
    assert np.isfinite(forecast.observation.values).all()


def test_a_law_stands_beside_what_was_found_before():
    both = beside(beside(NULL, ALONE[1], 3), PAIR[1], 3)
    assert dict(both.parts) == {"alone": "raw", "pair": "body"}
    assert both.name == "f_s of place, f_b as seen"


def test_in_a_crowd_an_object_hears_the_nearest():
    assert beside(NULL, PAIR[0], 50).parts["nearest"] == NEAREST
    assert "nearest" not in beside(NULL, ALONE[0], 50).parts


def test_one_object_interacts_with_nobody():
    assert list(rounds(1)) == [ALONE]
    assert list(rounds(2)) == [ALONE, PAIR]


def test_too_few_data_to_hold_any_out_are_refused():
    few = cm.Trajectories.from_arrays(np.random.default_rng(0).normal(size=(1, 5, 2, 2)))
    with pytest.raises(cm.BadInput, match="without held-out data nothing can be said"):
        cm.identify(few)
