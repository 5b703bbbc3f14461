import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from comotion.data import BadInput, Trajectories

NAN = np.nan


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def test_importing_the_room_loads_nothing_heavy():
    code = (
        "import sys, comotion.data;"
        "print([m for m in ('jax', 'xarray', 'pandas', 'pyarrow', 'narwhals', 'h5netcdf')"
        " if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("features", "spatial", "observed"),
    [
        (("brightness", "heading"), 0, False),
        (("x",), 1, False),
        (("x", "vx"), 1, True),
        (("x", "y"), 2, False),
        (("x", "y", "vx", "vy", "heading"), 2, True),
        (("x", "y", "z"), 3, False),
        (("x", "y", "z", "vx", "vy", "vz"), 3, True),
    ],
)
def test_feature_names_say_how_many_positions_and_whether_velocities(features, spatial, observed):
    data = Trajectories.from_arrays(values(1, 3, 2, len(features)), features=features)
    assert data.spatial == spatial
    assert data.velocities_observed == observed


@pytest.mark.parametrize(
    ("width", "names"),
    [(1, "x"), (2, "x y"), (4, "x y vx vy"), (6, "x y z vx vy vz")],
)
def test_usual_feature_names_are_filled_in(width, names):
    assert Trajectories.from_arrays(values(1, 3, 2, width)).features == tuple(names.split())


def test_defaults_are_frame_numbers_and_a_complete_graph_of_the_objects_there_are():
    array = values(2, 3, 3, 2)
    array[1, :, 2] = NAN
    data = Trajectories.from_arrays(array)
    np.testing.assert_array_equal(data.times, [[0, 1, 2], [0, 1, 2]])
    assert data.object_names == (("0", "1", "2"), ("0", "1", ""))
    np.testing.assert_array_equal(data.exists, [[True, True, True], [True, True, False]])
    np.testing.assert_array_equal(data.neighbours[0], ~np.eye(3, dtype=bool))
    np.testing.assert_array_equal(data.neighbours[1], np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    assert data.static.shape == (2, 3, 0)
    assert data.controls.shape == (2, 3, 3, 0)


def test_what_holds_for_every_sequence_may_be_given_once():
    data = Trajectories.from_arrays(
        values(2, 3, 2, 2),
        times=[0.0, 0.5, 2.0],
        static=[[1.0], [2.0]],
        controls=np.ones((3, 2, 1)),
        neighbours=[[0, 1], [0, 0]],
    )
    np.testing.assert_array_equal(data.times[1], [0.0, 0.5, 2.0])
    np.testing.assert_array_equal(data.static[1], [[1.0], [2.0]])
    assert data.controls.shape == (2, 3, 2, 1)
    np.testing.assert_array_equal(data.neighbours[1], [[False, True], [False, False]])


def test_alive_spans_gaps_but_neither_the_time_before_entry_nor_after_exit():
    array = np.full((1, 6, 2, 2), NAN)
    array[0, 1, 0, 0] = array[0, 4, 0, 1] = 1.0
    array[0, :, 1] = 0.0
    alive = Trajectories.from_arrays(array).alive
    np.testing.assert_array_equal(alive[0, :, 0], [False, True, True, True, True, False])
    assert alive[0, :, 1].all()


def test_lengths_count_the_frames_with_a_time():
    array, times = values(2, 4, 1, 1), np.array([[0.0, 1, 2, 3], [0, 2, NAN, NAN]])
    array[1, 2:] = NAN
    np.testing.assert_array_equal(Trajectories.from_arrays(array, times).lengths, [4, 2])


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (3, [3]),
        (-1, [4]),
        (slice(1, 4, 2), [1, 3]),
        ([4, 0], [4, 0]),
        (np.array([False, True, False, False, True]), [1, 4]),
    ],
)
def test_sequences_are_chosen_by_number_slice_list_or_mask(which, expected):
    data = Trajectories.from_arrays(values(5, 3, 2, 2), static=values(5, 2, 1))
    chosen = data[which]
    np.testing.assert_array_equal(chosen.values, data.values[expected])
    np.testing.assert_array_equal(chosen.static, data.static[expected])
    assert chosen.sequence_names == tuple(str(p) for p in expected)


