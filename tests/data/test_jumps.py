import numpy as np
import pandas as pd
import pytest

from comotion.data import Trajectories, read
from comotion.data.jumps import find_jumps, leave_out
from comotion.simulate import bouncing_balls, charged_particles, springs

NAN = np.nan


def walkers(objects: int = 4, frames: int = 200, seed: int = 0) -> np.ndarray:
    """Steady motion in various directions with a little noise, (frame, object, 2)."""
    rng = np.random.default_rng(seed)
    velocity = rng.normal(size=(objects, 2))
    start = rng.uniform(-50, 50, size=(objects, 2))
    steps = velocity + 0.1 * rng.normal(size=(frames, objects, 2))
    return start + np.cumsum(steps, axis=0)


def trajectories(positions: np.ndarray) -> Trajectories:
    return Trajectories.from_arrays(positions[None])


def test_a_glitch_becomes_missing_and_nothing_else_changes(assert_same):
    clean = walkers()
    broken = clean.copy()
    broken[50, 1] += 500.0
    broken[120:122, 2] -= 500.0
    found = find_jumps(trajectories(broken))
    assert found.glitches == ((0, 50, 1), (0, 120, 2), (0, 121, 2))
    assert found.swaps == ()
    expected = clean.copy()
    expected[50, 1] = expected[120:122, 2] = NAN
    assert_same(leave_out(trajectories(broken), found), trajectories(expected))


def test_swapped_identities_begin_new_objects():
    clean = walkers()
    broken = clean.copy()
    broken[80:, [0, 3]] = broken[80:, [3, 0]]
    data = trajectories(broken)
    found = find_jumps(data)
    assert set(found.swaps) == {(0, 80, 0), (0, 80, 3)}
    assert found.glitches == ()
    mended = leave_out(data, found)
    assert set(mended.object_names[0]) == {"0", "1", "2", "3", "0~2", "3~2"}
    slot = {name: i for i, name in enumerate(mended.object_names[0])}
    np.testing.assert_array_equal(mended.values[0, 80:, slot["0~2"]], clean[80:, 3])
    np.testing.assert_array_equal(mended.values[0, 80:, slot["3~2"]], clean[80:, 0])
    assert np.isnan(mended.values[0, 80:, slot["0"]]).all()
    assert int(mended.present.sum()) == int(data.present.sum())
    assert len(find_jumps(mended)) == 0


def test_a_track_cut_twice_keeps_its_order_properties_and_neighbours():
    broken = walkers()
    broken[60:, 1] += 400.0
    broken[90:, 1] += 400.0
    graph = np.zeros((4, 4), dtype=bool)
    graph[0, 1] = graph[1, 2] = True
    data = Trajectories.from_arrays(
        broken[None], static=np.arange(4.0)[:, None], static_names=["mass"], neighbours=graph
    )
    mended = leave_out(data, find_jumps(data))
    slot = {name: i for i, name in enumerate(mended.object_names[0])}
    first, second = slot["1~2"], slot["1~3"]
    assert np.flatnonzero(mended.present[0, :, first, 0]).tolist() == list(range(60, 90))
    assert np.flatnonzero(mended.present[0, :, second, 0]).tolist() == list(range(90, 200))
    np.testing.assert_array_equal(mended.static[0, [first, second], 0], [1, 1])
    assert mended.neighbours[0, 0, second]
    assert mended.neighbours[0, first, slot["2"]]


@pytest.mark.parametrize("make", [bouncing_balls, charged_particles, springs])
@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_found_in_clean_simulations(make, seed):
    data = make(sequences=20, frames=100, seed=seed)
    assert len(find_jumps(data)) == 0
    assert len(find_jumps(data.hide_velocities())) == 0


def test_nothing_is_found_when_gaps_in_time_differ_by_orders_of_magnitude():
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0, 100, size=500))
    positions = np.stack([np.sin(times), np.cos(times)], axis=-1)
    noisy = positions + 0.01 * rng.normal(size=positions.shape)
    assert len(find_jumps(Trajectories.from_arrays(noisy[None, :, None], times))) == 0


def test_darting_off_is_motion():
    positions = walkers()
    dart = np.concatenate([np.zeros(100), [2.0, 10.0, 25.0, 25.0, 12.0, 5.0], np.zeros(94)])
    positions[:, 1, 0] += np.cumsum(dart)
    assert len(find_jumps(trajectories(positions))) == 0


def test_where_jumps_are_common_they_belong_to_the_motion():
    positions = walkers(frames=400) % 10.0  # a periodic box
    assert len(find_jumps(trajectories(positions))) == 0


def test_lines_of_jumps_are_said_aloud_and_may_be_kept(tmp_path, capsys):
    positions = walkers(objects=2)
    positions[50, 1] += 500.0
    rows = [(n, a, *positions[n, a]) for n in range(200) for a in range(2)]
    file = tmp_path / "mine.csv"
    pd.DataFrame(rows, columns=["time", "object", "x", "y"]).to_csv(file, index=False)
    data = read(file)
    note = capsys.readouterr().err
    assert note.startswith("note: mine.csv: 1 of 398 steps are faster than ")
    assert "(lines 103)" in note
    assert "1 positions left out as glitches, 0 tracks cut" in note
    assert np.isnan(data.values[0, 50, 1]).all()
    kept = read(file, keep_jumps=True)
    np.testing.assert_allclose(kept.values[0, 50, 1], positions[50, 1])
    assert capsys.readouterr().err == ""
