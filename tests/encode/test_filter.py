import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

from comotion._types import EXACT, FAST
from comotion.data.windows import Window
from comotion.encode.filter import (
    NOISE_FACTORS,
    VAGUE_POSITION,
    VAGUE_VELOCITY,
    OriginFilter,
    transition,
)


def window(values, times=None, present=None) -> Window:
    """One sequence from values (frames, objects, features)."""
    values = np.asarray(values, float)
    frames, objects, _ = values.shape
    times = np.arange(frames) * 0.4 if times is None else times
    present = np.isfinite(values) if present is None else present
    return Window(
        times=jnp.asarray(times, FAST),
        values=jnp.asarray(np.nan_to_num(values), FAST),
        present=jnp.asarray(present),
        alive=jnp.asarray(present.any(-1)),
        properties=jnp.zeros((objects, 0), FAST),
        controls=jnp.zeros((frames, objects, 0), FAST),
        neighbours=jnp.ones((objects, objects), bool),
    )


def a_filter(acceleration=0.7, memory=0.9) -> OriginFilter:
    return OriginFilter(
        log_acceleration=jnp.asarray(np.log(acceleration), FAST),
        log_memory=jnp.asarray(np.log(memory), FAST),
        spatial=2,
        frames=10,
    )


def van_loan(step: float, memory: float, sd: float) -> tuple[np.ndarray, np.ndarray]:
    """Transition and covariance of dp = v, dv = a, da = -a/memory + noise, by one matrix power."""
    F = np.array([[0, 1, 0], [0, 0, 1], [0, 0, -1 / memory]])
    G = np.diag([0, 0, 2 * sd**2 / memory])
    whole = expm(np.block([[-F, G], [np.zeros((3, 3)), F.T]]) * step)
    move = whole[3:, 3:].T
    return move, move @ whole[:3, 3:]


@pytest.mark.parametrize("step", [0.0, 1e-4, 0.03, 0.4, 5.0])
def test_a_step_of_any_length_is_exact(step):
    move, spread = transition(*(jnp.asarray(x, EXACT) for x in (step, 0.8, 1.3)))
    exact_move, exact_spread = van_loan(step, 0.8, 1.3)
    np.testing.assert_allclose(move, exact_move, rtol=2e-3, atol=1e-12)
    np.testing.assert_allclose(spread, exact_spread, rtol=6e-2, atol=1e-12)


def test_one_filter_of_the_bank_conditions_as_a_dense_gaussian_does():
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.1, 0.9, 6))
    values = rng.normal(size=(6, 1, 2))
    values[2, 0, 0] = np.nan
    noise, sd, memory = 0.2, 0.7, 0.9
    exact = jax.tree.map(
        lambda leaf: leaf.astype(EXACT) if eqx.is_inexact_array(leaf) else leaf,
        (a_filter(sd, memory), window(values, times)),
    )
    found = exact[0]._filter(exact[1], jnp.full(2, noise, EXACT), jnp.ones((), EXACT))
    for axis in range(2):
        seen = np.isfinite(values[:, 0, axis])
        mean, covariance = dense(times, values[:, 0, axis], seen, noise, sd, memory)
        np.testing.assert_allclose(found.mean[0, axis], mean, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found.covariance[0, axis], covariance, rtol=2e-3, atol=1e-4)


def dense(times, values, seen, noise, sd, memory):
    """[p, v, a] at the last time, by conditioning all frames' joint Gaussian at once."""
    n = len(times)
    prior = np.diag([VAGUE_POSITION, VAGUE_VELOCITY, sd**2])
    blocks, moves = [prior], []
    for step in np.diff(times):
        move, spread = van_loan(step, memory, sd)
        moves.append(move)
        blocks.append(move @ blocks[-1] @ move.T + spread)
    joint = np.zeros((3 * n, 3 * n))
    for i in range(n):
        across = blocks[i]
        joint[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = across
        for j in range(i + 1, n):
            across = moves[j - 1] @ across
            joint[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = across
            joint[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = across.T
    rows = 3 * np.flatnonzero(seen)
    gain = joint[-3:, rows] @ np.linalg.inv(joint[np.ix_(rows, rows)] + noise * np.eye(len(rows)))
    return gain @ values[seen], joint[-3:, -3:] - gain @ joint[rows, -3:]


def test_straight_flight_without_noise_is_known_at_the_last_frame():
    times = 0.4 * np.arange(8)
    values = np.stack([1 + 0.5 * times, 2 - times], axis=1)[:, None]
    found = a_filter(0.3, 0.3).filtered(window(values, times), jnp.full(2, 1e-8, FAST))
    np.testing.assert_allclose(found.belief.mean[0, :4], [*values[-1, 0], 0.5, -1.0], atol=2e-3)
    np.testing.assert_allclose(found.habits.speed, np.hypot(0.5, 1.0), rtol=0.15)


def test_a_recording_noisier_than_learned_is_found_noisier():
    """200 noisy frames tell a factor of 9 from 1 with certainty."""
    rng = np.random.default_rng(0)
    times = 0.4 * np.arange(10)
    calm = times[:, None, None] * rng.normal(size=(1, 10, 2))
    learned = 0.01
    for factor in NOISE_FACTORS[[1, 3]]:
        noisy = calm + factor * learned * rng.normal(size=calm.shape)
        found = a_filter(0.05, 1.0).filtered(window(noisy, times), jnp.full(2, learned**2, FAST))
        np.testing.assert_allclose(np.sqrt(found.noise_variance), factor * learned, rtol=0.2)


def test_the_restless_one_of_two_is_found():
    rng = np.random.default_rng(0)
    times = 0.4 * np.arange(12)
    calm = times[:, None] * np.array([[1.0, 0.0]])
    wild = np.cumsum(np.cumsum(rng.normal(size=(12, 2)), axis=0), axis=0)
    found = a_filter(1.0, 0.5).filtered(
        window(np.stack([calm, wild], axis=1), times), jnp.full(2, 1e-6, FAST)
    )
    quiet, restless = np.asarray(found.habits.activity)
    assert restless > quiet + 1.0


def test_nobody_seen_is_nobody_known():
    values = np.full((5, 2, 2), np.nan)
    values[:, 0] = 1.0
    found = a_filter().filtered(window(values), jnp.full(2, 1e-4, FAST))
    assert np.isfinite(np.asarray(found.belief.mean)).all()
    assert found.belief.factor[1, 0, 0] > 10 * found.belief.factor[0, 0, 0]
