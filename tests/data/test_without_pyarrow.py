"""Parquet is an extra: all else works, and gives the same, where pyarrow is not installed."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from comotion.data import read
from comotion.data.units import UNKNOWN

CSV = """sequence,object,time,x,y
a,2,2024-05-31T12:00:00Z,1,2
a,10,2024-05-31T12:00:00Z,3,
a,2,2024-05-31T12:00:01.5Z,5,6
"""


def without_pyarrow(folder: Path, program: str) -> str:
    """What a program prints that cannot import pyarrow."""
    program = f"import sys; sys.modules['pyarrow'] = None\nimport comotion as cm\n{program}"
    words = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_text_netcdf_and_frames_need_no_pyarrow(tmp_path, assert_same):
    (tmp_path / "mine.csv").write_text(CSV)
    told = without_pyarrow(
        tmp_path,
        "data = cm.read('mine.csv')\n"
        "cm.write(data, 'again.csv'); cm.write(data, 'mine.nc')\n"
        "cm.write(cm.read(cm.to_frame(data)), 'pandas.csv')\n"
        "cm.write(cm.read(cm.to_frame(data, 'polars')), 'polars.csv')\n"
        "print(type(cm.to_frame(data)).__module__)",
    )
    assert told.startswith("pandas")
    data = read(tmp_path / "mine.csv", quiet=True)
    assert_same(read(tmp_path / "mine.nc"), data)
    plain = dataclasses.replace(data, units=UNKNOWN)  # headings of tables are plain names
    for name in ("again.csv", "pandas.csv", "polars.csv"):
        assert_same(read(tmp_path / name), plain)


def test_pyarrow_is_not_touched_where_it_is_not_asked_for(tmp_path):
    (tmp_path / "mine.csv").write_text("object,time,x\na,0,1\na,1,2\n")
    program = (
        "import sys, comotion as cm\n"
        "cm.write(cm.read('mine.csv'), 'again.csv')\n"
        "print([name for name in ('pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "program", ["cm.read('mine.parquet')", "cm.write(cm.read([[[0.0]], [[1.0]]]), 'mine.parquet')"]
)
def test_parquet_says_what_to_install(tmp_path, program):
    (tmp_path / "mine.parquet").touch()
    told = without_pyarrow(tmp_path, f"try: {program}\nexcept cm.BadInput as error: print(error)")
    assert told == "Parquet files need pyarrow: pip install 'comotion[parquet]', or use .csv.\n"


def test_arrow_frames_say_what_to_install(tmp_path):
    told = without_pyarrow(
        tmp_path,
        "data = cm.read([[[0.0]], [[1.0]]])\n"
        "try: cm.to_frame(data, 'pyarrow')\nexcept cm.BadInput as error: print(error)",
    )
    assert told.startswith("pyarrow frames cannot be made here: install pyarrow, or choose pandas")
