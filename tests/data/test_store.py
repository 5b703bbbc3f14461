import os
from dataclasses import replace

import h5netcdf
import numpy as np
import pytest

from comotion.backend.disk import replacing
from comotion.data import BadInput, Trajectories, read, write
from comotion.data.store import from_xarray, load, save

SEEDS = range(12)


@pytest.fixture
def small() -> Trajectories:
    return Trajectories.from_arrays(np.random.default_rng(0).normal(size=(2, 4, 3, 2)))


@pytest.mark.parametrize("seed", SEEDS)
def test_netcdf_gives_back_everything_bit_for_bit(tmp_path, with_graph, assert_same, seed):
    data = with_graph(seed)
    save(data, tmp_path / "data.nc")
    assert_same(load(tmp_path / "data.nc"), data)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_give_back_everything_but_the_graph_bit_for_bit(
    tmp_path, random_trajectories, assert_same, seed, suffix
):
    data = random_trajectories(seed)
    write(data, tmp_path / f"data{suffix}")
    extra = ["heading"] if "heading" in data.features else []
    assert_same(read(tmp_path / f"data{suffix}", extra=extra), data)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_frames_and_objects_without_any_value_survive_a_table(tmp_path, assert_same, suffix):
    values = np.random.default_rng(0).normal(size=(1, 4, 2, 1))
    values[0, 2] = values[0, :, 1] = np.nan
    data = Trajectories.from_arrays(values, object_names=[["0", "1"]])
    write(data, tmp_path / f"data{suffix}")
    assert_same(read(tmp_path / f"data{suffix}"), data)


def test_xarray_round_trip(random_trajectories, assert_same):
    data = random_trajectories(3)
    assert_same(from_xarray(data.to_xarray()), data)


def test_csv_is_plain_to_read(tmp_path):
    values = np.array([[[[0.1, 2.0]], [[np.nan, 4.0]]]])
    data = Trajectories.from_arrays(values, static=[[3.0]], static_names=["mass"])
    write(data, tmp_path / "data.csv")
    text = (tmp_path / "data.csv").read_text()
    assert text == "sequence,object,time,x,y,static_mass\n0,0,0,0.1,2,3\n0,0,1,,4,3\n"


def test_a_table_refuses_a_graph(tmp_path, small):
    sparse = replace(small, graph=np.zeros_like(small.neighbours))
    with pytest.raises(BadInput, match="A table cannot hold a graph of neighbours: write a"):
        write(sparse, tmp_path / "data.csv")


def test_a_table_refuses_sequences_of_the_same_name(tmp_path, small):
    with pytest.raises(BadInput, match="Two sequences share a name: make the names different"):
        write(small[[0, 0]], tmp_path / "data.csv")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".nc"])
def test_writing_leaves_nothing_but_the_file(tmp_path, small, suffix):
    for _ in range(2):
        write(small, tmp_path / f"data{suffix}")
    assert os.listdir(tmp_path) == [f"data{suffix}"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    target = tmp_path / "data.csv"
    target.write_text("old")

    def write_half() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half of the new")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        write_half()
    assert os.listdir(tmp_path) == ["data.csv"]
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("data.nc", "cannot be read as NetCDF-4"), ("data.parquet", "cannot be read as Parquet")],
)
@pytest.mark.parametrize("content", [b"", b"garbage" * 100])
def test_garbled_files_are_refused(tmp_path, name, reason, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=rf"{name} {reason} \(.*\): check or make it again."):
        read(tmp_path / name)


@pytest.mark.parametrize("suffix", [".nc", ".parquet"])
def test_truncated_files_are_refused(tmp_path, small, suffix):
    path = tmp_path / f"data{suffix}"
    write(small, path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(BadInput, match="cannot be read as"):
        read(path)


def test_a_flipped_bit_in_the_values_of_a_parquet_file_is_found(tmp_path, small):
    path = tmp_path / "data.parquet"
    write(small, path)
    content = bytearray(path.read_bytes())
    content[content.find(small.values[0, 0, 0, 0].tobytes())] ^= 8
    path.write_bytes(bytes(content))
    with pytest.raises(BadInput, match=r"data\.parquet cannot be read as Parquet"):
        read(path)


def test_a_netcdf_file_of_something_else_is_refused(tmp_path):
    with h5netcdf.File(tmp_path / "other.nc", "w") as file:
        file.dimensions = {"n": 2}
        file.create_variable("temperature", ("n",), float)
    with pytest.raises(BadInput, match=r"other.nc holds no trajectories .*values.*: make such a"):
        read(tmp_path / "other.nc")


def test_paths_that_cannot_be_used_are_named(tmp_path, small):
    with pytest.raises(BadInput, match=r"none.csv does not exist: check the path"):
        read(tmp_path / "none.csv")
    with pytest.raises(BadInput, match=r"is a folder without data: put .csv, .txt"):
        read(tmp_path)
    (tmp_path / "data.xlsx").touch()
    with pytest.raises(BadInput, match=r"data.xlsx ends with '.xlsx': use one of .csv, .txt"):
        read(tmp_path / "data.xlsx")
    with pytest.raises(BadInput, match="data ends with 'nothing': use one of"):
        write(small, tmp_path / "data")
    with pytest.raises(BadInput, match="does not exist: make it before writing there"):
        write(small, tmp_path / "nowhere" / "data.nc")
