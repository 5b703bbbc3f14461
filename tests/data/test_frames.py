import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from comotion.data import BadInput, Trajectories, from_frame, to_frame
from comotion.data.frames import as_frame
from comotion.data.tables import to_table

COLUMNS = {
    "sequence": ["a", "a", "a", "b", "b"],
    "object": [10, 2, 2, 7, 7],
    "time": [0.0, 0.0, 1.0, 5.0, 6.0],
    "x": [1.0, None, 3.0, 4.0, 5.0],
}
BACKENDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("make", BACKENDS.values(), ids=BACKENDS)
def test_every_kind_of_frame_is_read_the_same(make):
    data = from_frame(make(COLUMNS))
    assert data.sequence_names == ("a", "b")
    assert data.object_names == (("2", "10"), ("7", ""))
    np.testing.assert_array_equal(
        data.values[..., 0], [[[np.nan, 1], [3, np.nan]], [[4, np.nan], [5, np.nan]]]
    )


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("seed", range(6))
def test_frames_give_back_the_same_trajectories(random_trajectories, assert_same, backend, seed):
    data = random_trajectories(seed)
    frame = to_frame(data, backend)
    assert type(frame).__module__.split(".")[0] == backend
    extra = ["heading"] if "heading" in data.features else []
    assert_same(from_frame(frame, extra=extra), data)


@pytest.mark.parametrize("make", BACKENDS.values(), ids=BACKENDS)
def test_frames_are_of_the_kind_the_data_came_in(make):
    frame = make(COLUMNS)
    assert type(to_frame(from_frame(frame))) is type(frame)
    assert isinstance(to_frame(Trajectories.from_arrays(np.ones((1, 2, 1, 2)))), pd.DataFrame)


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_what_is_missing_is_null_where_there_is_such_a_thing(backend):
    data = Trajectories.from_arrays(np.array([[[[1.0, np.nan]], [[2.0, 3.0]]]]))
    column = to_frame(data, backend)["y"]
    assert (column.to_list() if backend == "polars" else column.to_pylist()) == [None, 3.0]


def test_a_kind_of_frame_that_is_not_there_is_told():
    data = Trajectories.from_arrays(np.ones((1, 2, 1, 2)))
    with pytest.raises(BadInput, match="nonsense frames cannot be made here: install nonsense, or"):
        as_frame(to_table(data), "nonsense")


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 0, 1.0, 2.0]], columns=["object", "time", "x", "x"])
    with pytest.raises(BadInput, match="the frame has two columns of one name: remove or rename"):
        from_frame(frame)


def test_labels_that_are_whole_numbers_become_numbers():
    frame = to_frame(from_frame(pa.table(COLUMNS)), "pandas")
    assert frame["object"].tolist() == [10, 2, 7, 7]
    assert frame["sequence"].tolist() == ["a", "a", "b", "b"]


def test_the_index_of_a_pandas_frame_is_no_column(assert_same):
    frame = pd.DataFrame(COLUMNS)
    assert_same(from_frame(frame.set_index(frame.index * 2 + 5)), from_frame(frame))


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["10", "2", "2", "7", "7"], dtype="category"),
        pd.Series([10.0, 2.0, 2.0, 7.0, 7.0]),
        pd.Series(["10", "2", "2", "7", "7"], dtype=object),
        pd.Series([10, 2, 2, 7, 7], dtype="Int64"),
        pd.Series([10, 2, 2, 7, 7], dtype=object),
        pd.Series(["10", "2", "2", "7", "7"], dtype=pd.StringDtype("python")),
        pd.Series(["10", "2", "2", "7", "7"], dtype=pd.StringDtype("pyarrow")),
    ],
    ids=["category", "float", "object", "nullable", "numbers", "python", "arrow"],
)
def test_labels_of_any_kind_mean_the_same(labels, assert_same):
    frame = pd.DataFrame(COLUMNS)
    assert_same(from_frame(frame.assign(object=labels)), from_frame(frame))


def test_numbers_stored_as_text_are_read():
    frame = pd.DataFrame(COLUMNS).assign(x=["1", "", "3", "4", "5"])
    np.testing.assert_array_equal(from_frame(frame).values[0, :, 0, 0], [np.nan, 3])


@pytest.mark.parametrize(
    ("column", "cells", "sentence"),
    [
        (
            "x",
            pd.date_range("2020-01-01", periods=5),
            "the frame: column 'x' holds timestamp.*, not numbers: convert it to numbers first",
        ),
        ("x", [1.0, "2", 3, 4, 5], "the frame: column 'x' mixes kinds of values"),
        (
            "x",
            ["1", "two", "3", "4", "5"],
            r"the frame, row 1 \(counted from 0\): column 'x' holds 'two', which is not a number",
        ),
        (
            "object",
            [1.0, np.nan, 1, 1, 1],
            r"the frame, row 1 \(counted from 0\): column 'object' is empty",
        ),
        ("time", [0, 0, 1, 1, 1], r"row 4 \(counted from 0\) has the same .* as row 3 \(counted"),
    ],
)
def test_bad_frames_are_refused_with_one_sentence(column, cells, sentence):
    with pytest.raises(BadInput, match=sentence):
        from_frame(pd.DataFrame(COLUMNS).assign(**{column: cells}))


@pytest.mark.parametrize("ignore", [(), ("note",)])
def test_columns_that_play_no_part_may_hold_anything(ignore):
    frame = pd.DataFrame(COLUMNS).assign(note=[1, "two", None, [], {}])
    assert from_frame(frame, ignore=ignore).features == ("x",)


def test_what_is_no_frame_is_refused():
    with pytest.raises(
        BadInput, match="A set cannot be read: give a path, a folder, a data frame of"
    ):
        from_frame({1, 2, 3})
