import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.data import Trajectories
from comotion.data.scaling import identity_scaling
from comotion.data.windows import (
    Dataset,
    crowd,
    cut,
    first,
    most_together,
    neighbourhood,
    sample_excerpts,
    to_dataset,
)

LENGTHS = [10, 4, 7, 9, 2, 10]
sample = eqx.filter_jit(sample_excerpts)


def ragged(lengths=LENGTHS):
    """Values tell where they come from: 100 × sequence + frame."""
    P, N = len(lengths), max(lengths)
    frame = np.arange(N)
    values = np.tile((100.0 * np.arange(P)[:, None] + frame)[:, :, None, None], (1, 1, 2, 2))
    times = np.tile(5.0 + 0.5 * frame, (P, 1))
    padding = frame[None, :] >= np.array(lengths)[:, None]
    values[padding], times[padding] = np.nan, np.nan
    return Trajectories.from_arrays(values, times)


@pytest.fixture(scope="module")
def dataset():
    return to_dataset(ragged(), identity_scaling(2, 0))


def test_shorter_sequences_are_padded_with_their_last_time_and_nothing_present(dataset):
    assert dataset.lengths.tolist() == LENGTHS
    for p, length in enumerate(LENGTHS):
        times = np.asarray(dataset.windows.times[p])
        np.testing.assert_allclose(times[:length], 0.5 * np.arange(length))
        np.testing.assert_array_equal(times[length:], times[length - 1])
        assert dataset.windows.present[p, :length].all()
        assert not dataset.windows.present[p, length:].any()
        assert not dataset.windows.alive[p, length:].any()
        np.testing.assert_array_equal(dataset.windows.values[p, length:], 0.0)


def test_arrays_on_the_device_are_in_single_precision(dataset):
    floats = [leaf.dtype for leaf in jax.tree.leaves(dataset.windows) if leaf.dtype != bool]
    assert set(floats) == {jnp.dtype("float32")}


def test_missing_values_become_zeros_that_do_not_count(random_trajectories):
    data = random_trajectories(3)
    scaling = identity_scaling(len(data.features), data.static.shape[-1])
    windows = to_dataset(data, scaling).windows
    np.testing.assert_array_equal(windows.present, ~np.isnan(data.values))
    np.testing.assert_array_equal(windows.alive, data.alive)
    np.testing.assert_allclose(windows.values, np.nan_to_num(data.values), rtol=1e-6)
    assert all(jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(windows))


def test_a_cut_is_a_stretch_of_frames_with_times_from_zero(dataset):
    window = jax.tree.map(lambda leaf: leaf[0], dataset.windows)
    piece = cut(window, jnp.asarray(3), 4)
    np.testing.assert_array_equal(piece.values[:, 0, 0], [3, 4, 5, 6])
    np.testing.assert_allclose(piece.times, [0.0, 0.5, 1.0, 1.5])


def test_objects_move_in_the_intervals_at_both_ends_of_which_they_are_there():
    values = np.zeros((1, 5, 2, 2))
    values[0, :2, 1] = np.nan
    values[0, 4:, 1] = np.nan
    window = jax.tree.map(
        lambda leaf: leaf[0],
        to_dataset(Trajectories.from_arrays(values), identity_scaling(2, 0)).windows,
    )
    assert window.entry.tolist() == [0, 2]
    assert window.grid.active[:, 0].tolist() == [True] * 4
    assert window.grid.active[:, 1].tolist() == [False, False, True, False]


@pytest.mark.parametrize("horizon", [3, 8])
def test_excerpts_start_where_the_whole_horizon_fits_or_at_the_beginning(dataset, horizon):
    excerpts = sample(dataset, horizon, 2, 300, key=jax.random.key(0))
    values = np.asarray(excerpts.window.values[:, 0, 0, 0]).astype(int)
    sequences, starts = values // 100, values % 100
    free = np.maximum(np.array(LENGTHS)[sequences] - horizon, 0)
    assert np.all(starts <= free)
    for p, length in enumerate(LENGTHS):
        possible = set(range(max(length - horizon, 0) + 1))
        assert set(starts[sequences == p].tolist()) == possible


