"""Soft contacts: found in what springs did, forecast, kept in a file, refused where none are."""

import re

import numpy as np
import pytest

from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.initialise.find_contacts import find_contacts
from comotion.initialise.soft_contacts import find_soft_contacts
from comotion.initialise.tracks import tracks_of
from comotion.predict import load
from comotion.simulate import charged_particles
from comotion.train import fit
from tests.soft_balls import soft_balls

LASTING, LEARNED = 0.7, 40


@pytest.fixture(scope="module")
def balls():
    tracks = soft_balls(LASTING, sequences=LEARNED + 6)
    assert tracks.velocities is not None
    values = np.concatenate([tracks.positions, tracks.velocities], axis=-1)
    return Trajectories.from_arrays(values, tracks.times, features=("x", "y", "vx", "vy"))


@pytest.fixture(scope="module")
def fitted(balls):
    return fit(balls[:LEARNED], contacts="auto", hold_out=0.0)


def test_springs_are_found_where_hard_contacts_are_refused(balls, fitted):
    hard = find_contacts(tracks_of(balls[:LEARNED]))
    assert hard.law is None or hard.out > 0.1
    numbers = [float(n) for n in re.findall(r"(?:at|lasts|=|and) (-?[\d.]+)", fitted.contacts)]
    distance, pair, left, right, low, high, wall = numbers
    assert distance == pytest.approx(2.4, abs=0.005)
    np.testing.assert_allclose([-left, right, -low, high], 3.8, atol=0.01)
    np.testing.assert_allclose([pair, wall], LASTING, rtol=0.03)
    springs = fitted.contact_law.springs
    assert float(springs.pair.mean[1]) == pytest.approx(1.0, abs=0.05)


def test_forecasts_follow_the_truth_for_long_and_a_file_forecasts_the_same(fitted, balls, tmp_path):
    forecast = fitted.predict(balls[LEARNED:], draws=4)
    error = forecast["trajectory"].mean("draw").values - balls[LEARNED:].values
    assert np.sqrt(np.median(error[:, :40] ** 2)) < 0.02
    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.contacts == fitted.contacts
    same = again.predict(balls[LEARNED:], draws=4)
    np.testing.assert_array_equal(forecast["trajectory"].values, same["trajectory"].values)


def test_charges_do_not_touch():
    data = charged_particles(sequences=12, objects=4, frames=60, seed=0)
    assert find_soft_contacts(tracks_of(data)).law is None
    with pytest.raises(BadInput, match="no soft contacts were found"):
        fit(data, contacts="soft")
