import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
import xarray as xr

from comotion import load
from comotion.cli import main
from comotion.cli.predict import parse_times
from comotion.data import read
from comotion.errors import BadInput
from comotion.predict.files import read_forecast


@pytest.fixture(scope="module")
def forecast(demo) -> xr.Dataset:
    return (
        load(demo / "model.safetensors").predict(read(demo / "test.csv"), draws=10, seed=3).dataset
    )


def predict(demo, out, *words) -> int:
    model, data = str(demo), str(demo / "test.csv")
    return main(["predict", model, data, "--draws", "10", "--seed", "3", "--out", str(out), *words])


def test_a_netcdf_file_keeps_every_draw(demo, forecast, tmp_path, capsys):
    out = tmp_path / "forecast.nc"
    assert predict(demo, out) == 0
    xr.testing.assert_equal(read_forecast(out), forecast)
    assert read_forecast(out).attrs == forecast.attrs
    stdout, stderr = capsys.readouterr()
    assert stdout.startswith(f"wrote {out}: 10 draws of 6 sequences\n")
    assert f"next: comotion evaluate {out} " in stdout
    assert stderr == ""
    assert list(tmp_path.iterdir()) == [out]


def test_a_model_file_gives_the_same_as_its_folder(demo, forecast, tmp_path):
    out = tmp_path / "forecast.nc"
    words = ["--draws", "10", "--seed", "3", "--out", str(out)]
    assert main(["predict", str(demo / "model.safetensors"), str(demo / "test.csv"), *words]) == 0
    xr.testing.assert_equal(read_forecast(out), forecast)


def test_a_forecast_of_the_same_name_is_kept_beside_the_new_one(demo, tmp_path):
    for seed in ("1", "2"):
        assert predict(demo, tmp_path / "f.csv", "--seed", seed) == 0
    first, second = ((tmp_path / name).read_text() for name in ("f-1.csv", "f.csv"))
    assert first != second
    assert predict(demo, tmp_path / "f.csv", "--seed", "1", "--overwrite") == 0
    assert (tmp_path / "f.csv").read_text() == first


def test_a_table_sums_the_draws_up(demo, forecast, tmp_path):
    for ending in ("csv", "parquet"):
        assert predict(demo, tmp_path / f"forecast.{ending}") == 0
    table = pyarrow.csv.read_csv(tmp_path / "forecast.csv").to_pandas()
    exact = pyarrow.parquet.read_table(tmp_path / "forecast.parquet").to_pandas()
    assert list(table.columns) == list(exact.columns)
    columns = ["sequence", "object", "time", "lead", "feature", "mean", "sd"]
    assert list(table.columns)[:7] == columns
    np.testing.assert_allclose(table["mean"], exact["mean"])
    assert len(table) == forecast["observation"].isel(draw=0).size
    sequence = forecast["sequence"].values[4]
    row = exact[
        (exact["sequence"] == sequence) & (exact["object"] == "2") & (exact["feature"] == "vy")
    ].iloc[7]
    draws = forecast["observation"].sel(feature="vy").isel(sequence=4, object=2, time=7).values
    assert row["time"] == forecast["t"].values[4, 7]
    np.testing.assert_allclose(row["mean"], draws.mean(), rtol=1e-5)
    np.testing.assert_allclose(row["sd"], draws.std(), rtol=1e-4)
    np.testing.assert_allclose(row["q05"], np.quantile(draws, 0.05, method="weibull"), rtol=1e-5)
    np.testing.assert_allclose(row["q975"], np.quantile(draws, 0.975, method="weibull"), rtol=1e-5)


def test_times_may_lie_beyond_the_data(demo, tmp_path, capsys):
    out = tmp_path / "later.nc"
    assert predict(demo, out, "--times", "10:20:2.5") == 0
    times = read_forecast(out)["t"].values
    np.testing.assert_array_equal(times, np.tile([10.0, 12.5, 15.0, 17.5, 20.0], (6, 1)))
    assert "evaluate" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("0:1:0.25", [0, 0.25, 0.5, 0.75, 1]),
        ("0:0.3:0.1", [0, 0.1, 0.2, 0.3]),
        ("1:2:0.6", [1, 1.6]),
        ("5:5:1", [5]),
        ("3,1.5", [3, 1.5]),
        ("7", [7]),
    ],
)
def test_times_are_ranges_with_their_end_or_lists(text, times):
    np.testing.assert_allclose(parse_times(text), times)


@pytest.mark.parametrize("text", ["", "a", "1:2", "1:2:3:4", "1,2:3:4", "2:1:1", "0:1:0", "0:9:-1"])
def test_other_times_are_refused(text):
    with pytest.raises(BadInput, match=f"--times {text}: "):
        parse_times(text)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere", "{data}"], "nowhere: there is no such file; check the path"),
        (["{folder}", "{data}"], "there is no model.safetensors in this folder"),
        (["{data}", "{data}"], "damaged or not a comotion file"),
        (["{model}", "{data}", "--draws", "0"], "a forecast needs at least one draw, got draws=0"),
        (["{model}", "{data}", "--out", "f.txt"], "--out f.txt: give a name that ends in .nc"),
        (["{model}", "{data}", "--times=-1"], "asked for at time -1, but it starts at the first"),
        (["{model}", "{data}", "--times", "x"], "--times x: write FIRST:LAST:STEP such as"),
    ],
)
def test_impossible_forecasts_are_refused_in_one_sentence(
    words, sentence, demo, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    places = {"model": demo, "data": demo / "test.csv", "folder": tmp_path}
    assert main(["predict", *(word.format(**places) for word in words)]) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith("comotion: ")
    assert sentence in stderr
    assert stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_effect_of_leaving_objects_out_is_printed(demo, tmp_path, capsys):
    out = tmp_path / "without.nc"
    assert predict(demo, out, "--without", "2", "--paired") == 0
    stdout, _ = capsys.readouterr()
    assert stdout.startswith("Effect over 10 paired draws, mean and 90 % interval")
    changed = read_forecast(out)
    names = changed["object_name"].values[0].tolist()
    assert np.isnan(changed["trajectory"].isel(object=names.index("2")).values).all()
    base = read_forecast(tmp_path / "without-base.nc")
    with xr.open_dataset(tmp_path / "without-effect.nc", engine="h5netcdf") as difference:
        found = changed["trajectory"] - base["trajectory"]
        np.testing.assert_array_equal(difference["effect"].values, found.values)
    assert predict(demo, out, "--paired") == 2
    assert "--paired compares with a change" in capsys.readouterr().err
