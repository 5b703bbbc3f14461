import numpy as np
import pytest

from comotion.data import BadInput, Trajectories, constant_velocity, summarise


def straight(times: np.ndarray, hidden: bool = False) -> Trajectories:
    """Three sequences of two objects, all in straight flight."""
    rng = np.random.default_rng(0)
    start, velocity = rng.normal(size=(2, 3, 1, 2, 2))
    positions = start + velocity * times[:, None, None]
    values = np.concatenate([positions, np.broadcast_to(velocity, positions.shape)], axis=-1)
    data = Trajectories.from_arrays(values, times)
    return data.hide_velocities() if hidden else data


IRREGULAR = np.cumsum(np.random.default_rng(1).exponential(size=20))


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("frames", [2, 5, 100])
def test_straight_flight_is_forecast_exactly(hidden, frames):
    data = straight(IRREGULAR, hidden)
    np.testing.assert_allclose(constant_velocity(data, frames), data.values, atol=1e-10)


def test_hidden_velocities_are_the_least_squares_slope():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(1, 12, 1, 2))
    forecast = constant_velocity(Trajectories.from_arrays(values, IRREGULAR[:12]), 6)
    for i in range(2):
        line = np.polyfit(IRREGULAR[:6], values[0, :6, 0, i], 1)
        np.testing.assert_allclose(forecast[0, :, 0, i], np.polyval(line, IRREGULAR[:12]))


def test_observed_velocities_are_averaged_and_the_start_is_the_mean_of_x_minus_vt():
    values = np.random.default_rng(3).normal(size=(1, 6, 1, 2))
    data = Trajectories.from_arrays(values, features=("x", "vx"))
    x, v = values[0, :3, 0].T
    start = np.mean(x - v.mean() * np.arange(3))
    forecast = constant_velocity(data, 3)[0, :, 0]
    np.testing.assert_allclose(forecast[:, 0], start + v.mean() * np.arange(6))
    np.testing.assert_allclose(forecast[:, 1], v.mean())


def test_an_object_is_forecast_from_its_entry_on_past_its_exit():
    full = straight(np.arange(20.0))
    values = full.values.copy()
    values[0, :4, 1] = values[0, 15:, 1] = np.nan
    forecast = constant_velocity(Trajectories.from_arrays(values), 5)
    assert np.isnan(forecast[0, :4, 1]).all()
    np.testing.assert_allclose(forecast[0, 4:, 1], full.values[0, 4:, 1])


def test_missing_velocities_are_replaced_by_the_slope_and_missing_positions_do_not_count():
    full = straight(IRREGULAR)
    values = full.values.copy()
    values[:, :, 0, 2:] = np.nan
    values[:, 1:3, 0, 0] = np.nan
    forecast = constant_velocity(Trajectories.from_arrays(values, IRREGULAR), 5)
    np.testing.assert_allclose(forecast, full.values, atol=1e-10)


def test_what_cannot_be_computed_is_nan():
    data = straight(np.arange(6.0), hidden=True)
    assert np.isnan(constant_velocity(data, 1)).all()
    values = straight(np.arange(6.0)).values.copy()
    values[0, :, 0] = np.nan
    assert np.isnan(constant_velocity(Trajectories.from_arrays(values), 3)[0, :, 0]).all()


def test_padding_after_a_sequence_is_not_forecast():
    data = straight(np.arange(6.0))
    values, times = data.values.copy(), data.times.copy()
    values[1, 4:], times[1, 4:] = np.nan, np.nan
    forecast = constant_velocity(Trajectories.from_arrays(values, times), 3)
    assert np.isnan(forecast[1, 4:]).all()
    np.testing.assert_allclose(forecast[1, :4], data.values[1, :4])


def test_other_features_keep_their_mean_over_the_window():
    values = np.random.default_rng(4).normal(size=(1, 8, 2, 2))
    data = Trajectories.from_arrays(values, features=("x", "heading"))
    mean = values[:, :3, :, 1].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(constant_velocity(data, 3)[..., 1], np.broadcast_to(mean, (1, 8, 2)))


def test_a_window_without_frames_is_refused():
    with pytest.raises(BadInput, match="encoder_frames is 0: give at least 1"):
        constant_velocity(straight(IRREGULAR), 0)


def test_climatology_is_the_mean_and_spread_of_the_present_values(random_trajectories):
    for seed in range(8):
        data = random_trajectories(seed)
        summary = summarise(data)
        flat = data.values.reshape(-1, len(data.features))
        np.testing.assert_allclose(summary.mean, np.nanmean(flat, axis=0))
        np.testing.assert_allclose(summary.sd, np.nanstd(flat, axis=0))


def test_free_fall_drifts_by_the_closed_form():
    t = np.arange(30) * 0.5
    data = Trajectories.from_arrays(np.tile(t**2, (4, 1))[:, :, None, None], t)
    summary = summarise(data, encoder_frames=5)
    line = np.polyfit(t[:5], t[:5] ** 2, 1)
    np.testing.assert_allclose(summary.lead, t)
    np.testing.assert_allclose(summary.drift_sd[:, 0], np.abs(t**2 - np.polyval(line, t)))


def test_lead_counts_from_each_objects_own_entry():
    t = np.arange(10.0)
    values = np.full((1, 10, 2, 1), np.nan)
    values[0, :, 0, 0] = t**2
    values[0, 4:, 1, 0] = t[:6] ** 2
    one = Trajectories.from_arrays(values[:, :, :1])
    both = summarise(Trajectories.from_arrays(values), 3)
    np.testing.assert_allclose(both.drift_sd, summarise(one, 3).drift_sd)


def test_drift_is_the_root_of_the_mean_square_over_all_objects():
    rng = np.random.default_rng(5)
    data = Trajectories.from_arrays(rng.normal(size=(6, 10, 3, 4)))
    errors = data.values - constant_velocity(data, 5)
    expected = np.sqrt(np.mean(errors**2, axis=(0, 2)))
    np.testing.assert_allclose(summarise(data, 5).drift_sd, expected)


@pytest.mark.parametrize("times", [np.arange(400) * 0.1, np.cumsum(np.linspace(0.1, 2, 400))])
def test_many_lead_times_are_gathered_into_at_most_a_hundred(times):
    summary = summarise(straight(times))
    assert 50 < len(summary.lead) <= 100
    assert (np.diff(summary.lead) > 0).all()
    assert summary.lead[-1] <= times[-1] - times[0]
    assert np.isfinite(summary.drift_sd).all()


def test_without_a_straight_line_drift_falls_back_on_climatology():
    values = np.random.default_rng(6).normal(size=(2, 8, 2, 2))
    values[:, 1:5, :, 1] = np.nan
    summary = summarise(Trajectories.from_arrays(values), encoder_frames=5)
    np.testing.assert_array_equal(summary.drift_sd[:, 1], np.full(8, summary.sd[1]))
