from dataclasses import replace

import numpy as np
import pytest

from comotion.data import Trajectories
from comotion.data.scaling import fit_scaling, unit_scaling
from comotion.data.windows import to_dataset

RNG = np.random.default_rng(0)


def swinging(*, velocities=True, heading=False, missing=0.0):
    """Circles of radius 30 around (100, -50), once around in about 6 seconds."""
    times = np.linspace(0.0, 6.0, 200)
    phases = RNG.uniform(0, 6, size=(5, 1, 3))
    angle = times[None, :, None] + phases
    position = np.stack([100 + 30 * np.cos(angle), -50 + 30 * np.sin(angle)], axis=-1)
    velocity = np.stack([-30 * np.sin(angle), 30 * np.cos(angle)], axis=-1)
    parts, features = [position], ["x", "y"]
    if velocities:
        parts, features = [*parts, velocity], [*features, "vx", "vy"]
    if heading:
        parts, features = [*parts, 7 + 3 * np.sin(angle)[..., None]], [*features, "heading"]
    values = np.concatenate(parts, axis=-1)
    values[RNG.random(values.shape) < missing] = np.nan
    mass = 4.0 * RNG.choice([-1.0, 1.0], size=(5, 3, 1))
    return Trajectories.from_arrays(
        values, times, features=features, static=mass, static_names=["mass"]
    )


def test_in_scaled_units_velocity_is_still_the_derivative_of_position():
    windows = to_dataset(swinging(), unit_scaling(swinging())).windows
    values, times = np.asarray(windows.values, float), np.asarray(windows.times, float)
    slopes = np.gradient(values[0, :, 0, 0], times[0])
    np.testing.assert_allclose(slopes[1:-1], values[0, 1:-1, 0, 2], atol=2e-3)


def moved(data, by):
    values = data.values.copy()
    values[..., :2] += by
    return replace(data, values=values)


@pytest.mark.parametrize("velocities", [True, False])
def test_in_scaled_units_positions_and_velocities_are_of_order_one(velocities):
    data = swinging(velocities=velocities)
    windows = to_dataset(data, unit_scaling(data)).windows
    positions = np.asarray(windows.values)[..., :2]
    assert abs(positions.mean()) < 0.01
    np.testing.assert_allclose(np.sqrt(np.mean(positions**2)), 1.0, rtol=1e-3)
    steps = np.diff(np.asarray(windows.times), axis=1)[:, :, None, None]
    speeds = np.diff(positions, axis=1) / steps
    np.testing.assert_allclose(np.sqrt(np.mean(speeds**2)), 1.0, rtol=1e-2)


def test_circles_stay_round():
    scaling = unit_scaling(swinging())
    assert scaling.scale[0] == scaling.scale[1]
    assert scaling.scale[2] == scaling.scale[3]
    np.testing.assert_allclose(scaling.scale[0] / scaling.scale[2], scaling.time, rtol=1e-12)


@pytest.mark.parametrize("kind", ["none", "units"])
def test_there_and_back_again(kind):
    data = swinging(heading=True, missing=0.1)
    scaling = fit_scaling(data, kind)
    back = scaling.to_data(scaling.to_scaled(data.values))
    np.testing.assert_allclose(back, data.values, rtol=1e-12)


def test_no_scaling_leaves_everything_as_it_is():
    data = swinging(heading=True)
    scaling = fit_scaling(data, "none")
    np.testing.assert_array_equal(scaling.to_scaled(data.values), data.values)
    windows = to_dataset(data, scaling).windows
    np.testing.assert_allclose(windows.times, data.times - data.times[:, :1], rtol=1e-6)
    np.testing.assert_allclose(windows.properties, data.static, rtol=1e-6)


def test_other_features_and_properties_get_units_of_their_own():
    data = swinging(heading=True)
    windows = to_dataset(data, unit_scaling(data)).windows
    heading = np.asarray(windows.values)[..., 4]
    np.testing.assert_allclose([heading.mean(), heading.std()], [0.0, 1.0], atol=1e-3)
    np.testing.assert_allclose(np.abs(windows.properties), 1.0, rtol=1e-6)


def test_data_that_do_not_move_are_not_divided_by_zero():
    data = Trajectories.from_arrays(np.full((1, 4, 2, 2), 3.0))
    scaling = unit_scaling(data)
    np.testing.assert_array_equal(scaling.to_scaled(data.values)[..., :2], 0.0)
    assert float(scaling.time) == 1.0


def test_the_way_back_is_in_double_precision_and_forecasts_are_where_they_need_it():
    """On a map in metres, single precision knows places to half a metre only."""
    near = swinging()
    far = moved(near, 5.4e6)
    places = np.array([[0.0, 0, 0, 0], [1e-3, 0, 0, 0]], np.float32)
    back = unit_scaling(far).to_data(places)
    step = 1e-3 * float(unit_scaling(far).scale[0])
    np.testing.assert_allclose(back[1, 0] - back[0, 0], step, rtol=1e-6)
    assert unit_scaling(near).precision is np.float32
    assert unit_scaling(far).precision is np.float64


@pytest.mark.parametrize("kind", ["none", "units"])
def test_a_model_sees_the_same_motion_however_far_from_the_origin(kind):
    near = swinging()
    far = moved(near, 5.4e6)
    one, other = (
        np.diff(to_dataset(data, fit_scaling(data, kind)).windows.values, axis=1)
        for data in (near, far)
    )
    np.testing.assert_allclose(one, other, atol=2e-5 if kind == "none" else 1e-6)


def test_features_without_positions_share_one_unit_and_set_the_time_they_change_in():
    """Two sensors of a rotation, one ten times as sensitive, and one that never changes."""
    times = np.linspace(0.0, 6.0, 200)
    phases = RNG.uniform(0, 6, size=(20, 1, 3))
    angle = 2.0 * times[None, :, None] + phases
    values = np.stack([10 * np.cos(angle) + 3, np.sin(angle), np.full_like(angle, 7.0)], axis=-1)
    data = Trajectories.from_arrays(values, times, features=["strong", "weak", "dead"])
    scaling = unit_scaling(data)
    np.testing.assert_allclose(scaling.shift, values.mean(axis=(0, 1, 2)))
    np.testing.assert_allclose(scaling.scale, np.sqrt(values.var(axis=(0, 1, 2)).mean()))
    assert float(scaling.time) == pytest.approx(0.5, rel=0.05)
