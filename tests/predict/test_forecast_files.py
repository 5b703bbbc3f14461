"""Draws that go to a file as they are made: the same forecast, whatever memory holds."""

import dataclasses
import shutil

import numpy as np
import pytest
import xarray as xr

from comotion.backend import memory
from comotion.data import BadInput
from comotion.data.netcdf import open_netcdf
from comotion.predict import blocks
from comotion.predict import draws as drawing
from comotion.predict.stretch import Stretch


@pytest.fixture(scope="module")
def wider(fitted):
    """With bands that need all draws of a value to be put right."""
    return dataclasses.replace(fitted, stretch=Stretch((0.5, 3.0), (1.1, 2.0)))


@pytest.fixture
def little_memory(monkeypatch):
    """One draw on each device at a time, and few numbers of a forecast looked at together."""
    monkeypatch.setattr(drawing, "NUMBERS_TOGETHER", 1)
    monkeypatch.setattr(blocks, "NUMBERS_TOGETHER", 500)


def test_draws_in_a_file_are_those_in_memory(wider, make_walks, tmp_path, little_memory):
    data, path = make_walks(), tmp_path / "large.nc"
    whole = wider.predict(data, draws=9, seed=2)
    on_disk = wider.predict(data, draws=9, seed=2, out=path)
    assert [file.name for file in tmp_path.iterdir()] == ["large.nc"]
    for forecast in (on_disk.dataset, open_netcdf(path)):
        xr.testing.assert_equal(forecast, whole.dataset)
        assert forecast.attrs == whole.attrs
    for one, other in zip(on_disk.interval(0.8), whole.interval(0.8), strict=True):
        np.testing.assert_array_equal(one, other)
    for kind in ("csv", "nc"):
        on_disk.save(tmp_path / f"one.{kind}")
        whole.save(tmp_path / f"other.{kind}")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    xr.testing.assert_equal(open_netcdf(tmp_path / "one.nc"), whole.dataset)


def test_what_memory_does_not_hold_goes_to_a_file(wider, make_walks, tmp_path, monkeypatch):
    data, draws = make_walks(), 300  # 2.5 times 2 x 8 x 3 x 4 numbers of 4 bytes, for each draw
    monkeypatch.setattr(drawing, "NUMBERS_TOGETHER", 1)
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e5)
    with pytest.raises(BadInput, match=r"a forecast of 300 draws .*, out='NAME\.nc'$"):
        wider.predict(data, draws=draws)
    future = wider.predict(data, draws=draws, out=tmp_path / "large.nc")
    assert future.mean().shape == data.values.shape
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e3)
    with pytest.raises(BadInput, match=r"a forecast of 2 draws .* drawn at once: ask for fewer"):
        wider.predict(data, draws=draws, out=tmp_path / "larger.nc")


def test_a_full_disk_is_told_before_anything_is_drawn(wider, make_walks, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10_000))
    told = r"^large\.nc takes \d\.\d MB on the disk and 0\.0 MB are free; make room"
    with pytest.raises(BadInput, match=told):
        wider.predict(make_walks(), draws=900, out=tmp_path / "large.nc")
    assert list(tmp_path.iterdir()) == []


def test_a_forecast_that_is_stopped_leaves_the_file_of_an_earlier_one(wider, make_walks, tmp_path):
    data, path = make_walks(), tmp_path / "large.nc"
    earlier = wider.predict(data, draws=2, seed=1, out=path).load()

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wider.predict(data, draws=2, seed=2, on_draw=stop, out=path)
    assert list(tmp_path.iterdir()) == [path]
    xr.testing.assert_equal(open_netcdf(path), earlier)
    later = wider.predict(data, draws=2, seed=2, out=path)
    assert not np.array_equal(later["trajectory"], earlier["trajectory"])


def test_only_netcdf_holds_draws(fitted, make_walks, tmp_path):
    with pytest.raises(BadInput, match=r"out='draws\.csv': only \.nc files hold draws"):
        fitted.predict(make_walks(), draws=2, out="draws.csv")


@pytest.mark.parametrize("shape", [(7, 5, 9, 2, 2), (7, 1, 1, 1, 1), (600, 3, 4, 2, 1)])
def test_blocks_cover_everything_once_and_in_order(shape, monkeypatch):
    monkeypatch.setattr(blocks, "NUMBERS_TOGETHER", 500)
    cells = np.arange(shape[1] * shape[2]).reshape(shape[1:3])
    parts = [cells[p, n] for p, n in blocks.blocks(shape)]
    assert np.concatenate([part.ravel() for part in parts]).tolist() == cells.ravel().tolist()
    per_cell = shape[0] * shape[3] * shape[4]
    assert all(part.size == 1 or part.size * per_cell <= 500 for part in parts)
