"""The times a forecast can be asked for."""

from dataclasses import replace

import numpy as np
import pytest

from comotion.data import BadInput
from comotion.data.scaling import identity_scaling
from comotion.predict.times import plan_forecast
from comotion.systems import data_shape

BETWEEN = np.array([3.0, 3.2, 3.5, 4.0, 4.4, 5.0, 6.5])


def plan(data, times, *, whole=False):
    scaling = identity_scaling(len(data.features), len(data.static_names))
    return plan_forecast(data, times, scaling, data_shape(data), whole)


def at(forecast, times):
    """The one sequence's draws at some of its times."""
    asked = forecast.t.to_numpy()[0]
    return forecast.trajectory.to_numpy()[:, 0, [np.argmin(np.abs(asked - t)) for t in times]]


def test_asking_for_the_frames_gives_the_same_forecast_as_not_asking(fitted, make_walks):
    data = make_walks()
    asked = fitted.predict(data, draws=2, times=data.times[0])
    assert asked.identical(fitted.predict(data, draws=2))


@pytest.fixture(scope="module")
def by_solver(fitted, make_walks):
    data = make_walks(sequences=1)
    return {name: fitted.predict(data, draws=1, solver=name) for name in ("fixed", "tsit5")}


def test_asked_times_that_are_frames_agree_to_solver_tolerance(fitted, make_walks, by_solver):
    asked = fitted.predict(make_walks(sequences=1), draws=1, times=BETWEEN, solver="dopri5")
    np.testing.assert_array_equal(asked.t, BETWEEN[None])
    common = [3.0, 3.5, 4.0, 5.0, 6.5]
    np.testing.assert_allclose(at(asked, common), at(by_solver["tsit5"], common), atol=2e-3)


def test_the_solvers_agree_on_a_law_that_is_smooth(by_solver):
    np.testing.assert_allclose(
        by_solver["fixed"].trajectory, by_solver["tsit5"].trajectory, atol=2e-2
    )


def test_forecasts_go_on_beyond_the_data(fitted, make_walks):
    """From the five frames the encoder sees, as far as one likes."""
    data = make_walks()
    beyond = fitted.predict(data.first_frames(5), draws=2, times=data.times[0])
    np.testing.assert_allclose(
        beyond.trajectory, fitted.predict(data, draws=2).trajectory, atol=1e-5
    )
    assert beyond.alive.all()


def test_long_gaps_are_cut_whether_their_ends_are_asked_for_or_not(make_walks):
    data = make_walks()
    times = data.times.copy()
    times[:, 5:] += 3.0
    gappy = replace(data, times=times)
    unasked, asked = plan(gappy, None), plan(gappy, gappy.times)
    np.testing.assert_array_equal(unasked.grids.times, asked.grids.times)
    assert unasked.grids.times.shape[1] > data.times.shape[1]


def test_long_gaps_are_cut_into_steps_like_those_of_training(make_walks):
    data = make_walks()
    grid = np.asarray(plan(data, np.array([12.0])).grids.times)[0]
    assert np.diff(grid).max() < 1.5 * 0.5
    np.testing.assert_allclose(grid[:8], 0.5 * np.arange(8))
    assert grid[-1] == 9.0


def test_each_sequence_can_have_times_of_its_own(fitted, make_walks):
    data = make_walks()
    rows = np.array([[3.0, 4.0, 6.5], [3.5, 5.5, 6.5]])
    forecast = fitted.predict(data, draws=1, times=rows)
    np.testing.assert_array_equal(forecast.t, rows)
    frames = fitted.predict(data, draws=1).trajectory.to_numpy()
    for p, chosen in enumerate(([0, 2, 7], [1, 5, 7])):
        np.testing.assert_array_equal(forecast.trajectory[0, p], frames[0, p, chosen])


def test_times_come_back_in_order(fitted, make_walks):
    forecast = fitted.predict(make_walks(), draws=1, times=[6.5, 3.0, 4.0])
    np.testing.assert_array_equal(forecast.t[0], [3.0, 4.0, 6.5])


