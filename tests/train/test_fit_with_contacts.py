"""Contacts as part of a fit: found, kept in the file, left out where there are none."""

from contextlib import nullcontext

import numpy as np
import pytest

from comotion.errors import BadInput
from comotion.predict import load
from comotion.simulate import bouncing_balls, springs
from comotion.train import fit, phases


@pytest.fixture(scope="module")
def balls():
    return bouncing_balls(sequences=24, frames=60, seed=3)


@pytest.fixture(scope="module")
def fitted(balls):
    return fit(balls[:20], contacts="auto")


def test_balls_are_learned_as_what_they_are(fitted):
    assert fitted.contact_law is not None
    assert fitted.contact_law.only
    assert "contact at 2.4, restitution 1;" in fitted.contacts
    assert "walls at x = -3.8 and 3.8, y = -3.8 and 3.8" in fitted.contacts


def test_forecasts_follow_the_truth_for_long(fitted, balls):
    forecast = fitted.predict(balls[20:], draws=10)
    error = forecast["trajectory"].mean("draw").values - balls[20:].values
    assert np.sqrt(np.mean(error[:, :30] ** 2)) < 0.05


def test_a_file_forecasts_the_same_numbers(fitted, balls, tmp_path):
    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    first, second = (m.predict(balls[20:], draws=10)["observation"] for m in (fitted, again))
    np.testing.assert_array_equal(first.values, second.values)
    assert again.contacts == fitted.contacts


def test_without_interaction_walls_stay_and_balls_pass_through_each_other(fitted, balls):
    alone = fitted.predict(balls[20:], draws=10, interaction=False)["trajectory"]
    assert np.nanmax(np.abs(alone.sel(feature=["x", "y"]).values)) < 3.81
    places = alone.sel(feature=["x", "y"]).values
    gaps = np.linalg.norm(places[..., 0, :] - places[..., 1, :], axis=-1)
    assert gaps.min() < 2.3


@pytest.fixture(scope="module")
def many():
    return bouncing_balls(sequences=1, objects=5, radius=1.2, frames=30, seed=5)


def test_other_numbers_of_balls_follow_the_same_law(fitted, many):
    forecast = fitted.predict(many, draws=4)
    assert forecast.dataset.attrs["steps_missed"] == 0
    mean = forecast["trajectory"].mean("draw").values
    assert np.sqrt(np.mean((mean - many.values)[:, :10] ** 2)) < 0.05


def test_balls_that_are_cut_off_from_each_other_pass_through(fitted, balls):
    effect = fitted.what_if(balls[20:], cut=[("0", "1"), ("0", "2"), ("1", "2")], draws=10)
    free = effect.changed["trajectory"].sel(feature=["x", "y"]).values
    assert np.nanmax(np.abs(free)) < 3.81
    gaps = np.linalg.norm(free[..., 0, :] - free[..., 1, :], axis=-1)
    assert gaps.min() < 2.3


def test_contacts_that_could_not_be_followed_are_told(fitted, many, monkeypatch):
    monkeypatch.setattr("comotion.integrate.bouncing.rounds_for", lambda objects: 1)
    with pytest.warns(UserWarning, match="more contacts than are followed"):
        # As many draws on a device as before would find their program again.
        fewer = fitted.predict(many, draws=2)
    assert fewer.dataset.attrs["steps_missed"] > 0
    assert np.nanmax(np.abs(fewer["trajectory"].sel(feature=["x", "y"]).values)) < 3.82


def test_an_adaptive_solver_is_refused(fitted, balls):
    with pytest.raises(BadInput, match="knows no hard contacts"):
        fitted.predict(balls[20:], solver="tsit5")


def test_asking_for_contacts_where_there_are_none_is_an_error(monkeypatch):
    monkeypatch.setattr(phases, "compiling_steps", lambda *_: nullcontext())  # none is taken
    # Too few frames for anything to reach the walls of the box.
    far = springs(sequences=6, frames=12, seed=0, half_width=50.0)
    with pytest.raises(BadInput, match="no hard contacts were found"):
        fit(
            far,
            contacts="hard",
            simplify=False,
            inducing_alone=5,
            inducing_pair=5,
            fourier_features=4,
        )


def test_a_system_that_cannot_collide_says_so(balls):
    with pytest.raises(BadInput, match="contacts='hard' needs"):
        fit(balls[:4], system="I-GPODE", contacts="hard")
