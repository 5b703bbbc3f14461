"""Files that somebody else may have written, or that were damaged on the way."""

import h5netcdf
import numpy as np
import pytest
import xarray as xr

from comotion.backend import memory
from comotion.data import BadInput, Trajectories, netcdf
from comotion.data.netcdf import SEAL_LENGTH, open_netcdf
from comotion.data.store import load, save


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data.nc"
    save(Trajectories.from_arrays(np.random.default_rng(0).normal(size=(2, 4, 3, 2))), file)
    return file


@pytest.fixture
def foreign(path):
    """The same without our seal."""
    path.write_bytes(path.read_bytes()[:-SEAL_LENGTH])
    return path


def test_other_readers_take_no_notice_of_the_seal(path):
    with xr.open_dataset(path, engine="h5netcdf") as found:
        assert found.sizes["object"] == 3
    with h5netcdf.File(path) as file:
        assert "values" in file.variables


def test_a_flipped_bit_is_never_read_as_something_else(path):
    content = path.read_bytes()
    for position in np.random.default_rng(1).integers(len(content) - SEAL_LENGTH, size=300):
        changed = bytearray(content)
        changed[position] ^= 1 << int(position % 8)
        path.write_bytes(bytes(changed))
        with pytest.raises(BadInput, match=r"data\.nc cannot be read as NetCDF-4"):
            load(path)


def test_a_file_of_somebody_else_is_read_like_ours(path, assert_same):
    ours = load(path)
    path.write_bytes(path.read_bytes()[:-SEAL_LENGTH])
    assert_same(load(path), ours)


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        ("while True: pass", "reading it comes to no end"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it crashes the HDF5 library"),
        ("import sys; sys.exit('odd bytes')", "odd bytes"),
    ],
)
def test_a_file_that_hangs_or_crashes_the_library_is_refused(foreign, monkeypatch, trial, reason):
    monkeypatch.setattr(netcdf, "TRIAL", trial)
    monkeypatch.setattr(netcdf, "PATIENCE", 0.5)
    with pytest.raises(BadInput, match=rf"data\.nc cannot be read as NetCDF-4 \({reason}\)"):
        open_netcdf(foreign)


def test_a_file_larger_than_memory_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 100.0)
    with pytest.raises(BadInput, match=r"data\.nc takes 0\.0 MB of memory and 0\.0 MB are free"):
        open_netcdf(path)


def test_numbers_that_are_none_are_refused(tmp_path):
    words = np.full((1, 3, 1, 2), "far", dtype=object)
    odd = xr.Dataset(
        {
            "values": (("sequence", "time", "object", "feature"), words),
            "object_name": (("sequence", "object"), np.array([["a"]], dtype=object)),
        },
        {"t": (("sequence", "time"), np.arange(3.0)[None]), "sequence": ["0"]},
    ).assign_coords(feature=["x", "y"])
    netcdf.write_netcdf(odd, tmp_path / "odd.nc")
    with pytest.raises(BadInput, match=r"odd\.nc holds no trajectories"):
        load(tmp_path / "odd.nc")
