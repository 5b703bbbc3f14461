import numpy as np
import pytest

from comotion.data import BadInput, Trajectories
from comotion.scoring.rolling import Protocol, roll


@pytest.fixture
def walkers() -> Trajectories:
    """Two sequences of 12 and 9 frames; the value of a cell says where it comes from."""
    p, n, a, d = np.meshgrid(*map(np.arange, (2, 12, 3, 2)), indexing="ij")
    values = 1000.0 * p + 10.0 * n + a + 0.1 * d
    values[1, 9:] = np.nan
    values[0, :4, 1] = np.nan  # comes late
    values[0, 9:, 2] = np.nan  # leaves early
    times = np.tile(np.arange(12) * 0.5, (2, 1))
    times[1, 9:] = np.nan
    return Trajectories.from_arrays(values, times, features=("x", "y"))


def test_rows_hold_the_frames_before_and_after_each_origin(walkers):
    origins = roll(walkers, Protocol(seen=3, horizon=2, stride=2))
    assert origins.past.shape[1:] == (3, 2)
    assert origins.future.shape[1:] == (2, 2)
    for row, (k, slot) in enumerate(zip(origins.origin, origins.slot, strict=True)):
        p, n = origins.sequence[k], origins.frame[k]
        a = int(origins.windows.object_names[k][slot])
        np.testing.assert_array_equal(origins.past[row], walkers.values[p, n - 2 : n + 1, a])
        np.testing.assert_array_equal(origins.future[row], walkers.values[p, n + 1 : n + 3, a])
    np.testing.assert_allclose(origins.leads, [[0.5, 1.0]] * len(origins.origin))
    np.testing.assert_allclose(origins.past_times, [[-1.0, -0.5, 0.0]] * len(origins.origin))


def test_origins_run_through_each_sequence_and_not_beyond_its_end(walkers):
    origins = roll(walkers, Protocol(seen=3, horizon=2, stride=2))
    assert origins.frame[origins.sequence == 0].tolist() == [2, 4, 6, 8]
    assert origins.frame[origins.sequence == 1].tolist() == [2, 4, 6]


def test_only_objects_there_when_the_forecast_starts_and_afterwards_count(walkers):
    origins = roll(walkers, Protocol(seen=3, horizon=2, stride=1))
    counting = {
        int(origins.frame[k]): {
            origins.windows.object_names[k][slot]
            for slot in origins.slot[origins.origin == k].tolist()
        }
        for k in np.flatnonzero(origins.sequence == 0).tolist()
    }
    assert counting[2] == {"0", "2"}
    assert counting[5] == {"0", "2"}  # object 1 was seen in two frames of three
    assert counting[6] == {"0", "1", "2"}
    assert counting[7] == {"0", "1", "2"}  # the last value of object 2 is in frame 8
    assert counting[8] == {"0", "1"}
    whole = roll(walkers, Protocol(seen=3, horizon=2, stride=1, whole_future=True))
    assert not np.isnan(whole.future).any()
    some = roll(walkers, Protocol(seen=3, horizon=2, stride=1, seen_share=0.6))
    assert len(some.origin) == len(origins.origin) + 1


def test_slots_are_packed_and_a_model_sees_nothing_after_the_origin():
    values = np.full((1, 46, 20, 2), np.nan)
    for a in range(20):
        values[0, 2 * a : 2 * a + 8, a] = a + np.arange(8)[:, None]
    data = Trajectories.from_arrays(values, features=("x", "y"))
    origins = roll(data, Protocol(seen=3, horizon=2, stride=1))
    assert origins.windows.values.shape[2] <= 6, "at most six are there in any five frames"
    seen = origins.seen_windows()
    assert seen.values.shape[1] == 3
    assert (seen.present.any(axis=(1, 3)) == seen.exists).all()


def test_crowds_only(walkers):
    origins = roll(walkers, Protocol(seen=3, horizon=2, stride=1, least_objects=3))
    assert (origins.counts.sum(axis=1) >= 3).all()
    assert origins.frame[origins.sequence == 0].tolist() == [6, 7]


def test_windows_that_share_frames_are_in_the_same_or_neighbouring_blocks():
    data = Trajectories.from_arrays(np.zeros((2, 100, 1, 2)), features=("x", "y"))
    origins = roll(data, Protocol(seen=5, horizon=5, stride=1))
    for p in range(2):
        of = origins.sequence == p
        apart = np.abs(origins.frame[of][:, None] - origins.frame[of][None]) < 10
        assert np.abs(origins.blocks[of][:, None] - origins.blocks[of][None])[apart].max() == 1
    assert not set(origins.blocks[origins.sequence == 0]) & set(
        origins.blocks[origins.sequence == 1]
    )


def test_windows_with_a_long_pause_are_left_out_if_asked():
    times = np.concatenate([np.arange(10.0), 20 + np.arange(10.0)])
    data = Trajectories.from_arrays(np.zeros((1, 20, 1, 2)), times, features=("x", "y"))
    every = roll(data, Protocol(seen=2, horizon=2, stride=1))
    unbroken = roll(data, Protocol(seen=2, horizon=2, stride=1, unbroken=True))
    assert len(every) == 17
    assert unbroken.frame.tolist() == [*range(1, 8), *range(11, 18)]
    assert unbroken.leads.max() == 2.0


@pytest.mark.parametrize(
    ("protocol", "sentence"),
    [
        (lambda: Protocol(1, 5), "seen=1 makes no protocol; give at least 2"),
        (lambda: Protocol(3, 0), "horizon=0 makes no protocol; give at least 1"),
        (lambda: Protocol(3, 3, stride=0), "stride=0 makes no protocol"),
        (lambda: Protocol(3, 3, seen_share=1.5), "seen_share=1.5 is no share"),
        (lambda: Protocol(8, 8), "has 12 frames, but 8 seen and 8 to forecast need 16"),
        (lambda: Protocol(3, 3, least_objects=4), "No origin has 4 objects in 3 frames seen"),
    ],
)
def test_what_cannot_be_forecast_is_refused_in_one_sentence(walkers, protocol, sentence):
    with pytest.raises(BadInput, match=sentence):
        roll(walkers, protocol())


def test_short_data_are_resampled_in_shorter_blocks():
    short = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(1, 90, 1, 2)))
    origins = roll(short, Protocol(2, 8, stride=2))
    assert np.diff(np.unique(origins.frame // 10)).max() == 1
    np.testing.assert_array_equal(origins.blocks, origins.frame // 10 - origins.frame[0] // 10)
