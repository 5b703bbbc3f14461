"""Smoothed paths against the true ones, which only the simulator knows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from comotion.coordinates.layout import Layout
from comotion.data.scaling import identity_scaling
from comotion.data.trajectories import Trajectories
from comotion.data.windows import Window, to_dataset
from comotion.initialise.denoise import denoised
from comotion.simulate import bouncing_balls


def balls(noise):
    return bouncing_balls(sequences=20, frames=60, noise=noise, seed=0)


def windows(data) -> Window:
    return to_dataset(data, identity_scaling(data.values.shape[-1], 0)).windows


def positions_only(data):
    return Trajectories.from_arrays(data.values[..., :2], data.times)


def error(values, truth):
    return np.sqrt(np.mean((np.asarray(values) - truth) ** 2, axis=(0, 1, 2)))


@pytest.fixture(scope="module")
def truth():
    return balls("none").values


def test_positions_lose_most_of_their_noise_and_velocities_gain(truth):
    noisy = balls("low")
    raw, smooth = (
        error(noisy.values, truth),
        error(denoised(windows(noisy), Layout(2)).values, truth),
    )
    assert (smooth[:2] < 0.35 * raw[:2]).all()
    assert (smooth[2:] < 0.95 * raw[2:]).all()


def test_velocities_that_were_not_measured_are_found(truth):
    noisy = positions_only(balls("low"))
    smooth = denoised(windows(noisy), Layout(2))
    slopes = np.gradient(noisy.values, 0.5, axis=1)
    found = error(smooth.values, truth)[2:]
    assert (found < 0.5 * error(slopes, truth[..., 2:])).all()
    assert np.asarray(smooth.present).all()


def test_noise_free_data_stay_what_they_are(truth):
    smooth = denoised(windows(balls("none")), Layout(2))
    np.testing.assert_allclose(smooth.values, truth, atol=1e-4)


def test_a_gap_is_filled_from_both_sides_and_stays_marked(truth):
    data = balls("none")
    values = data.values.copy()
    values[:, 20:23, 0] = np.nan
    smooth = denoised(windows(Trajectories.from_arrays(values, data.times)), Layout(2))
    gap = np.asarray(smooth.values)[:, 20:23, 0, :2]
    assert np.median(np.abs(gap - truth[:, 20:23, 0, :2])) < 0.02
    assert not np.asarray(smooth.present)[:, 20:23, 0].any()


def test_padding_and_absent_objects_change_nothing():
    """Ten frames of three balls, then the same with room for five more frames and a fourth ball."""
    data = balls("low")
    small = windows(Trajectories.from_arrays(data.values[:, :10], data.times[:, :10]))

    def pad(leaf: Array) -> Array:
        return jnp.pad(leaf, ((0, 0), (0, 5), (0, 1), (0, 0))[: leaf.ndim])

    large = eqx.tree_at(
        lambda w: (w.times, w.values, w.present, w.alive),
        small,
        (
            jnp.pad(small.times, ((0, 0), (0, 5)), mode="edge"),
            pad(small.values),
            pad(small.present),
            pad(small.alive),
        ),
    )
    np.testing.assert_allclose(
        denoised(large, Layout(2)).values[:, :10, :3],
        denoised(small, Layout(2)).values,
        atol=1e-5,
    )


def test_states_without_velocity_come_back_as_they_are():
    seen = windows(positions_only(balls("low")))
    smooth = denoised(seen, Layout(2, has_velocity=False))
    assert eqx.tree_equal(seen, smooth)


def test_what_is_neither_position_nor_velocity_is_left_alone():
    data = balls("low")
    heading = np.broadcast_to(np.arange(60.0)[None, :, None, None], (20, 60, 3, 1))
    values = np.concatenate([data.values, heading], axis=-1)
    more = Trajectories.from_arrays(values, data.times, features=["x", "y", "vx", "vy", "heading"])
    smooth = denoised(windows(more), Layout(2, extra=1))
    np.testing.assert_array_equal(smooth.values[..., 4:], heading.astype(np.float32))
    plain = jax.device_get(denoised(windows(data), Layout(2)).values)
    np.testing.assert_allclose(smooth.values[..., :4], plain, atol=1e-6)
