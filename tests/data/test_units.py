"""What lengths and times are measured in: read off headings, kept, told, and not mixed."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from comotion.data import BadInput, Trajectories, describe, read, write
from comotion.data.units import Units
from comotion.systems import check_data, data_shape, system


def table(heading: str) -> pd.DataFrame:
    rows = "\n".join(f"{a},{n},{n + a},{n * a}" for a in range(2) for n in range(4))
    return pd.read_csv(StringIO(f"{heading}\n{rows}"))


@pytest.mark.parametrize(
    ("heading", "options", "expected"),
    [
        ("object,time,x,y", {}, Units()),
        ("object,time,x,y", {"unit": "mm"}, Units("mm", "")),
        ("object,time (s),x (cm),y (cm)", {}, Units("cm", "s")),
        ("id,Time [ms],Pos X [pixels],Pos Y [pixels]", {}, Units("px", "ms")),
        ("id,seconds,x_m,y_m", {}, Units("m", "s")),
        ("id,frame,x_cm,y_cm", {}, Units("cm", "frames")),
        ("id,frame,x_cm,y_cm", {"fps": 25}, Units("cm", "s")),
        ("id,frame,x (cm),y (m)", {}, Units("", "frames")),
    ],
)
def test_units_are_read_off_headings(heading, options, expected):
    assert read(table(heading), quiet=True, **options).units == expected


def test_arrays_count_frames_unless_their_rate_is_said():
    values = np.random.default_rng(0).normal(size=(5, 2, 2))
    assert read(values).units == Units("", "frames")
    assert read(values, fps=50, unit="m").units == Units("m", "s")


def test_names_of_objects_at_the_end_of_wide_headings_are_no_units():
    columns = ["cm_x", "cm_y", "mm_x", "mm_y"]
    data = read(pd.DataFrame(np.arange(16.0).reshape(4, 4), columns=columns), quiet=True)
    assert data.object_names == (("cm", "mm"),)
    assert data.units == Units("", "frames")


def test_an_ending_that_may_be_a_unit_is_told(capsys):
    read(table("id,seconds,x_m,y_m"))
    assert (
        "x_m, y_m end with 'm': lengths are in m (else: unit=…, --unit)" in capsys.readouterr().err
    )
    read(table("id,seconds,x_m,y_m"), unit="m")
    read(table("id,seconds,x (m),y (m)"))
    assert "end with" not in capsys.readouterr().err


def test_male_and_female_side_by_side_are_objects_and_not_metres():
    frame = table("x_m,y_m,x_f,y_f")
    for named in (frame, frame.assign(t=np.arange(8) * 0.5)):
        data = read(named, quiet=True)
        assert data.object_names == (("f", "m"),)
        assert data.units.length == ""
        np.testing.assert_array_equal(data.values[0, :, 1, 0], frame["x_m"])


def test_units_survive_cutting_and_files(tmp_path):
    data = read(table("object,seconds,x_cm,y_cm"), quiet=True)
    write(data, tmp_path / "data.nc")
    for same in (
        read(tmp_path / "data.nc"),
        data[0],
        data.last(3),
        data.without("1"),
        data.thin(2),
    ):
        assert same.units == Units("cm", "s")


def test_what_is_said_of_data_names_their_units():
    data = read(table("object,seconds,x_cm,y_cm"), quiet=True)
    assert repr(data) == "Trajectories(1 sequence, 4 frames, 2 objects, x (cm), y (cm))"
    told = str(describe(data))
    assert "regular, 1 apart, in s" in told
    assert "features    x (cm): 0 to 4" in told


def test_files_in_different_units_are_not_joined(tmp_path):
    for name, unit in (("a", "cm"), ("b", "m")):
        data = read(table(f"object,seconds,x_{unit},y_{unit}"), quiet=True)
        write(data, tmp_path / f"{name}.nc")
    with pytest.raises(BadInput, match=r"b is measured in m and s, a in cm and s: give all files"):
        read(tmp_path)


def test_a_model_refuses_other_units_but_not_unknown_ones():
    values = np.random.default_rng(0).normal(size=(1, 6, 2, 2))

    def in_units(*units: str) -> Trajectories:
        return Trajectories.from_arrays(values, units=Units(*units))

    shape, config = data_shape(in_units("cm", "s")), system("I-GPODE-S")
    check_data(config, shape, in_units())
    check_data(config, shape, in_units("cm", "s"))
    with pytest.raises(BadInput, match="fitted to data in cm, but these are in m"):
        check_data(config, shape, in_units("m", "s"))
    with pytest.raises(BadInput, match=r"but these are in frames: .*--fps"):
        check_data(config, shape, in_units("cm", "frames"))
    assert Units("cm", "s").rate(2) == "cm/s²"
    assert Units("m", "frames").rate(1) == "m/frame"
    assert Units().rate(2) == "length per time²"
