"""Which laws the data show: what is tried, what is kept, what is said."""

import os
import signal
import time

import numpy as np
import pytest

import comotion as cm
from comotion.identification import choose
from comotion.identification.evidence import EvidenceOfLaws
from comotion.identification.structures import (
    BILLIARD,
    CONTACTS,
    NEAR_WALLS,
    NEAREST,
    NULL,
    Kind,
    beside,
    of_alone,
    of_first_order,
    of_pairs,
    rounds,
)
from comotion.simulate import bouncing_balls
from comotion.train.interruptible import is_work_left_behind
from comotion.train.loop import TrainingDivergedError
from tests.straight import FRAMES, SEQUENCES, straight_walkers


@pytest.fixture(scope="module", autouse=True)
def few_steps():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(choose.STEPS, "quick", 10)
        yield


@pytest.fixture(scope="module")
def found():
    """The search stopped after its first structure."""
    return cm.identify(straight_walkers(), time_limit=0.0)


def test_without_time_the_null_is_the_answer_and_what_was_not_tried_is_said(found):
    assert found.chosen.structure is NULL
    text = str(found)
    for name in ("climatology", "constant velocity", "Kalman filter", "constant turn", "no law"):
        assert f"\n{name}" in text
    assert "not tried: contacts (" in text
    assert "not tried: laws (the time limit was reached)" in text
    assert found.conclusion in text


def test_where_there_is_no_law_a_straight_line_is_not_beaten_by_much(found):
    """Going straight on is the truth: the null may gain by smoothing noise, and by nothing else."""
    skill = found.chosen.evaluation.skill("constant velocity")
    assert skill.estimate > -0.5
    assert "straight line" in found.conclusion


def test_the_model_that_was_chosen_forecasts(found):
    data = cm.Trajectories.from_arrays(
        np.cumsum(np.ones((1, 12, 2, 4)), axis=1), 0.5 * np.arange(12)
    )
    forecast = found.model.predict(data, horizon=1.0, draws=3)
    assert np.isfinite(forecast.observation.values).all()


def test_f_b_stands_beside_the_f_s_that_was_found_before():
    both = beside(beside(NULL, of_alone("raw"), 3), of_pairs("body"), 3)
    assert dict(both.parts) == {"alone": "raw", "pair": "body"}
    assert both.name == "f_s of place, f_b as seen" == str(both.kind)


def test_in_a_crowd_an_object_hears_the_nearest():
    assert beside(NULL, of_pairs("radial"), 50).parts["nearest"] == NEAREST
    assert "nearest" not in beside(NULL, of_alone("speed"), 50).parts


def test_a_law_of_first_order_stands_by_itself():
    kind = Kind("none", "distance", 1)
    structure = beside(beside(NULL, CONTACTS, 3), of_first_order(kind), 3)
    assert structure.kind == kind
    assert structure.name == "f_b of distance, first order"


def test_what_the_evidence_favours_is_tried_f_s_first():
    favoured = [("f_s of speed",), ("f_b of distance",)]
    found = rounds(Kind("speed", "distance"), contacts=False, straight=False, speed=True)
    assert [tuple(each.name for each in names) for names in found] == favoured
    assert list(rounds(Kind(), contacts=False, straight=False, speed=False)) == []


def test_contacts_are_tried_first_where_they_were_found_and_then_every_f_s_of_places():
    of_places, of_speed = (of_alone("raw"), NEAR_WALLS), of_alone("speed")
    found = rounds(Kind(), contacts=True, straight=False, speed=False)
    assert list(found) == [(CONTACTS,), of_places]
    likely = rounds(Kind(), contacts=True, straight=False, speed=True)
    assert list(likely) == [(CONTACTS,), (of_speed, *of_places)]
    straight = rounds(Kind(), contacts=True, straight=True, speed=False)
    assert list(straight)[:2] == [(BILLIARD,), (CONTACTS,)]


def test_noise_of_its_own_replaces_what_has_none():
    assert beside(BILLIARD, CONTACTS, 3) == CONTACTS


def test_balls_that_fly_straight_between_contacts_are_known_for_what_they_are():
    found = cm.identify(bouncing_balls(sequences=SEQUENCES, frames=FRAMES, noise="low", seed=3))
    assert found.chosen.structure == BILLIARD
    assert found.chosen.evaluation.skill("constant velocity").low > 0.5
    assert found.model.contact_law is not None
    assert "not tried: contacts (contacts alone is enough)" in str(found)


def test_too_few_data_to_hold_any_out_are_refused():
    few = cm.Trajectories.from_arrays(np.random.default_rng(0).normal(size=(1, 5, 2, 2)))
    with pytest.raises(cm.BadInput, match="without held-out data nothing can be said"):
        cm.identify(few)


def test_ctrl_c_ends_a_search_that_is_deaf_and_keeps_the_best_so_far(monkeypatch, capsys, tmp_path):
    real, pressed = choose.fit, []

    def deaf_later(*data, **options):
        assert options["on_interrupt"] == "raise"
        if pressed:
            os.kill(os.getpid(), signal.SIGINT)
            pressed.append(time.monotonic())
            time.sleep(6)
        pressed.append(0.0)
        return real(*data, **options)

    monkeypatch.setattr(choose, "fit", deaf_later)
    favours = EvidenceOfLaws({"wandering": 0.0}, {}, {Kind(alone="raw"): 100.0})
    monkeypatch.setattr(choose, "evidence_of", lambda *about: favours)
    hearing = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        model = cm.fit(straight_walkers(), out=tmp_path / "run")
    finally:
        signal.signal(signal.SIGINT, hearing)
    assert time.monotonic() - pressed[1] < 5.5
    told = capsys.readouterr()
    assert "not tried: f_s of place (stopped by Ctrl-C)" in told.out
    assert "trying: no law" in told.err
    assert repr(cm.load(tmp_path / "run")) == repr(model)
    while is_work_left_behind():
        time.sleep(0.1)


def test_a_structure_whose_training_diverges_is_no_reason_to_stop(found, monkeypatch):
    def trial(run, structure, before):
        if before is None:
            return found.trials[0]
        raise TrainingDivergedError("no gradient was finite")

    favours = EvidenceOfLaws({}, {}, {Kind(alone="speed"): 100.0})
    monkeypatch.setattr(choose, "evidence_of", lambda *about: favours)
    monkeypatch.setattr(choose._Search, "_trial", trial)
    again = cm.identify(cm.simulate.walkers(sequences=6, objects=2, frames=30, seed=0))
    assert again.chosen is found.trials[0]
    assert again.skipped["f_s of speed"] == "no gradient was finite"


def test_a_run_that_is_resumed_says_itself_what_it_fits(tmp_path):
    data = cm.simulate.walkers(sequences=6, objects=2, frames=30, seed=0)
    small = {"hidden_alone": 4, "hidden_pair": 4, "encoder": "smoother"}
    recipe = cm.Recipe(stages=(cm.Stage(3, 1, 1e-2),), windows=2)
    quiet = {"progress": False, "report": False, "out": tmp_path}
    first = cm.fit(data, system="I-NODE", recipe=recipe, seed=3, **small, **quiet)
    again = cm.fit(data, resume=True, **quiet)
    assert again.config == first.config
