import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.data import Trajectories
from comotion.data.scaling import identity_scaling
from comotion.data.windows import to_dataset
from comotion.encode.differences import finite_differences

TIMES = np.array([0.0, 0.5, 0.7, 1.5, 2.0, 2.5])
ACCELERATION = np.array([0.4, -0.2])


def falling(columns=4, missing=()):
    """x = t²a/2 and v = ta for one object, twice that for the other."""
    size = np.array([1.0, 2.0])[None, :, None]
    t = TIMES[:, None, None]
    values = np.concatenate([size * 0.5 * t**2 * ACCELERATION, size * t * ACCELERATION], axis=2)
    values = np.concatenate([values, values[..., :1] + 5.0], axis=2)
    for where in missing:
        values[where] = np.nan
    features = ["x", "y", "vx", "vy", "heading"][:columns]
    data = Trajectories.from_arrays(values[None, ..., :columns], TIMES, features=features)
    return to_dataset(data, identity_scaling(columns, 0)).windows


def test_with_velocities_observed_rates_are_mean_velocity_and_acceleration():
    seen = finite_differences(falling(), Layout(2))
    assert np.asarray(seen.known).all()
    middle = 0.5 * (TIMES[1:] + TIMES[:-1])
    for a, size in enumerate((1.0, 2.0)):
        np.testing.assert_allclose(
            seen.rates[0, :, a, :2], size * middle[:, None] * ACCELERATION, rtol=1e-4
        )
        expected = np.tile(size * ACCELERATION, (5, 1))
        np.testing.assert_allclose(seen.rates[0, :, a, 2:], expected, rtol=1e-4)
    np.testing.assert_array_equal(seen.states[0, 1:], seen.after[0, :-1])


def test_hidden_velocities_are_central_differences():
    seen = finite_differences(falling(columns=2), Layout(2))
    positions = np.asarray(falling(columns=2).values)[0, :, 0]
    expected = (positions[2:] - positions[:-2]) / (TIMES[2:] - TIMES[:-2])[:, None]
    np.testing.assert_allclose(seen.states[0, 1:, 0, 2:], expected, rtol=1e-4)
    one_sided = (positions[1] - positions[0]) / TIMES[1]
    np.testing.assert_allclose(seen.states[0, 0, 0, 2:], one_sided, rtol=1e-4)


def test_what_touches_a_missing_value_is_unknown():
    missing = [(2, 0, 1)]
    seen = finite_differences(falling(missing=missing), Layout(2))
    assert seen.known[0, :, 0].tolist() == [True, False, False, True, True]
    assert np.asarray(seen.known[0, :, 1]).all()
    hidden = finite_differences(falling(columns=2, missing=missing), Layout(2))
    assert hidden.known[0, :, 0].tolist() == [False, False, False, False, True]


def test_padding_is_unknown():
    values = np.zeros((2, 4, 1, 2))
    times = np.tile(np.arange(4.0), (2, 1))
    values[1, 2:], times[1, 2:] = np.nan, np.nan
    windows = to_dataset(Trajectories.from_arrays(values, times), identity_scaling(2, 0)).windows
    seen = finite_differences(windows, Layout(2, has_velocity=False))
    assert seen.known[:, :, 0].tolist() == [[True, True, True], [True, False, False]]
    assert np.isfinite(np.asarray(seen.rates)).all()


@pytest.mark.parametrize("extra", [1, 3])
def test_observed_features_beyond_velocity_have_rates_and_latent_entries_are_zero(extra):
    seen = finite_differences(falling(columns=5), Layout(2, extra=extra))
    assert seen.states.shape == seen.rates.shape == (1, 5, 2, 4 + extra)
    np.testing.assert_allclose(seen.states[..., 4], seen.states[..., 0] + 5.0, rtol=1e-5)
    np.testing.assert_allclose(seen.rates[..., 4], seen.rates[..., 0], atol=1e-5)
    np.testing.assert_array_equal(seen.states[..., 5:], 0.0)
    np.testing.assert_array_equal(seen.rates[..., 5:], 0.0)
