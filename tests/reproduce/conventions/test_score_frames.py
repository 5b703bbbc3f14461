import numpy as np
import pytest
import scoringrules
from scipy import stats

from comotion.reproduce.conventions.metrics import (
    METRICS,
    energy_score,
    gaussian_log_density,
    mean_of_present,
    score_frames,
)
from comotion.reproduce.conventions.predictive import Ensemble, GaussianCells, central_band


def test_log_density_is_that_of_scipy():
    rng = np.random.default_rng(0)
    value, mean = rng.standard_normal((2, 5, 3))
    variance = rng.uniform(0.1, 2.0, (5, 3))
    expected = stats.norm.logpdf(value, mean, np.sqrt(variance))
    np.testing.assert_allclose(gaussian_log_density(value, mean, variance), expected)


def test_energy_score_is_the_fair_version_of_scoringrules():
    rng = np.random.default_rng(1)
    draws, truth = rng.standard_normal((30, 6, 4)), rng.standard_normal((6, 4))
    plain = scoringrules.es_ensemble(truth, draws, m_axis=0, v_axis=-1)
    gaps = np.linalg.norm(draws[:, None] - draws[None], axis=-1).sum(axis=(0, 1))
    fair = plain + gaps / (2 * 30**2) - gaps / (2 * 30 * 29)
    np.testing.assert_allclose(energy_score(draws, truth), fair, rtol=1e-6)


def test_energy_score_is_exact_far_from_the_origin_in_single_precision():
    rng = np.random.default_rng(2)
    draws, truth = rng.standard_normal((40, 3, 4)), rng.standard_normal((3, 4))
    near = energy_score(draws, truth)
    far = energy_score((draws + 100).astype(np.float32), (truth + 100).astype(np.float32))
    np.testing.assert_allclose(far, near, rtol=1e-4)


def test_mean_of_present_ignores_missing_cells_and_marks_empty_frames():
    cells = np.array([[[1.0, 3.0]], [[5.0, 9.0]], [[2.0, 2.0]]])
    present = np.array([[[True, True]], [[False, True]], [[False, False]]])
    np.testing.assert_array_equal(mean_of_present(cells, present), [2.0, 9.0, np.nan])


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_band_of_draws_covers_its_level_even_with_few_draws(level):
    rng = np.random.default_rng(3)
    cells = 40_000
    low, high = central_band(np.sort(rng.standard_normal((20, cells)), axis=0), level)
    truth = rng.standard_normal(cells)
    coverage = ((low <= truth) & (truth <= high)).mean()
    assert abs(coverage - level) < 4 * np.sqrt(level * (1 - level) / cells) + 0.003, "seed 3"


def test_band_is_that_of_numpy_with_unbiased_ranks():
    draws = np.random.default_rng(4).standard_normal((57, 5))
    edges = central_band(np.sort(draws, axis=0), 0.8)
    expected = np.quantile(draws, [0.1, 0.9], axis=0, method="weibull")
    np.testing.assert_allclose(edges, expected)


def test_scores_of_one_cell_by_hand():
    """Two draws 1 and 3 of a truth 2.5: mean 2, variance 1."""
    draws = np.array([1.0, 3.0]).reshape(2, 1, 1, 1)
    scores = score_frames(
        Ensemble(draws, draws),
        np.full((1, 1, 1), 2.5),
        np.ones((1, 1), dtype=bool),
        scale=np.array([2.0]),
        paper_draws=1,
    )
    found = {name: float(value[0]) for name, value in scores.items()}
    assert found["mse_mean_table"] == pytest.approx(0.25)
    assert found["mse_draws_table"] == pytest.approx((1.5**2 + 0.5**2) / 2)
    assert found["ell_table"] == pytest.approx(stats.norm.logpdf(2.5, 1.0, 0.1))
    assert found["ell_table_all_draws"] == pytest.approx(stats.norm.logpdf(2.5, 2.0, 1.01**0.5))
    assert found["crps_table"] == pytest.approx((1.5 + 0.5) / 2 - 2 / 2)
    assert found["energy_score_frame"] == pytest.approx(((1.5 + 0.5) / 2 - 2 / 2) / 2)
    assert found["coverage_50"] == found["coverage_95"] == 1.0
    assert found["width_90_relative"] == pytest.approx(2 / (2 * 1.6448536 * 2))


def test_gaussian_scores_are_the_limit_of_many_draws():
    rng = np.random.default_rng(5)
    mean, truth = rng.standard_normal((2, 2, 2, 2))
    sd = rng.uniform(0.5, 2.0, (2, 2, 2))
    L = 2_000
    draws = mean + sd * rng.standard_normal((L, 2, 2, 2))
    settings = {"scale": np.ones(2), "paper_draws": 20}
    alive = np.ones((2, 2), dtype=bool)
    gaussian = score_frames(
        GaussianCells(mean, sd, rng.standard_normal((500, 2, 2))), truth, alive, **settings
    )
    ensemble = score_frames(Ensemble(draws[:, :1], draws[:, :1]), truth[:1], alive[:1], **settings)
    for name in ("mse_draws_table", "mse_mean_table", "ell_table_all_draws", "crps_table"):
        assert abs(ensemble[name][0] - gaussian[name][0]) < 20 / np.sqrt(L), f"{name}, seed 5"
    assert abs(ensemble["width_90_relative"] - gaussian["width_90_relative"])[0] < 4 / np.sqrt(L)


def test_every_score_of_a_frame_is_described():
    draws = np.zeros((2, 1, 1, 1))
    scores = score_frames(
        Ensemble(draws, draws),
        np.zeros((1, 1, 1)),
        np.ones((1, 1), dtype=bool),
        scale=np.ones(1),
        paper_draws=2,
    )
    assert set(scores) < set(METRICS)
