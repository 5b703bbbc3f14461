"""What a law leaves open: the size and direction of pushes, and who gets none."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.integrate import FixedSteps, StateNoise, no_noise, noisy_trajectory, trajectory

DRAWS, STEPS, LENGTH = 4000, 6, 0.5
PUSH = jnp.asarray([[0.0, 0.0, 0.3, -0.4], [0.0, 0.0, 0.0, 0.0]], jnp.float32)
TIMES = LENGTH * jnp.arange(STEPS + 1, dtype=jnp.float32)
START = jnp.asarray([[1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 0.0, 0.0]], jnp.float32)


def state_noise(share=0.0, steady=0.0, most=np.inf) -> StateNoise:
    amounts = tuple(jnp.asarray(amount, jnp.float32) for amount in (share, steady, most))
    return eqx.tree_at(lambda d: (d.share, d.steady, d.most), no_noise(Layout(2)), amounts)


def fall(states, time, interval):
    """The first object is pushed evenly, the second is not in the scene."""
    moving = jnp.asarray([[1.0], [0.0]], jnp.float32)
    return PUSH + moving * jnp.concatenate([states[:, 2:], 0.0 * states[:, 2:]], axis=1)


@eqx.filter_jit
def follow(pushes: StateNoise):
    shape = (DRAWS, STEPS + 1, 2, pushes.normals)
    noise = jax.random.normal(jax.random.key(0), shape, jnp.float32)

    def one(noise):
        return noisy_trajectory(pushes, FixedSteps(), fall, START, None, TIMES, None, noise)[0]

    return jax.vmap(one)(noise)


def test_nothing_left_open_is_the_law_itself():
    calm = trajectory(FixedSteps(), fall, START, TIMES, None)
    np.testing.assert_array_equal(follow(state_noise())[0], calm)


@pytest.mark.parametrize(("share", "steady"), [(0.5, 0.0), (0.0, 0.2), (0.5, 0.2)])
def test_pushes_add_up_to_the_spread_they_say(share, steady):
    """Within four standard errors of a mean and of a standard deviation."""
    velocity = np.asarray(follow(state_noise(share, steady)))[:, -1, 0, 2:]
    change = LENGTH * np.asarray(PUSH)[0, 2:]
    spread = np.sqrt(STEPS * ((share * change) ** 2 + steady**2 * LENGTH))
    np.testing.assert_allclose(velocity.mean(0), STEPS * change, atol=4 * spread.max() / 63)
    np.testing.assert_allclose(velocity.std(0), spread, rtol=4 / np.sqrt(2 * DRAWS))


def test_a_share_keeps_the_direction_of_a_push():
    velocity = np.asarray(follow(state_noise(share=0.7)))[:, -1, 0, 2:]
    np.testing.assert_allclose(velocity[:, 0] * -0.4, velocity[:, 1] * 0.3, atol=1e-6)


def test_what_is_not_in_the_scene_stays_where_it_is():
    states = np.asarray(follow(state_noise(0.7, 0.7)))[:, :, 1]
    np.testing.assert_array_equal(states, np.broadcast_to(START[1], states.shape))


def test_pushes_make_nothing_faster_than_the_limit_but_the_law_may():
    speed = np.linalg.norm(np.asarray(follow(state_noise(2.0, 1.0, 0.4)))[:, :, 0, 2:], axis=-1)
    assert speed[:, 1].max() <= 0.4 * (1 + 1e-6)
    assert speed[:, 1].max() > 0.39
    calm = np.linalg.norm(np.asarray(follow(state_noise(0.0, 0.0, 0.4)))[0, -1, 0, 2:])
    np.testing.assert_allclose(calm, STEPS * LENGTH * 0.5, rtol=1e-5)


def test_noise_acts_on_the_whole_of_a_state_without_velocities():
    pushes = no_noise(Layout(2, has_velocity=False, extra=3))
    assert (pushes.first, pushes.stop) == (0, 5)
