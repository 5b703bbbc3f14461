"""Skill on held-out frames is told as far ahead as training and held-out data are long."""

import numpy as np
import pytest

from comotion.data import Trajectories
from comotion.scoring import ConstantVelocity, Protocol, evaluate
from comotion.scoring import held_out as room
from comotion.scoring.held_out import held_out_skill, skill_of


def walks(seed: int, sequences: int, frames: int) -> Trajectories:
    rng = np.random.default_rng(seed)
    velocity = rng.normal(size=(sequences, 1, 2, 2))
    noise = 0.1 * rng.normal(size=(sequences, frames, 2, 2)).cumsum(axis=1)
    return Trajectories.from_arrays((velocity + noise).cumsum(axis=1), features=("x", "y"))


@pytest.mark.parametrize(("train", "held_out"), [(20, 60), (60, 20)])
def test_the_horizon_is_that_of_the_shorter_recording(train, held_out, monkeypatch):
    asked = {}

    def remember(what, data, *, train, protocol, draws):
        asked["protocol"] = protocol
        return evaluate(what, data, train=train, protocol=protocol)

    monkeypatch.setattr(room, "evaluate", remember)
    data = walks(0, 4, train)
    reference = ConstantVelocity.fit(data, Protocol(5, 7))
    skill = held_out_skill(reference, walks(1, 2, held_out), data)
    assert asked["protocol"].horizon == 7 == len(skill.lead)


def test_the_record_has_the_numbers_of_the_evaluation():
    data = walks(0, 10, 30)
    found = evaluate(ConstantVelocity.fit(data, Protocol(5, 8)), data, protocol=Protocol(5, 8))
    skill = skill_of(found)
    assert [rival.name for rival in skill.rivals] == found.references
    np.testing.assert_array_equal(skill.crps, found.scores[found.name].by_lead("crps"))
    kalman = skill.rivals[-1]
    assert (kalman.gain, kalman.low) == (
        found.skill("Kalman filter").estimate,
        found.skill("Kalman filter").low,
    )
    assert skill.origins == len(found.origins)
