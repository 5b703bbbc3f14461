"""The encoder of static properties."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.encode import property_encoder
from comotion.encode.readings import local_reading

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(7, 4, 2))


def encoder(size="small", activation="elu", frames=5, count=1, reads="features"):
    return property_encoder(
        2,
        Layout(1, properties=count),
        reads=reads,
        size=size,
        activation=activation,
        frames=frames,
        key=jax.random.key(0),
    )


@pytest.fixture(scope="module")
def encode():
    return eqx.filter_jit(lambda made, window: made(window))


def by_hand(made, values, a, others):
    """The mean over pairs of what the cell remembers, read backwards."""
    memories = []
    for b in others:
        memory = jnp.zeros(made.cell.hidden_size, jnp.float32)
        for n in reversed(range(min(made.frames, len(values)))):
            pair = np.concatenate([values[n, a], values[n, b] - values[n, a]])
            if not np.isnan(pair).any():
                memory = made.cell(jnp.asarray(pair, jnp.float32), memory)
        memories.append(memory)
    mean, deviation = np.split(np.asarray(made.head(jnp.mean(jnp.stack(memories), axis=0))), 2)
    return mean, np.logaddexp(0.0, deviation) + 1e-4


def test_small_and_large_have_the_papers_sizes():
    for size, memory, hidden in (("small", 25, 50), ("large", 100, 100)):
        made = encoder(size)
        assert made.cell.hidden_size == memory
        assert made.head.layers[0].out_features == hidden
    assert encoder(activation="elu").head.activation(jnp.asarray(-1.0)) < 0.0
    assert encoder(activation="relu").head.activation(jnp.asarray(-1.0)) == 0.0


def test_it_reads_every_pair_of_neighbours_backwards(make_window, encode):
    made = encoder()
    values = VALUES.copy()
    values[2, 1] = np.nan
    graph = ~np.eye(4, dtype=bool)
    graph[0, 3] = False
    belief = encode(made, make_window(values, neighbours=graph))
    for a in range(4):
        mean, deviation = by_hand(made, values, a, np.flatnonzero(graph[a]))
        np.testing.assert_allclose(belief.mean[a], mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(belief.factor[a, 0], deviation, rtol=1e-4, atol=1e-5)


def test_permuting_the_objects_permutes_the_beliefs(make_window, encode):
    made = encoder(count=2)
    order = np.array([2, 0, 3, 1])
    belief = encode(made, make_window(VALUES))
    permuted = encode(made, make_window(VALUES[:, order]))
    np.testing.assert_allclose(permuted.mean, belief.mean[order], atol=1e-6)
    np.testing.assert_allclose(permuted.factor, belief.factor[order], atol=1e-6)


def test_frames_past_its_limit_change_nothing_and_those_before_do(make_window, encode):
    made = encoder()
    belief = encode(made, make_window(VALUES))
    later, earlier = VALUES.copy(), VALUES.copy()
    later[5:] += 3.0
    earlier[4] += 3.0
    np.testing.assert_array_equal(encode(made, make_window(later)).mean, belief.mean)
    assert not np.allclose(encode(made, make_window(earlier)).mean, belief.mean, atol=1e-4)


@pytest.mark.parametrize("reads", ["features", "local"])
def test_an_absent_object_changes_nothing_for_the_others(make_window, encode, reads):
    made = encoder(reads=reads)
    absent = VALUES.copy()
    absent[:, 3] = np.nan
    with_slot = encode(made, make_window(absent))
    without = encode(made, make_window(VALUES[:, :3]))
    np.testing.assert_allclose(with_slot.mean[:3], without.mean, atol=1e-6)


def test_an_object_alone_gets_a_finite_belief(make_window, encode):
    belief = encode(encoder(), make_window(VALUES[:, :1]))
    assert jnp.all(jnp.isfinite(belief.mean))
    assert jnp.all(jnp.isfinite(belief.factor))


def test_a_local_reading_is_the_same_in_a_scene_that_is_turned_mirrored_and_shifted(make_window):
    values = RNG.normal(size=(6, 3, 4))
    angle = 0.7
    turn = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    turned = np.concatenate([values[..., :2] @ turn + 3.0, values[..., 2:] @ turn], axis=-1)
    read = local_reading(4, Layout(2))
    straight, moved = (read(make_window(motion)) for motion in (values, turned))
    assert straight.inputs.shape == (3, 3, 5, read.in_size)
    apart = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(moved.inputs[apart], straight.inputs[apart], rtol=1e-3, atol=1e-3)


def test_a_local_reading_sees_what_pushes_an_object_towards_another(make_window):
    """Object 0 is accelerated by 2 along x, where object 1 rests: along the line from 1 to 0."""
    times = np.arange(4) * 0.1
    values = np.zeros((4, 2, 4))
    values[:, 0, 0], values[:, 0, 2] = -3.0 + times**2, 2.0 * times
    read = local_reading(4, Layout(2))(make_window(values, times=times))
    along, _, altogether = np.sinh(read.inputs[0, 1, :, 4:7]).T
    np.testing.assert_allclose(along, -2.0, rtol=1e-4)
    np.testing.assert_allclose(altogether, 2.0, rtol=1e-4)


def test_a_local_reading_needs_two_frames_in_a_row(make_window):
    values = RNG.normal(size=(5, 2, 4))
    values[2, 1] = np.nan
    read = local_reading(4, Layout(2))(make_window(values))
    np.testing.assert_array_equal(read.seen[0, 1], [True, False, False, True])