def test_with_as_many_excerpts_as_sequences_each_sequence_comes_once(dataset):
    orders = set()
    for seed in range(3):
        excerpts = sample(dataset, 2, 2, len(LENGTHS), key=jax.random.key(seed))
        sequences = (np.asarray(excerpts.window.values[:, 0, 0, 0]) // 100).astype(int)
        assert sorted(sequences.tolist()) == list(range(len(LENGTHS)))
        orders.add(tuple(sequences.tolist()))
    assert len(orders) > 1


def test_with_fewer_excerpts_no_sequence_comes_twice(dataset):
    excerpts = sample(dataset, 2, 2, 4, key=jax.random.key(0))
    sequences = np.asarray(excerpts.window.values[:, 0, 0, 0]) // 100
    assert len(set(sequences.tolist())) == 4


def test_the_opening_of_an_excerpt_is_the_beginning_of_the_same_sequence(dataset):
    excerpts = sample(dataset, 4, 3, 20, key=jax.random.key(1))
    opening = np.asarray(excerpts.opening.values[:, 0, 0, 0])
    window = np.asarray(excerpts.window.values[:, 0, 0, 0])
    assert np.all(opening % 100 == 0)
    np.testing.assert_array_equal(opening // 100, window // 100)
    assert excerpts.opening.times.shape == (20, 3)


def test_first_takes_the_first_frames_of_every_window(dataset):
    windows = first(dataset.windows, 3)
    np.testing.assert_array_equal(windows.values, dataset.windows.values[:, :3])


def comers_and_goers() -> Dataset:
    """Eight slots, of which two are filled in any window of three frames."""
    alive = np.zeros((1, 12, 8), bool)
    for slot, frame in enumerate(range(0, 12, 3)):
        alive[0, frame : frame + 3, slot] = True
    values = np.where(alive[..., None], np.arange(8.0)[None, None, :, None], np.nan)
    data = Trajectories.from_arrays(np.concatenate([values, values], axis=-1))
    return to_dataset(data, identity_scaling(2, 0))


def test_no_more_slots_are_needed_than_objects_are_there_together():
    assert most_together(comers_and_goers(), 1) == 1
    assert most_together(comers_and_goers(), 3) == 2
    assert most_together(comers_and_goers(), 100) == 4


def test_a_neighbourhood_is_judged_in_its_middle_only():
    places = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    values = np.broadcast_to(places[None, None, :, None], (1, 5, 6, 2))
    data = Trajectories.from_arrays(np.array(values))
    whole = jax.tree.map(lambda leaf: leaf[0], to_dataset(data, identity_scaling(2, 0)).windows)
    for seed in range(5):
        few = neighbourhood(whole, 3, 2, 3, 2, key=jax.random.key(seed))
        middle, near, heard = np.asarray(few.values[0, :, 0])
        assert {middle, near, heard} in ({0.0, 1.0, 2.0}, {10.0, 11.0, 12.0})
        assert abs(near - middle) <= abs(heard - middle)
        assert np.asarray(few.present[:3]).all()
        np.testing.assert_array_equal(few.present[3:, :, 0], [[True, True, False]] * 2)
        assert np.asarray(few.alive).all()


def test_a_crowd_is_those_who_are_there_in_a_frame_and_then_the_others():
    whole = jax.tree.map(lambda leaf: leaf[0], comers_and_goers().windows)
    few = crowd(cut(whole, jnp.asarray(2), 3), 2, 0, key=jax.random.key(0))
    assert few.alive.shape == (3, 2)
    np.testing.assert_array_equal(few.alive[0], [True, False])
    np.testing.assert_array_equal(few.values[0, 0], 0.0)  # slot 0 holds zeros, …
    np.testing.assert_array_equal(few.values[2, 1], 1.0)  # … slot 1, which comes next, ones
    assert few.neighbours.shape == (2, 2)
