import numpy as np
import pytest

from comotion.data import BadInput, Trajectories

NAN = np.nan


@pytest.fixture
def passers_by() -> Trajectories:
    """60 objects, each there for 10 of 300 frames, at most two at once."""
    values = np.full((1, 300, 60, 2), NAN)
    for a in range(60):
        values[0, 5 * a : 5 * a + 10, a] = np.arange(10)[: 300 - 5 * a, None] + 100 * a
    return Trajectories.from_arrays(values, np.arange(300) / 10)


def rows(data: Trajectories) -> set[tuple]:
    """Every value with its object and time: what no packing may change."""
    p, n, a, k = np.nonzero(data.present)
    names = np.array(data.object_names)[p, a]
    found = zip(names, data.times[p, n], k, data.values[p, n, a, k], strict=True)
    return set(map(tuple, (tuple(map(str, one)) for one in found)))


def test_packing_needs_few_slots_and_loses_nothing(passers_by):
    packed = passers_by.packed(shortest=10)
    assert packed.values.shape[2] == 3
    assert rows(packed) == rows(passers_by)
    for names in packed.object_names:
        present = [name for name in names if name]
        assert len(set(present)) == len(present)


def test_data_that_need_no_packing_are_left_alone(assert_same):
    data = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(2, 100, 3, 2)))
    assert_same(data.packed(), data)


@pytest.mark.parametrize("seed", range(6))
def test_windows_without_overlap_hold_every_value_once(with_graph, seed):
    data = with_graph(seed)
    cut = data.windows(3)
    assert rows(cut) <= rows(data)
    lost = {t for _, t, _, _ in rows(data)} - {t for _, t, _, _ in rows(cut)}
    alone = {
        str(t) for p, n in enumerate(data.lengths) if n % 3 == 1 for t in [data.times[p, n - 1]]
    }
    assert lost <= alone, "only a single frame at the end may be left over"
    for q, name in enumerate(cut.sequence_names):
        p = data.sequence_names.index(name.split("@")[0])
        names = [name for name in cut.object_names[q] if name]
        slots = [data.object_names[p].index(name) for name in names]
        count = len(slots)
        np.testing.assert_array_equal(cut.static[q, :count], data.static[p, slots])
        np.testing.assert_array_equal(
            cut.neighbours[q, :count, :count], data.neighbours[p][np.ix_(slots, slots)]
        )


def test_windows_may_overlap():
    data = Trajectories.from_arrays(np.arange(20.0).reshape(1, 10, 1, 2), np.arange(10) / 2)
    cut = data.windows(4, every=2)
    assert cut.sequence_names == ("0@0", "0@1", "0@2", "0@3")
    np.testing.assert_array_equal(cut.times[1], [1, 1.5, 2, 2.5])
    np.testing.assert_array_equal(cut.values[1, :, 0], data.values[0, 2:6, 0])


def test_last_between_and_thin_choose_frames(passers_by):
    assert passers_by.last(7).times[0].tolist() == (np.arange(293, 300) / 10).tolist()
    assert passers_by.last(7).object_names[0] == ("57", "58", "59")
    piece = passers_by.between(1.0, 2.0)
    np.testing.assert_allclose(piece.times[0], np.arange(10, 21) / 10)
    assert piece.object_names[0] == ("1", "2", "3", "4")
    assert passers_by.between(start=29.0).values.shape[1] == 10
    thin = passers_by.thin(5)
    np.testing.assert_allclose(thin.times[0], np.arange(0, 300, 5) / 10)
    assert thin.object_names[0][:2] == ("0", "1")


def test_objects_are_kept_or_taken_away_by_name(passers_by):
    assert passers_by.only("7", "12").object_names == (("7", "12"),)
    fewer = passers_by.without("7", "12")
    assert {"7", "12"}.isdisjoint(fewer.object_names[0])
    assert rows(fewer) | rows(passers_by.only("7", "12")) == rows(passers_by)
    with pytest.raises(BadInput, match=r"There is no object '112' \(did you mean '12'\?\); there"):
        passers_by.without("112")


def test_shares_of_one_recording_are_shares_of_its_time(passers_by):
    train, test = passers_by.split(0.8, 0.2)
    assert (train.values.shape[1], test.values.shape[1]) == (240, 60)
    assert train.times[0, -1] < test.times[0, 0]
    assert rows(train) | rows(test) == rows(passers_by)


def test_shares_of_several_sequences_are_sequences():
    data = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(10, 5, 1, 2)))
    assert [len(part) for part in data.split(0.7, 0.1, 0.2)] == [7, 1, 2]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda d: d.split(0.8, 0.3), r"split\(0.8, 0.3\) cannot be cut from 1 sequences"),
        (lambda d: d.split(0.999, 0.001), "fewer than 2 frames: give larger shares or more data"),
        (lambda d: d.last(0), r"last\(0\) keeps nothing: ask for at least 1 frame"),
        (lambda d: d.thin(0), r"thin\(0\) means nothing: keep every 2nd"),
        (lambda d: d.windows(1), r"windows\(1, every=None\) cannot be cut: ask for windows of"),
        (lambda d: d.between(50, 60), r"between\(50, 60\) holds no frame: the data are from 0 to"),
        (lambda d: d.only("0").without("0"), "No object would be left: keep at least one"),
    ],
)
def test_what_would_leave_nothing_is_refused(passers_by, make, sentence):
    with pytest.raises(BadInput, match=sentence):
        make(passers_by)


def test_sixty_thousand_objects_need_no_array_of_pairs():
    values = np.random.default_rng(0).normal(size=(1, 3, 60_000, 2))
    data = Trajectories.from_arrays(values)
    assert data.graph is None
    assert data.everyone_hears_everyone
    assert data.only("59999").values.shape == (1, 3, 1, 2)
