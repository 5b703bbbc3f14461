import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.integrate import FixedSteps, process_noise
from comotion.integrate.process_noise import BodyNoise, Habits, integrated_ou, noisy_trajectory


def body_noise(spatial=2, **changes) -> BodyNoise:
    values = {
        "along": [-1.0, 0.2, 0.3, 0.1],
        "turn": [-0.5, 0.1, 0.2, 0.0],
        "log_memory": [-0.5, 0.3],
        "carried": [1.0, -0.5],
        "log_isotropic": -2.0,
        "log_relaxation": -1.0,
        "log_typical": 0.0,
        "log_activity": -1.0,
        "most": 50.0,
    } | changes
    arrays = {name: jnp.asarray(value, FAST) for name, value in values.items()}
    return BodyNoise(**arrays, spatial=spatial)


def habits(objects=3, spatial=2) -> Habits:
    one = jnp.ones(objects, FAST)
    return Habits(jnp.zeros((objects, spatial), FAST), one, 0.3 * one, 0.0 * one)


def fly(states, time, interval):
    half = states.shape[1] // 2
    return jnp.concatenate([states[:, half:], jnp.zeros_like(states[:, half:])], axis=1)


def follow(noise, states, normals, times, seen=None, active=None):
    objects, spatial = states.shape[0], states.shape[1] // 2
    seen = habits(objects, spatial) if seen is None else seen
    active = np.ones((len(times) - 1, objects), bool) if active is None else active
    states, _ = noisy_trajectory(
        noise,
        FixedSteps(),
        fly,
        jnp.asarray(states, FAST),
        seen,
        jnp.asarray(times, FAST),
        (jnp.asarray(active),),
        jnp.asarray(normals, FAST),
    )
    return states


@pytest.mark.parametrize("step", [0.01, 0.09, 0.11, 2.0])
def test_many_short_steps_of_the_memory_are_one_long_step(step):
    """Covariance of integral and end value; error bar 4/sqrt(draws) of each scale."""
    draws, one = 40_000, jnp.ones((), FAST)

    def walk(key, number):
        now, total = jnp.zeros(draws, FAST), jnp.zeros(draws, FAST)
        length = jnp.asarray(step / number, FAST)
        for part in range(number):
            first, second = jax.random.normal(jax.random.fold_in(key, part), (2, draws), FAST)
            gained, now = integrated_ou(now, one, length, one, first, second)
            total = total + gained
        return np.cov(np.stack([total, now]))

    single, many = (walk(jax.random.key(number), number) for number in (1, 8))
    scale = np.sqrt(np.diag(single)[:, None] * np.diag(single)[None, :])
    np.testing.assert_allclose(many / scale, single / scale, atol=4 * np.sqrt(2 / draws) * 2)


@pytest.mark.parametrize("spatial", [2, 3])
def test_a_turned_scene_is_disturbed_as_the_scene_was(spatial):
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(spatial, spatial)))[0]
    noise = body_noise(spatial)
    states = rng.normal(size=(3, 2 * spatial))
    normals = rng.normal(size=(6, 3, noise.normals))

    def turned(rows, first):
        vectors = rows[..., first:].reshape(*rows.shape[:-1], -1, spatial) @ turn.T
        return np.concatenate([rows[..., :first], vectors.reshape(*rows.shape[:-1], -1)], axis=-1)

    times = 0.3 * np.arange(6)
    straight = follow(noise, states, normals, times)
    rotated = follow(noise, turned(states, 0), turned(normals, 2), times)
    np.testing.assert_allclose(rotated, turned(np.asarray(straight), 0), rtol=2e-3, atol=2e-4)


def test_nothing_is_faster_than_the_limit_unless_the_law_makes_it():
    normals = np.random.default_rng(0).normal(size=(40, 3, 8))
    wild = body_noise(along=[3.0, 0, 0, 0], most=1.5)
    states = np.tile([0, 0, 1.0, 0], (3, 1))
    speed = np.linalg.norm(
        np.asarray(follow(wild, states, normals, np.arange(40.0)))[..., 2:], axis=-1
    )
    assert speed.max() <= 1.5 + 1e-5
    assert speed.max() > 1.4