def test_iteration_visits_every_sequence_once():
    data = Trajectories.from_arrays(values(3, 3, 2, 2))
    assert [one.sequence_names for one in data] == [("0",), ("1",), ("2",)]


def test_split_cuts_consecutive_groups():
    first, second = Trajectories.from_arrays(values(5, 3, 2, 2)).split(2, 3)
    assert first.sequence_names + second.sequence_names == ("0", "1", "2", "3", "4")


@pytest.mark.parametrize("counts", [(), (3, 3), (0, 2)])
def test_split_refuses_counts_that_do_not_fit(counts):
    with pytest.raises(BadInput, match="cannot be cut from 5 sequences: give positive counts"):
        Trajectories.from_arrays(values(5, 3, 2, 2)).split(*counts)


def test_hiding_velocities_keeps_positions_and_other_features():
    data = Trajectories.from_arrays(values(1, 3, 2, 3), features=("x", "vx", "heading"))
    hidden = data.hide_velocities()
    assert hidden.features == ("x", "heading")
    np.testing.assert_array_equal(hidden.values, data.values[..., [0, 2]])


def test_select_names_the_feature_it_does_not_find():
    with pytest.raises(BadInput, match="There is no feature 'q'; choose from x, y"):
        Trajectories.from_arrays(values(1, 3, 2, 2)).select(["x", "q"])


def test_first_frames_cuts_values_times_and_controls():
    data = Trajectories.from_arrays(values(2, 5, 2, 2), controls=values(2, 5, 2, 1))
    start = data.first_frames(2)
    np.testing.assert_array_equal(start.values, data.values[:, :2])
    assert start.times.shape == (2, 2)
    assert start.controls.shape == (2, 2, 2, 1)
    with pytest.raises(BadInput, match=r"first_frames\(0\) keeps nothing: ask for at least 1"):
        data.first_frames(0)


def test_an_object_that_has_not_entered_yet_keeps_its_name():
    array = values(1, 5, 2, 1)
    array[0, :3, 1] = NAN
    start = Trajectories.from_arrays(array).first_frames(2)
    assert start.object_names == (("0", "1"),)
    assert not start.alive[0, :, 1].any()


