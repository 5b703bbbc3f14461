from statistics import NormalDist

import numpy as np
import pytest
import scoringrules

from comotion.data import Trajectories
from comotion.scoring.distributions import GaussianPaths, QuantilePaths, SampledPaths
from comotion.scoring.lead_scores import MEASURES, score_at
from comotion.scoring.resampling import paired_difference, paired_skill
from comotion.scoring.rolling import Origins, Protocol, roll


@pytest.fixture
def origins() -> Origins:
    """Standard normal numbers: 1000 origins of two objects, of which one is sometimes missing."""
    rng = np.random.default_rng(7)
    values = rng.standard_normal((250, 20, 2, 2))
    values[::5, 18:, 1] = np.nan
    data = Trajectories.from_arrays(values, features=("x", "y"))
    return roll(data, Protocol(seen=2, horizon=3, stride=5, seen_share=0.5))


def standard(origins: Origins) -> GaussianPaths:
    shape = origins.future.shape
    return GaussianPaths.independent(np.zeros(shape), np.ones(shape))


def test_the_true_distribution_scores_as_its_closed_forms_say(origins):
    scores = score_at(standard(origins), origins)
    cells = 2 * origins.future.shape[0]
    assert abs(scores.mean("crps") - 1 / np.sqrt(np.pi)) < 4 * 0.5 / np.sqrt(3 * cells)
    assert abs(scores.mean("nll") - np.log(2 * np.pi * np.e)) < 4 / np.sqrt(1.5 * cells)
    assert abs(scores.mean("ade") - np.sqrt(np.pi / 2)) < 4 * 0.66 / np.sqrt(1.5 * cells)
    for level in (50, 90):
        bar = 4 * np.sqrt(level * (100 - level) / (3 * cells)) / 100
        assert abs(scores.mean(f"coverage_{level}") - level / 100) < bar, "seed 7"


def test_many_draws_score_like_the_gaussian_they_come_from(origins):
    closed = score_at(standard(origins), origins)
    draws = np.random.default_rng(1).standard_normal((400, *origins.future.shape))
    drawn = score_at(SampledPaths(draws), origins)
    for measure in MEASURES:
        close = 0.05 if measure == "nll" else 0.01
        assert drawn.mean(measure) == pytest.approx(closed.mean(measure), abs=close), measure


def test_few_draws_are_not_punished_for_being_few(origins):
    rng = np.random.default_rng(1)
    few = SampledPaths(rng.standard_normal((5, *origins.future.shape)))
    scores = score_at(few, origins)
    assert scores.mean("crps") == pytest.approx(1 / np.sqrt(np.pi), abs=0.02)


def test_energy_score_is_that_of_another_library(origins):
    draws = np.random.default_rng(2).standard_normal((30, *origins.future.shape))
    scores = score_at(SampledPaths(draws), origins)
    complete = np.flatnonzero(~np.isnan(origins.future).any(axis=(1, 2)))
    k = origins.origin[complete[4]]
    rows = np.flatnonzero(origins.origin == k)
    expected = scoringrules.es_ensemble(
        origins.future[rows, 1].reshape(-1), draws[:, rows, 1].reshape(30, -1), m_axis=-2
    )
    biased = np.linalg.norm(
        draws[:, None, rows, 1].reshape(30, 1, -1) - draws[None, :, rows, 1].reshape(1, 30, -1),
        axis=-1,
    ).sum()
    fair = float(np.asarray(expected)) + biased / (2 * 30**2) - biased / (2 * 30 * 29)
    assert scores.cells["energy"][k, 1] == pytest.approx(fair)


def test_what_is_not_known_is_not_scored(origins):
    scores = score_at(standard(origins), origins)
    missing = np.isnan(origins.future).any(axis=-1)
    assert missing.any()
    for measure in set(MEASURES) - {"energy"}:
        np.testing.assert_array_equal(np.isnan(scores.cells[measure]), missing)
    assert not np.isnan(scores.cells["energy"]).any()


def test_skill_and_difference_are_paired_and_their_intervals_cover():
    """Both forecasts share a hard part that differs from block to block: pairing removes it."""
    true, held = 0.2, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        blocks = np.repeat(np.arange(40), 5)
        shared = np.repeat(rng.exponential(size=(40, 3)), 5, axis=0)
        theirs = 1 + shared
        ours = theirs - true + np.repeat(rng.normal(scale=0.3, size=(40, 3)), 5, axis=0)
        interval = paired_difference(ours, theirs, blocks)
        assert interval.high - interval.low < 0.2
        held += interval.low <= -true <= interval.high
    assert held >= 86, "95 expected, 86 is four standard deviations below"


def test_no_interval_from_too_few_blocks():
    cells = np.ones((10, 2))
    skill = paired_skill(0.5 * cells, cells, np.repeat([0, 1], 5))
    assert skill.estimate == 0.5
    assert np.isnan(skill.low)
    assert f"{skill:.2f}" == "0.50"


def test_quantiles_of_a_gaussian_score_as_the_gaussian_does():
    rng = np.random.default_rng(0)
    mean, truth = rng.normal(size=(2, 3, 4, 2))
    sd = rng.uniform(0.5, 2.0, size=mean.shape)
    exact = GaussianPaths.independent(mean, sd)
    levels = np.array([0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975])
    normal = np.array([NormalDist().inv_cdf(level) for level in levels])
    told = QuantilePaths(levels, mean + normal[:, None, None, None] * sd)
    np.testing.assert_allclose(told.mean, mean, atol=1e-9)
    np.testing.assert_allclose(told.crps(truth), exact.crps(truth), rtol=2e-3)
    np.testing.assert_allclose(told.band(0.8), exact.band(0.8), rtol=1e-9)
    np.testing.assert_allclose(told.log_density(truth), exact.log_density(truth), atol=0.1)
    drawn = told.sample(400)
    np.testing.assert_allclose(drawn.std(axis=0), sd, rtol=0.02)
    across = np.corrcoef(drawn[:, 0, 0, 0], drawn[:, 1, 0, 0])[0, 1]
    assert abs(across) < 4 / np.sqrt(400)


def test_the_density_of_draws_is_near_their_own_and_integrates_to_one():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2000, 1, 1, 2))
    axis = np.linspace(-12, 12, 241)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(1, -1, 2)
    same = np.broadcast_to(draws, (2000, 1, grid.shape[1], 2))
    told = SampledPaths(same[:300]).log_density(grid)[0]
    mass = np.exp(told).sum() * (axis[1] - axis[0]) ** 2
    assert abs(mass - 1) < 0.01
    at_zero = SampledPaths(draws).log_density(np.zeros((1, 1, 2)))[0, 0]
    assert abs(at_zero + np.log(2 * np.pi)) < 0.25


def test_a_surprise_beyond_all_draws_costs_nats_but_not_hundreds():
    draws = np.random.default_rng(0).normal(size=(100, 1, 1, 2))
    far = SampledPaths(draws).log_density(np.full((1, 1, 2), 10.0))[0, 0]
    assert -25 < far < -8
