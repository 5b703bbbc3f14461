"""Bands that hold too little are made wider, those that hold too much narrower; means stay."""

import dataclasses

import numpy as np
import pytest

import comotion as cm
from comotion.predict.stretch import Stretch
from comotion.scoring.distributions import SampledPaths
from comotion.scoring.rolling import Protocol, roll
from comotion.train.stretch import FEWEST, stretch_of

TOO_NARROW = 2.0


@pytest.fixture(scope="module")
def walks():
    """Positions without any past that helps: standard normal at every frame."""
    values = np.random.default_rng(0).normal(size=(1, 4000, 2, 2))
    return roll(cm.Trajectories.from_arrays(values), Protocol(2, 8, stride=10))


def drawn(origins, sd):
    """100 draws for every value, as wide as `sd` says where the truth has one."""
    shape = (100, *origins.future.shape)
    return SampledPaths(sd * np.random.default_rng(1).normal(size=shape))


@pytest.mark.parametrize("sd", [1 / TOO_NARROW, 1.0, TOO_NARROW])
def test_the_factor_is_what_the_width_was_wrong_by(walks, sd):
    found = stretch_of(drawn(walks, sd), walks)
    # 1600 values a lead and its neighbours: a quantile of 90 % is known to 2 %, draws add 2 %.
    np.testing.assert_allclose(found.factors, 1 / sd, rtol=0.12)
    assert len(found.leads) == 8


def test_stretched_bands_hold_what_they_say(walks):
    found = stretch_of(drawn(walks, 0.5), walks)
    draws = np.moveaxis(drawn(walks, 0.5).draws, 1, 2)[:, None]  # rows as objects of one scene
    wide = np.moveaxis(found.apply(draws, walks.lead[None])[:, 0], 2, 1)
    lower, upper = SampledPaths(wide).band(0.9)
    held = np.mean((walks.future > lower) & (walks.future < upper))
    assert held == pytest.approx(0.9, abs=0.02)


def test_too_few_values_ask_for_nothing(walks):
    few = dataclasses.replace(walks, counts=walks.counts & (np.arange(len(walks)) < 5)[:, None])
    assert len(few.origin) * 2 * 8 < FEWEST
    assert stretch_of(drawn(few, 0.5), few) == Stretch()


def test_the_mean_stays_and_leads_between_are_interpolated():
    stretch = Stretch((1.0, 3.0), (1.0, 2.0))
    draws = np.random.default_rng(0).normal(size=(20, 1, 4, 1, 1))
    leads = np.array([[0.5, 1.0, 2.0, 9.0]])
    wide = stretch.apply(draws, leads)
    np.testing.assert_allclose(wide.mean(axis=0), draws.mean(axis=0), atol=1e-12)
    ratio = wide.std(axis=0).ravel() / draws.std(axis=0).ravel()
    np.testing.assert_allclose(ratio, [1.0, 1.0, 1.5, 2.0])


def test_without_factors_draws_are_the_very_same():
    draws = np.ones((2, 1, 3, 1, 1))
    assert Stretch().apply(draws, np.ones((1, 3))) is draws
