"""Closed forms against dense ones, and which laws simulated worlds are found to obey."""

import jax.numpy as jnp
import numpy as np
import pytest

import comotion as cm
from comotion.identification.evidence import NO_LAW, _gain, evidence_of
from comotion.identification.pushes import COLUMNS, _basis, pushes_of, stretches_of
from comotion.identification.structures import Kind
from comotion.scoring import Protocol
from comotion.scoring.kalman_filter import Parameters, foretell
from comotion.scoring.tracks import TrackUnits, tracks_of_rows

PROTOCOL = Protocol(seen=5, horizon=5)


@pytest.mark.parametrize(("order", "path"), [(2, lambda t: 0.5 * t**2), (1, lambda t: t)])
def test_a_filter_that_is_told_of_all_pushes_is_never_surprised(order, path):
    """A push of 0.3 from rest at irregular times, by the textbook."""
    times = np.array([0.0, 0.5, 1.5, 1.75, 3.0])
    x = 2.0 + 0.3 * path(times)
    tracks = tracks_of_rows(x[None, :, None], times[None], 1, False, TrackUnits(1.0, 1.0))
    about = Parameters(jnp.asarray([1e-3]), *map(jnp.asarray, (0.1, 1e-7, 0.5)))
    pushes = jnp.full((5, 1), 0.3)
    told = foretell(about, tracks, 1.0, "velocity", pushes, order)
    np.testing.assert_allclose(told.mean[1:, 0], x[1:], atol=1e-5)
    assert np.abs(told.surprise).max() < 1e-4
    assert np.abs(foretell(about, tracks, 1.0, "velocity").surprise).max() > 0.1


def test_the_gain_is_that_of_dense_gaussians_at_the_best_of_the_scales():
    rng = np.random.default_rng(0)
    X, surprise = rng.normal(size=(30, 4)), rng.normal(size=30)
    surprise += X @ [1.0, -2.0, 0.5, 0.0]
    size = np.mean(np.sum(X**2, axis=0))
    log_density = [
        dense_log_density(surprise, np.eye(30) + scale * X @ X.T / size)
        for scale in 10.0 ** np.arange(-1.0, 7.5, 0.5)
    ]
    without = dense_log_density(surprise, np.eye(30))
    assert _gain([X], surprise) == pytest.approx(max(log_density) - without, abs=1e-9)


def dense_log_density(y: np.ndarray, covariance: np.ndarray) -> float:
    return -0.5 * (y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(covariance)[1])


def test_columns_have_the_covariance_of_the_process_they_stand_for():
    """At the places they are seen at: linear and smooth, of inputs of variance one half."""
    x = np.random.default_rng(0).normal(size=(COLUMNS - 2, 2))
    u = (x - x.mean(axis=0)) / np.std(x, axis=0) / np.sqrt(2)
    smooth = np.exp(-0.5 * ((u[:, None] - u[None]) ** 2).sum(axis=-1))
    basis = _basis(x)
    np.testing.assert_allclose(basis @ basis.T, u @ u.T + smooth, atol=1e-4)


def test_two_push_each_other_alike_and_only_those_who_are_heard():
    x = np.zeros((1, 6, 3, 2))
    x[0, :, :, 0] = [0.0, 1.0, 5.0]
    x[0, :, :, 1] = np.arange(6)[:, None] * 0.1
    data = cm.Trajectories.from_arrays(x, np.arange(6.0))
    stretches = stretches_of(data)
    states = np.concatenate([stretches.data.values, np.zeros_like(x)], axis=-1)
    everyone = pushes_of(stretches, states, ("pair", "distance"), 0)
    np.testing.assert_allclose(everyone.sum(axis=3), 0.0, atol=1e-6)
    nearest = pushes_of(stretches, states, ("pair", "distance"), 1)
    pair = nearest[:, 0, -1, :, 0]
    np.testing.assert_allclose(pair[:, 0], -pair[:, 1], atol=1e-6)
    assert np.abs(everyone[:, 0, -1, 0] - nearest[:, 0, -1, 0]).max() > 1e-3
    assert not everyone[:, 0, 0].any()  # nobody has a velocity yet


def noisy(clean: cm.Trajectories, seed: int = 0) -> cm.Trajectories:
    noise = 0.01 * np.random.default_rng(seed).normal(size=clean.values.shape)
    return cm.Trajectories.from_arrays(clean.values + noise, clean.times)


def test_where_there_is_no_law_none_is_likelier_than_chance():
    """Even the best of thirteen laws exceeds 10 nats once in a thousand seeds, or so."""
    for seed in range(4):
        clean = cm.simulate.drifters(sequences=8, frames=30, velocities=False, seed=seed)
        found = evidence_of(noisy(clean, seed), PROTOCOL, 8)
        assert found.nulls["constant velocity"] > -10, seed
        assert found.favourite == NO_LAW, (seed, found.laws)


def swarm() -> cm.Trajectories:
    """Self-propelled, with forces of distance."""
    return cm.simulate.agents("swarm", velocities=False, seed=1, sequences=8, frames=30)


def overdamped() -> cm.Trajectories:
    """Places change by a pull towards those who are near and by independent pushes."""
    rng = np.random.default_rng(1)
    x = np.empty((8, 30, 5, 2))
    x[:, 0] = 2 * rng.normal(size=(8, 5, 2))
    for n in range(1, 30):
        gaps = x[:, n - 1, None] - x[:, n - 1, :, None]
        pull = (gaps * np.exp(-np.linalg.norm(gaps, axis=-1, keepdims=True))).sum(axis=2)
        x[:, n] = x[:, n - 1] + 0.1 * pull + 0.02 * rng.normal(size=(8, 5, 2))
    return cm.Trajectories.from_arrays(x, 0.1 * np.arange(30))


@pytest.mark.parametrize(
    ("world", "law"),
    [(swarm, Kind("speed", "distance")), (overdamped, Kind("none", "distance", 1))],
)
def test_a_simulated_law_is_known_for_what_it_is(world, law):
    found = evidence_of(noisy(world()), PROTOCOL, 0)
    assert found.favourite == law, found.laws
    assert found.laws[law] > 100