def test_one_time_is_enough(fitted, make_walks):
    forecast = fitted.predict(make_walks(), draws=1, times=6.5)
    assert forecast.trajectory.shape == (1, 2, 1, 3, 4)


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ([2.0, 4.0], "asked for at time 2, but it starts at the first frame (3)"),
        ([np.inf], "ask for finite times from then on"),
        ([4.0, np.nan], "ask for finite times from then on"),
        ([], "times have shape (0,), but there are 2 sequences; give one row of times"),
        (np.ones((3, 4)), "times have shape (3, 4), but there are 2 sequences"),
        (np.ones((1, 2, 4)), "times have shape (1, 2, 4), but there are 2 sequences"),
    ],
)
def test_times_that_cannot_be_forecast_are_refused_in_one_sentence(
    fitted, make_walks, times, sentence
):
    with pytest.raises(BadInput) as error:
        fitted.predict(make_walks(), draws=1, times=times)
    assert sentence in str(error.value)


def test_shorter_sequences_end_in_nothing(fitted, make_walks):
    data = make_walks()
    values, times = data.values.copy(), data.times.copy()
    values[1, 6:], times[1, 6:] = np.nan, np.nan
    forecast = fitted.predict(replace(data, values=values, times=times), draws=1)
    assert np.isnan(forecast.trajectory[:, 1, 6:]).all()
    assert np.isfinite(forecast.trajectory[:, 1, :6]).all()
    np.testing.assert_array_equal(np.isnan(forecast.t[1]), np.arange(8) >= 6)


@pytest.mark.parametrize("whole", [False, True], ids=["continuous", "discrete"])
def test_rounding_does_not_delay_an_object_that_enters(make_walks, whole):
    """Multiples of 0.1 are not what they seem: 3 + 7 × 0.1 is not 3.7."""
    data = make_walks(step=0.1)
    values = data.values.copy()
    values[:, :7, 1] = np.nan
    late = replace(data, values=values)
    for asked in (data.times[0], np.round(data.times[0], 6)):
        planned = plan(late, asked, whole=whole)
        assert planned.alive[:, :, 1].sum() == 2
        assert planned.alive[0, 7, 1]
    longer = plan(late, np.round(3.0 + 0.1 * np.arange(12), 6), whole=whole)
    assert np.asarray(longer.grids.active)[0, 7:, 1].all()
    assert not np.asarray(longer.grids.active)[0, :7, 1].any()


def test_whoever_is_there_in_the_last_frame_stays_and_whoever_left_does_not_return(make_walks):
    data = make_walks()
    values = data.values.copy()
    values[:, 5:, 1] = np.nan
    planned = plan(replace(data, values=values), np.array([5.0, 5.2, 20.0]))
    assert planned.alive[0].tolist() == [
        [True, True, True],
        [True, False, True],
        [True, False, True],
    ]


def test_controls_run_straight_between_frames_and_stay_as_they_are_beyond(make_walks):
    push = np.random.default_rng(0).normal(size=(2, 8, 3, 1))
    data = make_walks(controls=push, control_names=["push"])
    planned = plan(data, np.array([3.25, 20.0]))
    controls = np.asarray(planned.grids.controls)[0, :, 0, 0]
    times = 3.0 + np.asarray(planned.grids.times)[0]
    np.testing.assert_allclose(
        controls, np.interp(times, data.times[0], push[0, :, 0, 0]), rtol=1e-5
    )
    assert controls[1] == pytest.approx(0.5 * (push[0, 0, 0, 0] + push[0, 1, 0, 0]), rel=1e-5)
    assert controls[-1] == pytest.approx(push[0, -1, 0, 0], rel=1e-5)


@pytest.fixture(scope="module")
def jumping(make_fitted, make_walks):
    return make_fitted(make_walks(), "I-NODE", time="discrete")


def test_whole_steps_can_be_skipped(jumping, make_walks):
    data = make_walks()
    frames = jumping.predict(data, draws=1)
    some = jumping.predict(data, draws=1, times=[4.0, 6.0, 6.5])
    np.testing.assert_array_equal(some.trajectory, frames.trajectory[:, :, [2, 6, 7]])


def test_jumps_go_on_beyond_the_data_one_step_at_a_time(make_walks):
    planned = plan(make_walks(), np.array([8.5]), whole=True)
    np.testing.assert_allclose(planned.grids.times[0], 0.5 * np.arange(12), rtol=1e-6)
    assert planned.wanted.tolist() == [[11], [11]]


def test_times_between_the_steps_are_refused(jumping, make_walks):
    with pytest.raises(BadInput) as error:
        jumping.predict(make_walks(), draws=1, times=[4.0, 4.2])
    assert "only at whole steps of 0.5 after the first frame, not at time 4.2" in str(error.value)
    assert "use a continuous-time system" in str(error.value)