def test_who_is_not_there_stands_still():
    active = np.ones((5, 3), bool)
    active[:, 1] = False
    normals = np.random.default_rng(0).normal(size=(6, 3, 8))
    states = np.tile([0, 0, 1.0, 0], (3, 1))
    path = np.asarray(follow(body_noise(), states, normals, np.arange(6.0), active=active))
    np.testing.assert_array_equal(path[:, 1], np.tile(states[1], (6, 1)))


def test_without_noise_a_turn_goes_on_and_a_speed_returns_to_the_preferred_one():
    quiet = body_noise(
        along=[-20.0, 0, 0, 0],
        turn=[-20.0, 0, 0, 0],
        log_isotropic=-20.0,
        log_memory=[0.0, 5.0],
        carried=[20.0, 20.0],
    )
    seen = eqx.tree_at(lambda h: h.acceleration, habits(1), jnp.asarray([[0.0, 0.5]], FAST))
    states = np.array([[0, 0, 1.0, 0]])
    times = np.arange(8) * 0.5
    path = np.asarray(follow(quiet, states, np.zeros((8, 1, 8)), times, seen))
    angle = np.arctan2(path[:, 0, 3], path[:, 0, 2])
    np.testing.assert_allclose(np.diff(angle), 0.25, rtol=0.03)
    slow = np.asarray(follow(quiet, 0.2 * states, np.zeros((40, 1, 8)), np.arange(40.0)))
    np.testing.assert_allclose(np.linalg.norm(slow[-1, 0, 2:]), 1.0, rtol=0.02)


def test_noise_begins_with_a_share_of_what_was_seen_and_as_restless_as_it_goes_on():
    """Mean and standard deviation over objects; error bar 4/sqrt(objects) of each scale."""
    objects = 20_000
    noise = body_noise(along=[0.3, 0, 0, 0], turn=[-0.2, 0, 0, 0], log_activity=-20.0)
    seen = habits(objects)
    accelerations = jnp.asarray(np.tile([0.7, -0.4], (objects, 1)), FAST)
    seen = eqx.tree_at(lambda h: h.acceleration, seen, accelerations)
    states = jnp.asarray(np.tile([0.0, 0.0, 1.0, 0.0], (objects, 1)), FAST)
    normals = jax.random.normal(jax.random.key(0), (objects, noise.normals), FAST)
    memory = noise.begin(states, seen, normals)
    share = 1 / (1 + np.exp(-np.array([1.0, -0.5])))
    found = np.stack([memory.along, memory.turn[:, 1]])
    sd = np.exp([0.3, -0.2]) * np.sqrt(1 - share**2)
    error = 4 / np.sqrt(objects)
    np.testing.assert_allclose(found.mean(axis=1), share * [0.7, -0.4], atol=error * sd.max())
    np.testing.assert_allclose(found.std(axis=1), sd, rtol=error)


@pytest.mark.parametrize("guarded", [True, False])
def test_a_path_whose_slopes_explode_does_not_spoil_what_all_share(guarded, monkeypatch):
    """One object is pushed away from the middle, ever faster; the wind blows for both."""
    if not guarded:
        monkeypatch.setattr(process_noise, "with_sane_slopes", lambda states: states)
    times, noise = jnp.asarray(np.arange(200.0), FAST), body_noise(most=1.0)
    states = jnp.asarray([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], FAST)
    normals, known = jnp.zeros((200, 2, noise.normals), FAST), (jnp.ones((199, 2), bool),)

    def last_places(wind):
        def law(states, time, interval):
            away = jnp.asarray([[40.0, 0.0], [0.0, 0.0]], FAST) * states[:, :2]
            return jnp.concatenate([states[:, 2:], away + wind], axis=1)

        path, _ = noisy_trajectory(
            noise, FixedSteps(), law, states, habits(2), times, known, normals
        )
        return 1e-3 * jnp.sum(path[-1, :, 0])

    slope = float(jax.grad(last_places)(jnp.zeros((), FAST)))
    assert np.isfinite(slope) == guarded
