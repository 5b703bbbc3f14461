import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from comotion.data import BadInput, Trajectories, read
from comotion.data.assemble import rank_within
from comotion.data.cells import natural_order

NAN = np.nan

SMALL = """sequence,object,time,x,y,static_mass,control_push
a,2,0,1,2,5,0.5
a,10,0,3,4,,
a,2,1.5,,6,5,0.25
b,7,3,7,8,9,1
b,7,4,9,10,9,1
b,7,5,11,12,9,1
"""


@pytest.fixture
def csv(tmp_path):
    """Write the text to a file and read it back as trajectories."""

    def from_text(text: str | bytes, **options) -> Trajectories:
        path = tmp_path / "mine.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path, **options)

    return from_text


def test_rows_become_arrays_with_nan_for_empty_cells_and_rows_that_are_not_there(csv):
    data = csv(SMALL)
    assert data.features == ("x", "y")
    assert data.sequence_names == ("a", "b")
    assert data.object_names == (("2", "10"), ("7", ""))
    np.testing.assert_array_equal(data.times, [[0, 1.5, NAN], [3, 4, 5]])
    np.testing.assert_array_equal(
        data.values[0],
        [[[1, 2], [3, 4]], [[NAN, 6], [NAN, NAN]], [[NAN, NAN], [NAN, NAN]]],
    )
    np.testing.assert_array_equal(data.values[1, :, 0], [[7, 8], [9, 10], [11, 12]])
    np.testing.assert_array_equal(data.static[..., 0], [[5, NAN], [9, NAN]])
    np.testing.assert_array_equal(data.controls[0, :2, 0, 0], [0.5, 0.25])
    assert data.static_names == ("mass",)
    assert data.control_names == ("push",)


def test_the_order_of_rows_does_not_matter(csv, assert_same):
    header, *rows = SMALL.splitlines()
    shuffled = np.random.default_rng(0).permutation(rows).tolist()
    assert_same(csv("\n".join([header, *shuffled])), csv(SMALL))


def test_without_a_sequence_column_there_is_one_sequence(csv):
    data = csv("object,time,x\na,0,1\na,1,2\n")
    assert len(data) == 1
    assert data.sequence_names == ("0",)
    np.testing.assert_array_equal(data.values.ravel(), [1, 2])


@pytest.mark.parametrize(
    "text",
    [
        "object;time;x\na;0;1\na;1;2\n",
        "object,time,x\ra,0,1\ra,1,2\r",
        "object\ttime\tx\r\na\t0\t1\r\na\t1\t2\r\n",
        "object, time, x\n a , 0, 1\n a , 1, 2 \n",
        "\n\nobject,time,x\n\na,0,1\n\na,1,2\n\n",
        '\ufeff"object","time","x"\n"a","0","1"\n"a",1.0,2e0',
    ],
)
def test_common_dialects_of_csv_are_understood(csv, assert_same, text):
    assert_same(csv(text), csv("object,time,x\na,0,1\na,1,2\n"))


@pytest.mark.parametrize("word", ["", "NaN", "nan", "NA", "null", " "])
def test_words_for_missing_values_are_understood(csv, word):
    data = csv(f"object,time,x\na,0,1\na,1,{word}\na,2,3\n")
    np.testing.assert_array_equal(data.values.ravel(), [1, NAN, 3])


def test_ignored_columns_are_dropped_and_extra_ones_become_features(csv):
    text = "object,time,x,vx,heading,note\na,0,1,2,3,hello\na,1,1,2,4,there\n"
    data = csv(text, ignore=["note"], extra=["heading"])
    assert data.features == ("x", "vx", "heading")
    np.testing.assert_array_equal(data.values[0, :, 0, 2], [3, 4])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"]),
        (["ball10", "ball9", "ball"], ["ball", "ball9", "ball10"]),
        (["b", "10", "9"], ["9", "10", "b"]),
        (["01", "1"], ["01", "1"]),
    ],
)
def test_labels_are_ordered_as_people_count(names, expected):
    assert natural_order(names) == expected


def test_labels_keep_their_leading_zeros(csv):
    assert csv("object,time,x\n007,0,1\n007,1,2\n").object_names == (("007",),)


def test_rank_within_agrees_with_unique_in_each_group():
    rng = np.random.default_rng(1)
    group, key = rng.integers(0, 5, 200), rng.integers(0, 20, 200) / 4
    ranks = rank_within(group, key)
    for g in range(5):
        expected = np.unique(key[group == g], return_inverse=True)[1]
        np.testing.assert_array_equal(ranks[group == g], expected)


