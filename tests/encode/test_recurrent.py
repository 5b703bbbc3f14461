"""The paper's encoder of initial states, frame by frame."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.encode import Components, recurrent_encoder

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(8, 2, 4))
NOISE = jnp.ones(4, jnp.float32)


def encoder(layout=None, *, observed=4, reads_times=False, frames=5):
    return recurrent_encoder(
        layout or Layout(2), observed, frames=frames, reads_times=reads_times, key=jax.random.key(0)
    )


@pytest.fixture(scope="module")
def encode():
    return eqx.filter_jit(lambda made, window: made(window, NOISE))


def by_hand(made, frames, steps=None):
    """Feed the cell one frame after the other, the last one first."""
    memory = jnp.zeros(made.cell.hidden_size, jnp.float32)
    for n in reversed(range(len(frames))):
        inputs = frames[n] if steps is None else np.append(frames[n], steps[n])
        memory = made.cell(jnp.asarray(inputs, jnp.float32), memory)
    outputs = [head(memory[5 * i : 5 * i + 5]) for i, head in enumerate(made.heads)]
    halves = [jnp.split(output, 2) for output in outputs]
    mean = np.concatenate([half[0] for half in halves])
    deviation = np.logaddexp(0.0, np.concatenate([half[1] for half in halves])) + 1e-4
    return mean, deviation


def assert_belief(belief, a, expected):
    np.testing.assert_allclose(belief.mean[a], expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(belief.factor[a], np.diag(expected[1]), rtol=1e-4, atol=1e-5)


def test_it_has_the_papers_shape():
    made = encoder()
    assert made.cell.hidden_size == 10
    assert len(made.heads) == 2
    for head in made.heads:
        first, last = head.layers
        assert (first.in_features, first.out_features, last.out_features) == (5, 50, 4)
        assert head.activation(jnp.asarray(-1.0)) == 0.0
        assert head.activation(jnp.asarray(2.0)) == 2.0


def test_wider_states_get_a_chunk_and_a_head_of_their_own():
    made = encoder(Layout(2, extra=3))
    assert made.cell.hidden_size == 15
    assert [head.layers[-1].out_features for head in made.heads] == [4, 4, 6]


def test_it_reads_the_first_five_frames_backwards(make_window, encode):
    made = encoder()
    belief = encode(made, make_window(VALUES))
    for a in range(2):
        assert_belief(belief, a, by_hand(made, VALUES[:5, a]))


def test_the_sixth_frame_changes_nothing_and_the_order_of_the_first_five_does(make_window, encode):
    made = encoder()
    belief = encode(made, make_window(VALUES))
    later = VALUES.copy()
    later[5:] += 10.0
    np.testing.assert_array_equal(encode(made, make_window(later)).mean, belief.mean)
    swapped = VALUES[[1, 0, *range(2, 8)]]
    assert not np.allclose(encode(made, make_window(swapped)).mean, belief.mean, atol=1e-3)


def test_frames_with_nothing_in_them_are_skipped(make_window, encode):
    made = encoder()
    values = VALUES.copy()
    values[2, 1] = np.nan
    belief = encode(made, make_window(values))
    assert_belief(belief, 0, by_hand(made, VALUES[:5, 0]))
    assert_belief(belief, 1, by_hand(made, VALUES[[0, 1, 3, 4], 1]))


def test_a_missing_value_is_read_as_the_one_seen_just_before(make_window, encode):
    made = encoder()
    values, filled = VALUES.copy(), VALUES.copy()
    values[2, 0, 1] = np.nan
    filled[2, 0, 1] = VALUES[3, 0, 1]
    belief = encode(made, make_window(values))
    assert_belief(belief, 0, by_hand(made, filled[:5, 0]))


def test_an_object_that_enters_late_is_read_from_its_entry_on(make_window, encode):
    made = encoder()
    values = VALUES.copy()
    values[:2, 1] = np.nan
    belief = encode(made, make_window(values))
    assert_belief(belief, 1, by_hand(made, VALUES[2:7, 1]))


def test_irregular_times_are_read_as_the_time_to_the_frame_read_before(make_window, encode):
    made = encoder(reads_times=True)
    times = np.array([0.0, 0.3, 0.4, 1.0, 1.5, 2.5, 2.6, 3.0])
    values = VALUES.copy()
    values[3, 1] = np.nan
    belief = encode(made, make_window(values, times))
    assert_belief(belief, 0, by_hand(made, VALUES[:5, 0], np.append(np.diff(times[:5]), 0.0)))
    read = [0, 1, 2, 4]
    steps = np.append(np.diff(times[read]), 0.0)
    assert_belief(belief, 1, by_hand(made, VALUES[read, 1], steps))


def test_a_short_window_is_read_whole(make_window, encode):
    made = encoder()
    belief = encode(made, make_window(VALUES[:3]))
    assert_belief(belief, 0, by_hand(made, VALUES[:3, 0]))


def test_an_object_never_seen_still_gets_a_finite_belief(make_window, encode):
    values = VALUES.copy()
    values[:, 1] = np.nan
    belief = encode(encoder(), make_window(values))
    assert jnp.all(jnp.isfinite(belief.mean))
    assert jnp.all(jnp.diagonal(belief.factor, axis1=1, axis2=2) > 0)


@pytest.mark.parametrize("extra", [0, 2])
def test_hidden_states_start_from_a_straight_line_through_the_leading_scores(make_window, extra):
    """With heads that say nothing, means are intercept and slope of scores; gaps are left out."""
    directions = RNG.normal(size=(6, 6))
    glance = Components(jnp.ones(6, jnp.float32), jnp.asarray(directions, jnp.float32))
    layout, times = Layout(2, extra=extra, hidden=True), np.array([0.0, 0.5, 1.5, 2.0])
    made = recurrent_encoder(layout, 6, frames=4, reads_times=True, key=jax.random.key(0))
    made = eqx.tree_at(lambda e: e.glance, made, glance)
    silent = jax.tree.map(lambda leaf: leaf * 0 if eqx.is_array(leaf) else leaf, made.heads)
    made = eqx.tree_at(lambda e: e.heads, made, silent)
    values = RNG.normal(size=(4, 2, 6))
    values[1, 0, 4] = np.nan
    mean = made(make_window(values, times), jnp.ones(6, jnp.float32)).mean
    scores = (values - 1.0) @ directions[:, :2]
    for a, frames in ((0, [0, 2, 3]), (1, [0, 1, 2, 3])):
        slope, intercept = np.polyfit(times[frames], scores[frames, a], 1)
        expected = np.concatenate([intercept, slope, np.zeros(extra)])
        np.testing.assert_allclose(mean[a], expected, rtol=1e-4, atol=1e-4)


def test_the_scores_are_not_learned(make_window):
    glance = Components(jnp.ones(6, jnp.float32), jnp.ones((6, 6), jnp.float32))
    made = recurrent_encoder(
        Layout(2, hidden=True), 6, frames=4, reads_times=False, key=jax.random.key(0)
    )
    made = eqx.tree_at(lambda e: e.glance, made, glance)
    window = make_window(RNG.normal(size=(4, 2, 6)))
    gradient = eqx.filter_grad(lambda e: e(window, jnp.ones(6, jnp.float32)).mean.sum())(made)
    assert not np.any(gradient.glance.directions)
    assert np.any(gradient.cell.weight_ih)
