"""The smoothing encoder against dense Bayesian linear regression."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.encode import smoothing_encoder

RNG = np.random.default_rng(0)
TIMES = np.array([0.0, 0.4, 0.5, 1.2, 1.5, 2.5, 2.6])
NOISE = {False: np.array([0.02, 0.05]), True: np.array([0.02, 0.05, 0.01, 0.03])}


def encoder(frames=5, acceleration=0.7, misfit=0.2):
    made = smoothing_encoder(Layout(2), frames=frames)
    logs = [jnp.asarray(np.log(value), jnp.float32) for value in (acceleration, misfit)]
    return eqx.tree_at(lambda e: (e.log_acceleration, e.log_misfit), made, tuple(logs))


run = eqx.filter_jit(lambda made, window, noise: made(window, noise))


def encode(window, noise, made=None):
    belief = run(made or encoder(), window, jnp.asarray(noise, jnp.float32))
    covariance = belief.factor @ jnp.swapaxes(belief.factor, 1, 2)
    return np.asarray(belief.mean), np.asarray(covariance)


def dense_regression(values, times, noise, frames=5, acceleration=0.7, misfit=0.2):
    """All rows of one object in one system of equations for (x, y, vx, vy, ax, ay)."""
    rows, targets, variances = [], [], []
    for n in range(min(frames, len(times))):
        tau = times[n] - times[0]
        for feature, value in enumerate(values[n]):
            if np.isnan(value):
                continue
            axis, is_velocity = feature % 2, feature >= 2
            row = np.zeros(6)
            row[axis::2] = [0.0, 1.0, tau] if is_velocity else [1.0, tau, tau**2 / 2]
            rows.append(row)
            targets.append(value)
            spread = misfit * (float(tau > 0) if is_velocity else tau)
            variances.append(noise[feature] + spread**2)
    X, y, weight = np.array(rows).reshape(-1, 6), np.array(targets), 1 / np.array(variances)
    prior = np.diag([1.0, 1.0, 1.0, 1.0, acceleration**-2, acceleration**-2])
    covariance = np.linalg.inv(prior + X.T @ (weight[:, None] * X))
    mean = covariance @ X.T @ (weight * y)
    return mean[:4], covariance[:4, :4]


@pytest.mark.parametrize("velocities", [False, True], ids=["hidden velocity", "observed velocity"])
def test_the_belief_is_the_exact_posterior_with_irregular_times_and_gaps(make_window, velocities):
    values = RNG.normal(size=(7, 3, 4 if velocities else 2))
    values[1, 0] = np.nan
    values[2, 1, 0] = np.nan
    values[0, 2, 1] = np.nan
    noise = NOISE[velocities]
    mean, covariance = encode(make_window(values, TIMES), noise)
    for a in range(3):
        expected_mean, expected_covariance = dense_regression(values[:, a], TIMES, noise)
        np.testing.assert_allclose(mean[a], expected_mean, atol=1e-5)
        np.testing.assert_allclose(covariance[a], expected_covariance, atol=1e-5)


def test_it_counts_time_from_the_moment_an_object_enters(make_window):
    values = RNG.normal(size=(7, 2, 2))
    values[:2, 1] = np.nan
    mean, covariance = encode(make_window(values, TIMES), NOISE[False])
    expected_mean, expected_covariance = dense_regression(values[2:, 1], TIMES[2:], NOISE[False])
    np.testing.assert_allclose(mean[1], expected_mean, atol=1e-5)
    np.testing.assert_allclose(covariance[1], expected_covariance, atol=1e-5)


def test_it_finds_velocities_that_were_never_observed(make_window):
    velocity = np.array([[0.8, -0.3], [0.1, 0.5]])
    truth = np.array([[0.2, 0.4], [-1.0, 0.3]]) + TIMES[:, None, None] * velocity
    noisy = truth + 0.01 * RNG.normal(size=truth.shape)
    made = encoder(acceleration=0.05, misfit=0.01)
    mean, covariance = encode(make_window(noisy, TIMES), np.array([1e-4, 1e-4]), made)
    error = np.abs(mean[:, 2:] - velocity)
    sd = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))[:, 2:]
    assert np.all(error < 3 * sd)
    assert np.all(sd < 0.05)


def test_with_nothing_to_see_the_belief_is_the_prior(make_window):
    values = RNG.normal(size=(7, 2, 4))
    values[:, 1] = np.nan
    mean, covariance = encode(make_window(values, TIMES), NOISE[True])
    np.testing.assert_allclose(mean[1], np.zeros(4), atol=1e-6)
    np.testing.assert_allclose(covariance[1], np.eye(4), atol=1e-6)


def test_frames_past_the_first_ones_change_nothing(make_window):
    values = RNG.normal(size=(7, 1, 2))
    later = values.copy()
    later[5:] += 100.0
    one, other = (encode(make_window(v, TIMES), NOISE[False])[0] for v in (values, later))
    np.testing.assert_array_equal(one, other)


def test_noise_free_data_do_not_break_it(make_window):
    truth = 1.0 + TIMES[:, None, None] * np.array([[0.5, -0.2]])
    values = np.concatenate([truth, np.broadcast_to([[0.5, -0.2]], truth.shape)], axis=2)
    tiny = np.full(4, 1e-10)
    window = make_window(values, TIMES)
    mean, _ = encode(window, tiny, encoder(misfit=1e-6))
    np.testing.assert_allclose(mean[0], [1.0, 1.0, 0.5, -0.2], atol=1e-5)
    noise = jnp.asarray(tiny, jnp.float32)
    slope = eqx.filter_jit(eqx.filter_grad(lambda e: e(window, noise).kl(jnp.ones(1, bool))))
    gradient = slope(encoder(misfit=1e-6))
    assert all(jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(gradient))