def with_value(array: np.ndarray, index: tuple, value: float) -> np.ndarray:
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"values": values(3, 2, 2)}, r"values has shape \(3, 2, 2\): give four axes"),
        ({"values": values(1, 3, 2, 3)}, "names of 3 features cannot be guessed: give them"),
        ({"values": np.full((1, 3, 2, 2), NAN)}, "holds no number: give at least one"),
        ({"values": np.empty((0, 3, 2, 2))}, "holds no number: give at least one"),
        (
            {"values": with_value(values(1, 3, 2, 2), (0, 1, 1, 0), np.inf)},
            r"values is inf at index \(0, 1, 1, 0\): use NaN for missing values",
        ),
        ({"times": [0.0, 1.0]}, r"times has shape \(1, 2\), but the values need \(1, 3\)"),
        ({"times": [0.0, 1.0, 1.0]}, "in sequence '0' frame 1 is at 1 and frame 2 at 1; sort"),
        ({"times": [0.0, 2.0, 1.0]}, "Times must increase"),
        ({"times": [NAN, 1.0, 2.0]}, "Sequence '0' has no time for its first frame"),
        ({"times": [0.0, NAN, 2.0]}, "Sequence '0' has NaN as the time of frame 1: only"),
        ({"times": [0.0, 1.0, np.inf]}, r"times is inf at index \(0, 2\)"),
        (
            {"times": [0.0, 1.0, NAN]},
            "values has a number in sequence 0, frame 2, object 0, which has no time",
        ),
        (
            {"object_names": [["a", ""]]},
            "values has a number in sequence 0, frame 0, object 1, which belongs to an object "
            "without a name",
        ),
        ({"object_names": [["a"]]}, "object_names must give 1 × 2 names"),
        ({"object_names": [["a", "a"]]}, "The object name 'a' is used twice"),
        ({"features": ["heading", "x"]}, r"Features must begin with x, then y, then z; got"),
        ({"features": ["vx", "vy"]}, r"Features must begin with x, then y, then z; got"),
        ({"features": ["y", "x"]}, r"Features must begin with x, then y, then z; got \(y, x\)"),
        ({"features": ["x", "vy"]}, r"come vx or no velocity; got \(x, vy\)"),
        ({"features": ["x", "z"]}, "Feature 'z' is out of place"),
        ({"features": ["x", "time"]}, "A feature cannot be named 'time', which tables use"),
        ({"features": ["x", "static_q"]}, "A feature cannot be named 'static_q'"),
        ({"features": ["x"]}, "There are 1 feature names for an axis of 2"),
        ({"features": ["x", ""]}, "A feature name is empty"),
        ({"features": ["x", "a\0b"]}, "a character that no file can hold: rename it"),
        ({"sequence_names": ["\ud800"]}, "a character that no file can hold: rename it"),
        ({"object_names": [["a", "\0"]]}, "a character that no file can hold: rename it"),
        ({"sequence_names": ["a", "b"]}, "There are 2 sequence names for an axis of 1"),
        ({"static": values(2, 1), "static_names": ["a", "b"]}, "There are 2 static names for an"),
        (
            {"static": values(2, 2), "static_names": ["a", "a"]},
            "The static name 'a' is used twice: make the names different",
        ),
        ({"static": values(3, 2, 1)}, r"static has shape \(3, 2, 1\), but .* \(1, 2, any\)"),
        ({"controls": values(1, 2, 2, 1)}, r"controls has shape .* \(1, 3, 2, any\)"),
        ({"controls": np.full((3, 2, 1), -np.inf)}, "controls is -inf at index"),
        ({"neighbours": np.ones((2, 2))}, "an object hears itself: set the diagonal to False"),
        ({"neighbours": np.ones((3, 3))}, r"neighbours has shape \(3, 3\), .* \(2, 2\)"),
    ],
)
def test_bad_arrays_are_refused_with_one_sentence(arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        Trajectories.from_arrays(**{"values": values(1, 3, 2, 2), **arguments})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"values": np.zeros((1, 3, 2, 2), np.float32)}, "values holds float32, not float64"),
        ({"graph": np.zeros((1, 2, 2))}, "neighbours holds float64, not bool"),
        ({"graph": np.zeros((2, 2), bool)}, r"neighbours has shape \(2, 2\)"),
        (
            {"graph": np.array([[[False, True], [False, False]]])},
            r"neighbours\[0, 0, 1\] connects a slot without an object: set it to False",
        ),
        (
            {"static": np.ones((1, 2, 1)), "static_names": ("mass",)},
            "static has a number in sequence 0, frame 0, object 1",
        ),
    ],
)
def test_the_container_checks_itself_however_it_is_made(changes, sentence):
    array = values(1, 3, 2, 2)
    array[0, :, 1] = NAN
    data = Trajectories.from_arrays(array)
    with pytest.raises(BadInput, match=sentence):
        replace(data, **changes)


def test_printing_is_short():
    data = Trajectories.from_arrays(values(2, 5, 3, 2))
    assert repr(data) == "Trajectories(2 sequences, up to 5 frames, up to 3 objects, x, y)"


def test_xarray_carries_names_times_and_values(random_trajectories):
    data = random_trajectories(4)
    dataset = data.to_xarray()
    assert dataset["values"].dims == ("sequence", "time", "object", "feature")
    first = dataset["values"].sel(sequence="run0", feature="x")
    np.testing.assert_array_equal(first, data.values[0, :, :, 0])
    np.testing.assert_array_equal(dataset["t"], data.times)


def test_in_a_notebook_the_data_say_what_they_are():
    data = Trajectories.from_arrays(np.zeros((2, 5, 3, 2)), features=("x", "a<b"))
    shown = data._repr_html_()
    assert repr(data).replace("<", "&lt;") in shown
    assert "frames      5 in each sequence" in shown
    assert "<b" not in shown.replace("<b>", "")
