"""A recording's own past says how wide bands must be in it, and its future says nothing."""

import dataclasses

import numpy as np
import pytest

import comotion as cm
from comotion.predict.stretch import Stretch
from comotion.scoring.adaptive import adapted, needed_stretch, running_factors
from comotion.scoring.distributions import SampledPaths
from comotion.scoring.rolling import Protocol, roll

HORIZON = 4


@pytest.fixture(scope="module")
def walks():
    """Positions without any past that helps: standard normal at every frame of two recordings."""
    values = np.random.default_rng(0).normal(size=(2, 1500, 2, 2))
    return roll(cm.Trajectories.from_arrays(values), Protocol(2, HORIZON, stride=2))


def drawn(origins, sd):
    shape = (100, *origins.future.shape)
    return SampledPaths(sd * np.random.default_rng(1).normal(size=shape))


def held(predicted, origins, rows):
    lower, upper = predicted.band(0.9)
    inside = (origins.future > lower) & (origins.future < upper)
    return inside[rows].mean()


@pytest.mark.parametrize("sd", [0.4, 2.5])
def test_bands_learn_how_wide_they_have_to_be(walks, sd):
    predicted = drawn(walks, sd)
    late = walks.frame[walks.origin] > 1000
    assert abs(held(predicted, walks, late) - 0.9) > 0.09
    # 3900 values: 0.5 % by chance; what is left of the first stretch is a tenth of its log.
    found = adapted(predicted, walks)
    assert held(found, walks, late) == pytest.approx(0.9, abs=0.03)
    np.testing.assert_allclose(found.mean, predicted.mean, atol=1e-12)


def test_without_a_past_the_fitted_width_stays(walks):
    predicted = drawn(walks, 0.4)
    factors = running_factors(needed_stretch(predicted, walks.future), walks)
    begins = walks.frame < 1 + 2 + 1  # nothing that was forecast three frames ahead was seen yet
    assert begins.sum() == 4
    np.testing.assert_array_equal(factors[begins, 2:], 1.0)
    assert factors[walks.frame > 1000].min() > 1.8


def test_no_frame_after_the_origin_has_a_say(walks):
    """Whatever happens from frame 800 of the first recording on."""
    predicted, times = drawn(walks, 0.4), walks.frame[:, None] + 1 + np.arange(HORIZON)
    unknown = (times >= 800) & (walks.sequence == 0)[:, None]
    needed = needed_stretch(predicted, walks.future)
    other = np.where(unknown[walks.origin][..., None], 100.0, needed)
    before, after = (running_factors(each, walks) for each in (needed, other))
    same = (before == after).all(axis=1)
    np.testing.assert_array_equal(same, ~((walks.frame >= 800) & (walks.sequence == 0)))


def test_a_model_is_adapted_by_the_past_of_a_recording():
    """One that is far too sure of itself; forecasts go on as before, with wider bands."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(1, 400, 2, 2))
    walk = cm.Trajectories.from_arrays(np.cumsum(steps, axis=1))
    first, later = walk.split(0.5, 0.5, by="time")
    model = cm.fit(first, system="motion", hold_out=0.0, iterations=1, encoder_frames=4)
    sure = dataclasses.replace(model, stretch=Stretch((1.0,), (0.05,)))
    here = sure.adapt(later, horizon=3)
    plain, wide = (each.predict(later, horizon=3.0, draws=20) for each in (sure, here))
    ratio = (wide.observation.std("draw") / plain.observation.std("draw")).values
    assert np.nanmin(ratio) > 3
    np.testing.assert_allclose(
        wide.observation.mean("draw"), plain.observation.mean("draw"), atol=1e-3
    )
