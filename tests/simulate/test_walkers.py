import numpy as np
import pytest

from comotion.data import BadInput
from comotion.simulate import drifters, walkers


@pytest.fixture(scope="module")
def crowd():
    return walkers(sequences=100, seed=3)


def test_walkers_stay_in_the_box_and_reach_its_walls(crowd):
    assert 4.9 < np.abs(crowd.values[..., :2]).max() <= 5.0


def test_velocities_forget_as_fast_as_asked():
    """Far from walls the correlation of velocities a time t apart is exp(-t / persistence)."""
    data = walkers(sequences=400, objects=2, frames=30, half_width=1e6, seed=0)
    v = data.values[..., 2:]
    cells = v[:, 0].size
    assert abs((v**2).mean() - 0.5) < 4 * 0.5 * np.sqrt(2 / cells)
    correlation = (v[:, 0] * v[:, 20]).mean() / (v**2).mean()
    assert abs(correlation - np.exp(-1)) < 4 / np.sqrt(cells)


def test_walkers_know_nothing_of_each_other(crowd):
    v = crowd.values[:, 50, :, 2:].swapaxes(0, 1).reshape(3, -1)
    correlations = np.corrcoef(v)[np.triu_indices(3, k=1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(v.shape[1])


def test_positions_follow_velocities():
    data = walkers(sequences=5, step=0.001, frames=5, half_width=1e6)
    slopes = np.diff(data.values[..., :2], axis=1) / 0.001
    np.testing.assert_allclose(slopes, data.values[:, :-1, :, 2:], atol=0.2)


def test_drifters_fly_straight():
    data = drifters(seed=1)
    np.testing.assert_allclose(np.diff(data.values[..., :2], n=2, axis=1), 0, atol=1e-12)
    slopes = np.diff(data.values[..., :2], axis=1) / 0.1
    np.testing.assert_allclose(slopes, data.values[:, 1:, :, 2:], atol=1e-9)


def test_walkers_need_a_time_to_forget():
    with pytest.raises(BadInput, match=r"persistence=0\.0 makes no scene"):
        walkers(persistence=0.0)
