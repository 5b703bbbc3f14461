"""Tables as people have them: other names, other separators, other shapes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import comotion as cm
from comotion.data import BadInput, Trajectories, read

NAN = np.nan
PEDS = {
    "frame": [0, 10, 0, 10],
    "id": [1, 1, 2, 2],
    "x": [1.0, 2.0, 3.0, 4.0],
    "y": [5.0, 6.0, 7.0, 8.0],
}


@pytest.fixture
def text(tmp_path):
    """Write a text file and read it."""

    def from_text(content: str, name: str = "mine.csv", **options) -> Trajectories:
        (tmp_path / name).write_text(content)
        return read(tmp_path / name, **options)

    return from_text


@pytest.fixture
def peds() -> Trajectories:
    return read(pd.DataFrame(PEDS).rename(columns={"frame": "time", "id": "object"}))


def test_names_people_use_are_recognised_and_said_aloud(text, peds, assert_same, capsys):
    data = text(pd.DataFrame(PEDS).to_csv(index=False), fps=25)
    np.testing.assert_allclose(data.times, [[0, 0.4]])
    assert data.object_names == peds.object_names
    np.testing.assert_array_equal(data.values, peds.values)
    err = capsys.readouterr().err
    assert err == "note: mine.csv: read 'id' as object, 'frame' as time\n"


def test_frames_without_a_rate_are_said_aloud(text, capsys):
    text(pd.DataFrame(PEDS).to_csv(index=False))
    assert "mine.csv: time is counted in frames; fps=… (--fps)" in capsys.readouterr().err


def test_a_plain_table_needs_no_note(text, capsys):
    text("object,time,x\na,0,1\na,1,2\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("headings", "features"),
    [
        (("t", "particle", "X", "Y"), ("x", "y")),
        (("timestamp", "TRACK_ID", "POSITION_X", "POSITION_Y"), ("x", "y")),
        (("Time [s]", "ped", "pos_x", "pos_y"), ("x", "y")),
        (("frame_number", "agent_id", "x (cm)", "y (cm)"), ("x", "y")),
        (("seconds", "Player", "center-x", "center-y"), ("x", "y")),
        (("t", "name", "x", "velocity_x"), ("x", "vx")),
    ],
)
def test_many_headings_mean_the_same(headings, features):
    data = read(pd.DataFrame(dict(zip(headings, PEDS.values(), strict=True))), quiet=True)
    assert data.features == features
    np.testing.assert_array_equal(data.values[0, :, 1, 0], [3, 4])
    assert data.object_names == (("1", "2"),)


def test_a_track_number_is_trusted_more_than_a_number_of_rows():
    frame = pd.DataFrame(PEDS).rename(columns={"id": "track"}).assign(id=[7, 8, 9, 10])
    assert read(frame, quiet=True).object_names == (("1", "2"),)


def test_columns_may_be_named_in_several_ways(peds, assert_same):
    frame = pd.DataFrame(PEDS).set_axis(["when", "who", "east", "north"], axis=1)
    named = {"x": "east", "y": "north"}
    assert_same(read(frame, object="who", time="when", columns=named), peds)
    assert_same(read(frame, columns={**named, "object": "who", "time": "when"}), peds)


def test_other_columns_are_left_alone_with_a_note(peds, assert_same, capsys):
    frame = pd.DataFrame(PEDS).rename(columns={"frame": "time", "id": "object"})
    frame = frame.assign(colour="red", **{"any heading, at all": 1})
    assert_same(read(frame), peds)
    err = capsys.readouterr().err
    assert "left alone colour, any heading, at all (extra=… makes features of them)" in err
    assert_same(read(frame, ignore=["colour", "any heading, at all"]), peds)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("header", [True, False])
def test_any_separator_with_or_without_a_header(text, peds, assert_same, separator, header):
    lines = [("time", "object", "x", "y")] * header + list(zip(*PEDS.values(), strict=True))
    content = "\n".join(separator.join(map(str, line)) for line in lines)
    assert_same(text(content, "mine.txt", quiet=True), peds)


def test_decimal_commas_are_understood_where_they_separate_nothing(text):
    data = text("object;time;x\na;0;1,5\na;0,5;-2,25\n")
    np.testing.assert_array_equal(data.values.ravel(), [1.5, -2.25])
    np.testing.assert_array_equal(data.times.ravel(), [0, 0.5])


def test_comments_may_hold_the_header(text, assert_same):
    data = text("# framerate: 16\n# id frame x y\n1 0 1.0 2.0\n1 1 3.0 4.0\n", "a.txt", quiet=True)
    np.testing.assert_array_equal(data.values[0, :, 0], [[1, 2], [3, 4]])


def test_lines_of_errors_are_right_without_a_header(text):
    with pytest.raises(BadInput, match=r"a.txt, line 4: column 'y' holds 'two', which is not a"):
        text("\n0 1 1.0 2.0\n\n1 1 3.0 two\n", "a.txt", quiet=True)


def test_other_numbers_of_columns_without_a_header_must_be_named(text):
    content = "7,0,1.5\n7,1,2.5\n"
    with pytest.raises(BadInput, match="has no header and 3 columns: name them in order"):
        text(content)
    data = text(content, columns=["object", "time", "x"])
    assert data.object_names == (("7",),)


def test_the_index_of_a_data_frame_is_left_alone(text, peds, assert_same, capsys):
    frame = pd.DataFrame(PEDS).rename(columns={"frame": "time", "id": "object"})
    assert_same(text(frame.to_csv()), peds)
    assert_same(text(frame.assign(**{"Unnamed: 0": 1}).to_csv()), peds)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "stamps",
    [
        ["2024-05-31T12:00:00", "2024-05-31T12:00:00.5"],
        ["2024-05-31 12:00:00+02:00", "2024-05-31 12:00:00.5+02:00"],
        ["2024-05-31T12:00:00Z", "2024-05-31T12:00:00.500Z"],
    ],
)
def test_dates_become_seconds_since_the_first(text, stamps, capsys):
    data = text("object,time,x\n" + "".join(f"a,{stamp},1\n" for stamp in stamps))
    np.testing.assert_array_equal(data.times, [[0, 0.5]])
    assert "time in seconds since 2024-05-31 1" in capsys.readouterr().err
    frame = pd.DataFrame(
        {"object": "a", "time": pd.to_datetime(stamps, format="ISO8601"), "x": 1.0}
    )
    np.testing.assert_array_equal(read(frame, quiet=True).times, [[0, 0.5]])
    with pytest.raises(BadInput, match="dates as times, which are seconds already: leave fps out"):
        read(frame, fps=25)


@pytest.mark.parametrize(
    "names",
    [
        ["x_0", "y_0", "x_1", "y_1"],
        ["x0", "y0", "x1", "y1"],
        ["0_x", "0_y", "1_x", "1_y"],
        ["X 0", "Y 0", "X 1", "Y 1"],
        ["x_0", "x_1", "y_0", "y_1"],
    ],
)
def test_wide_tables_have_columns_for_each_object(text, names, capsys):
    order = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    columns = {}
    for name in names:
        offset = 10 if "1" in name else 0
        columns[name] = np.array(order["x" if "x" in name.lower() else "y"]) + offset
    data = text(pd.DataFrame({"time": [0.0, 0.5], **columns}).to_csv(index=False))
    assert data.object_names == (("0", "1"),)
    np.testing.assert_array_equal(data.times, [[0, 0.5]])
    np.testing.assert_array_equal(data.values[0, :, 1], [[11, 13], [12, 14]])
    assert "read columns of 2 objects side by side" in capsys.readouterr().err


def test_a_wide_table_without_times_counts_rows(text, capsys):
    data = text("fish1_x,fish1_y,fish2_x,fish2_y\n1,2,3,4\n5,6,,8\n", fps=10)
    np.testing.assert_array_equal(data.times, [[0, 0.1]])
    assert data.object_names == (("fish1", "fish2"),)
    np.testing.assert_array_equal(data.values[0, 1], [[5, 6], [NAN, 8]])
    assert "rows as frames" in capsys.readouterr().err


def test_errors_in_wide_tables_name_line_and_column(text):
    with pytest.raises(BadInput, match=r"mine.csv, line 3: column 'y_1' holds 'up', which is not"):
        text("time,x_0,y_0,x_1,y_1\n0,1,2,3,4\n1,1,2,3,up\n")
    with pytest.raises(BadInput, match=r"has a column y for object '0' but none for '1'"):
        text("time,x_0,y_0,x_1\n0,1,2,3\n1,1,2,3\n")


@pytest.mark.parametrize("shape", [(5, 3, 2), (4, 5, 3, 2), (5, 2), (5, 3, 4)])
def test_arrays_are_time_object_position(shape, tmp_path):
    array = np.random.default_rng(0).normal(size=shape)
    data = read(array, fps=2)
    assert data.values.shape == (1,) * (4 - len(shape)) + shape if len(shape) > 2 else True
    np.testing.assert_array_equal(data.values.ravel(), array.ravel())
    np.testing.assert_array_equal(data.times[0], np.arange(5) / 2)
    np.save(tmp_path / "mine.npy", array)
    np.testing.assert_array_equal(read(tmp_path / "mine.npy").values, data.values)
    np.testing.assert_array_equal(read(array, time=[0, 1, 3, 4, 9]).times[0], [0, 1, 3, 4, 9])


def test_an_array_of_another_shape_is_refused():
    with pytest.raises(
        BadInput, match=r"the array has shape \(5, 3, 7\): give \(time, object, 2\)"
    ):
        read(np.zeros((5, 3, 7)))


def test_what_idtracker_ai_writes_is_read(tmp_path):
    positions = np.random.default_rng(0).normal(size=(6, 3, 2))
    content = {"trajectories": positions, "frames_per_second": 30, "setup_points": {}}
    np.testing.assert_array_equal(read(content).times[0], np.arange(6) / 30)
    np.savez(tmp_path / "session.npz", trajectories=positions, frames_per_second=30)
    np.testing.assert_array_equal(read(tmp_path / "session.npz").values[0], positions)
    np.save(tmp_path / "trajectories.npy", np.array(content, dtype=object), allow_pickle=True)
    with pytest.raises(BadInput, match=r"holds Python objects.*could run code.*export it as .csv"):
        read(tmp_path / "trajectories.npy")


def test_the_files_trex_writes_for_each_animal_become_one_recording(tmp_path):
    for fish in (0, 1):
        x = np.arange(4.0) + 10 * fish
        x[2] = np.inf
        columns = {"X#wcentroid": x, "Y#wcentroid": x + 1, "time": np.arange(4) / 25}
        np.savez(tmp_path / f"tank_fish{fish}.npz", **columns, missing=np.isinf(x), fps=[25.0])
    data = read(tmp_path, quiet=True)
    assert data.object_names == (("fish0", "fish1"),)
    np.testing.assert_array_equal(data.values[0, :, 1, 0], [10, 11, NAN, 13])
    np.testing.assert_array_equal(data.times[0], np.arange(4) / 25)


def test_a_folder_holds_a_recording_in_each_file(tmp_path, capsys):
    folder = tmp_path / "peds"
    folder.mkdir()
    for name, count in (("scene10", 3), ("scene2", 2)):
        rows = [(n, a, n + a, n * a) for n in range(4) for a in range(count)]
        content = "\n".join("\t".join(map(str, row)) for row in rows)
        (folder / f"{name}.txt").write_text(content)
    data = read(folder, fps=2.5)
    assert data.sequence_names == ("scene2", "scene10")
    assert data.object_names == (("0", "1", ""), ("0", "1", "2"))
    assert capsys.readouterr().err == "note: every file has no header: read as time, object, x, y\n"
    files = [folder / "scene10.txt", folder / "scene2.txt"]
    np.testing.assert_array_equal(read(files, fps=2.5, quiet=True).values, data.values)


def test_files_of_different_kinds_are_not_joined(tmp_path):
    (tmp_path / "a.csv").write_text("object,time,x\n1,0,1\n1,1,2\n")
    (tmp_path / "b.csv").write_text("object,time,x,y\n1,0,1,1\n1,1,2,2\n")
    with pytest.raises(BadInput, match="b has x, y where a has x: give all files the same columns"):
        read(tmp_path)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_parquet_and_netcdf_are_read_alike(make, peds, assert_same, tmp_path):
    named = {"time": PEDS["frame"], "object": PEDS["id"], "x": PEDS["x"], "y": PEDS["y"]}
    assert_same(read(make(named)), peds)
    parquet.write_table(pa.table(named), tmp_path / "mine.parquet")
    assert_same(read(tmp_path / "mine.parquet"), peds)
    cm.write(peds, tmp_path / "mine.nc")
    assert_same(read(tmp_path / "mine.nc"), peds)
    assert_same(read(peds), peds)
    assert_same(read(peds.to_xarray()), peds)


@pytest.mark.parametrize(
    "labels", [["a", "b"], ["1.0", "2.0"], [1.5, 2.5], ["é 1", "x,y"], [True, False]]
)
def test_ids_may_be_of_any_kind(labels):
    frame = pd.DataFrame({"time": [0, 1, 0, 1], "x": 1.0, "object": np.repeat(labels, 2)})
    names = read(frame).object_names[0]
    expected = {"1.0": "1", "2.0": "2", True: "true", False: "false"}
    assert set(names) == {str(expected.get(label, label)) for label in labels}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"object": "who"}, "the frame has no column 'who': it has frame, id, x, y; choose one"),
        ({"columns": {"colour": "x"}}, "columns names the part 'colour': the parts are sequence"),
        ({"fps": 0}, "fps is 0: give the number of frames a second, above 0"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(options, sentence):
    with pytest.raises(BadInput, match=sentence):
        read(pd.DataFrame(PEDS), **options)
