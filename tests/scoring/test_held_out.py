"""Skill on held-out frames is told as far ahead as training and held-out data are long."""

import numpy as np
import pytest
from scipy.stats import norm

from comotion.data import Trajectories
from comotion.scoring import ConstantVelocity, Protocol, evaluate
from comotion.scoring import held_out as room
from comotion.scoring.held_out import held_out_skill, skill_of
from comotion.scoring.resampling import share


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
    held = found.held()
    assert skill.held_90 == (held.estimate, held.low, held.high)
    assert held.estimate == pytest.approx(found["coverage_90"])  # nothing is missing here


def bands(held: float, blocks: int, alike: float, rng: np.random.Generator):
    """Whether each of 20 leads of five rows of a block is held, rows of a block being alike."""
    shared, own = rng.standard_normal((blocks, 1, 1)), rng.standard_normal((blocks, 5, 20))
    inside = np.sqrt(alike) * shared + np.sqrt(1 - alike) * own < norm.ppf(held)
    return inside.reshape(-1, 20).astype(float), np.repeat(np.arange(blocks), 5)


@pytest.mark.parametrize("blocks", [8, 40])
@pytest.mark.parametrize("alike", [0.0, 0.3])
def test_honest_bands_are_rarely_blamed_and_narrow_ones_are(blocks, alike):
    def blamed(held: float) -> float:
        rng = np.random.default_rng(0)
        found = [share(*bands(held, blocks, alike, rng), 0.9) for _ in range(400)]
        return float(np.mean([not one.low <= 0.9 <= one.high for one in found]))

    assert blamed(0.9) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)  # of 400 sets, seed 0
    assert blamed(0.6) > (0.95 if blocks == 40 else 0.6)


def test_of_too_few_blocks_nothing_is_said():
    inside, blocks = bands(0.9, 4, 0.0, np.random.default_rng(0))
    assert np.isnan(share(inside, blocks, 0.9).low)