HEAD = "object,time,x\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "mine.csv is empty: give a header line and at least two frames."),
        (HEAD, "mine.csv has no rows: give at least two frames of one object."),
        (
            "object,x\na,1\n",
            "mine.csv has no column 'time' (it has object, x): add it, or say which column holds "
            "it: columns={'time': NAME}, --columns time=NAME.",
        ),
        (
            "object,time,x,x\na,0,1,2\n",
            "mine.csv has two columns 'x': remove or rename one.",
        ),
        (
            "object,time,x,z\na,0,1,2\n",
            "mine.csv has columns x and z but no y: add it or rename z to y.",
        ),
        (
            "object,time,x,y,vx\na,0,1,2,3\n",
            "mine.csv has positions x, y but velocities vx: give vx, vy or no velocities.",
        ),
        (
            HEAD + "a,0,1\n\na,1,fast\n",
            "mine.csv, line 4: column 'x' holds 'fast', which is not a number: "
            "correct it, or leave the cell empty if the value is missing.",
        ),
        (
            HEAD.replace("\n", "\r") + "a,0,1\r\ra,1,fast\r",
            "mine.csv, line 4: column 'x' holds 'fast', which is not a number: "
            "correct it, or leave the cell empty if the value is missing.",
        ),
        (
            HEAD + "a,0,1\na,noon,2\n",
            "mine.csv, line 3: column 'time' holds 'noon', which is neither a number nor a date "
            "such as 2024-05-31T12:00: correct it, or leave the cell empty if the value is "
            "missing.",
        ),
        (
            HEAD + "a,0,1\na,1,-inf\n",
            "mine.csv, line 3: column 'x' is infinite: "
            "give a finite number, or leave the cell empty if the value is missing.",
        ),
        (
            HEAD + "a,0,1\na,,2\n",
            "mine.csv, line 3: column 'time' is empty: every row needs a time.",
        ),
        (
            HEAD + "a,0,1\n ,1,2\n",
            "mine.csv, line 3: column 'object' is empty: every row needs an object.",
        ),
        (
            "sequence,object,time,x\n,a,0,1\n",
            "mine.csv, line 2: column 'sequence' is empty: every row needs a sequence.",
        ),
        (
            HEAD + "a,0,1\nb,0,1\na,1,2\na,0.0,3\n",
            "mine.csv, line 5 has the same sequence, object and time as line 2: "
            "remove one of them.",
        ),
        (
            "object,time,x,static_mass\na,0,1,\na,1,1,2\na,2,1,2\na,3,1,2.5\n",
            "mine.csv, line 5: column 'static_mass' is 2.5, but 2 in an earlier row of the same "
            "object: a static property cannot change; correct it or rename the column to "
            "control_mass.",
        ),
        (
            "sequence,object,time,x\na,1,0,1\na,1,1,1\nb,1,0,1\nb,2,0,1\n",
            "mine.csv: sequence 'b' has only one frame: "
            "give at least two, or leave the sequence out.",
        ),
        (
            "\n" + HEAD + "a,0,1\n\na,1,2,3\n",
            "mine.csv, line 5 has 4 cells, but the header has 3: give every row the same columns.",
        ),
    ],
)
def test_bad_tables_are_refused_with_one_sentence(csv, text, sentence):
    with pytest.raises(BadInput) as caught:
        csv(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("cell", ["1_000", "0x10", "1 2", "1,5"])
def test_what_only_looks_like_a_number_is_refused(csv, cell):
    with pytest.raises(BadInput, match=f"line 3: column 'x' holds '{cell}', which is not a number"):
        csv(HEAD + f'a,0,1\na,1,"{cell}"\n')


@pytest.mark.parametrize("text", ['"a,0,1\na,1,2\n', 'a,0,"1\na,1,2\n', 'a,0,1\na,1,"2\nb,"3",4\n'])
def test_a_quote_that_is_not_closed_is_refused(csv, text):
    with pytest.raises(BadInput, match=r"a quote is not closed(: close it|\): check it)"):
        csv(HEAD + text)


def test_text_that_is_not_utf8_is_refused(csv):
    with pytest.raises(BadInput, match=r"mine.csv, line 3 is not UTF-8 text: save the file"):
        csv(HEAD.encode() + b"a,0,1\n\xff,1,2\n")


def test_objects_that_are_seen_only_once_are_refused(csv):
    rows = "\n".join(f"{i},{i},0" for i in range(5000))
    with pytest.raises(BadInput, match=r"shows each of its 5000 objects only once.*check which"):
        csv(HEAD + rows)


def test_a_recording_with_many_objects_in_turn_is_cut_instead_of_filling_memory(csv, capsys):
    rows = "\n".join(f"{i // 2},{i},{i % 7}" for i in range(20_000))
    data = csv(HEAD + rows)
    assert "10000 objects are never there together" in capsys.readouterr().err
    assert data.values.size < 2e7
    assert int(data.present.sum()) == 20_000
    assert len({name for row in data.object_names for name in row} - {""}) == 10_000


def test_objects_that_share_no_frames_are_refused_before_memory_runs_out(csv):
    rows = "\n".join(f"{i % 2500},{i},0" for i in range(10_000))
    with pytest.raises(
        BadInput, match=r"10000 rows .* 10000 different times .* rounding their times"
    ):
        csv(HEAD + rows)


def test_parquet_and_csv_give_the_same_trajectories(csv, tmp_path, assert_same):
    columns = {
        "sequence": ["a", "a", "a", "b", "b", "b"],
        "object": pa.array([2, 10, 2, 7, 7, 7], pa.int16()),
        "time": pa.array([0, 0, 1.5, 3, 4, 5], pa.float32()),
        "x": [1, 3, None, 7, 9, 11],
        "y": [2, 4, 6, 8, 10, 12],
        "static_mass": [5, None, 5, 9, 9, 9],
        "control_push": [0.5, NAN, 0.25, 1, 1, 1],
    }
    parquet.write_table(pa.table(columns), tmp_path / "mine.parquet")
    assert_same(read(tmp_path / "mine.parquet"), csv(SMALL))


def test_errors_in_parquet_count_rows_from_zero(tmp_path):
    path = tmp_path / "mine.parquet"
    parquet.write_table(pa.table({"object": [1, 1], "time": [0, 1], "x": [1.0, np.inf]}), path)
    with pytest.raises(
        BadInput, match=r"mine.parquet, row 1 \(counted from 0\): column 'x' is inf"
    ):
        read(path)
