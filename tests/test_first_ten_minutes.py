"""From a table nobody prepared to a forecast and its scores, by command and in Python."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import comotion as cm
from comotion.cli import main

TINY: dict[str, Any] = {
    "inducing_alone": 8,
    "inducing_pair": 8,
    "fourier_features": 8,
    "iterations": 4,
    "windows": 10,
    "calibration": 0,
}
DATA = os.environ.get("COMOTION_DATA")


def recording(name: str) -> Path:
    """A recording as it was published; none is kept here."""
    if DATA is None:
        pytest.skip("COMOTION_DATA names no folder with recordings")
    path = Path(DATA) / name
    if not path.is_file():
        pytest.skip(f"there is no {name} in COMOTION_DATA")
    return path


def wide_table(folder: Path) -> Path:
    """Columns side by side, a lost value, an index, and a column about something else."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(120, 6)) * 0.1 + rng.normal(size=6)
    frame = pd.DataFrame(steps.cumsum(axis=0), columns=["x_a", "y_a", "x_b", "y_b", "x_c", "y_c"])
    frame.insert(0, "t", np.arange(120) * 0.04)
    frame["weather"] = "sunny"
    frame.loc[50, "x_b"] = np.nan
    path = folder / "three animals.csv"
    frame.to_csv(path)
    return path


TABLES = {
    "hexbugs": (lambda folder: recording("hexbugs.csv"), ["--fps", "50"], 0.5),
    "pedestrians": (lambda folder: recording("ethucy/biwi_eth.txt"), ["--fps", "25"], 4.0),
    "wide": (wide_table, [], 0.4),
}


@pytest.mark.usefixtures("several_candidates")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", TABLES)
def test_by_commands(name, tmp_path, monkeypatch, capsys):
    make, reading, horizon = TABLES[name]
    table = str(make(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["validate", table, *reading]) == 0
    told = capsys.readouterr().out
    assert "a fit takes" in told
    assert "held out: the last 20% of the frames" in told
    parts = [word for part, value in TINY.items() for word in ("--set", f"{part}={value}")]
    assert main(["fit", table, *reading, *parts, "--out", "run"]) == 0
    told = capsys.readouterr().out
    assert "frames ahead" in told
    assert "Useful until" in told or "Not better than the average" in told
    assert Path("run/report.html").stat().st_size > 10_000
    last = cm.read(table, fps=float(reading[1]) if reading else None, quiet=True)
    origin = float(np.nanmax(last.times)) - 2 * horizon
    words = [table, *reading, "--draws", "10", "--horizon", str(horizon)]
    assert main(["predict", "run", *words, "--out", "future.csv"]) == 0
    assert main(["predict", "run", *words, "--origin", f"{origin}", "--out", "past.csv"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "past.csv", table, *reading]) == 0
    assert capsys.readouterr().out.startswith("skill:")
    future = pd.read_csv("future.csv")
    assert future["lead"].to_numpy().max() == pytest.approx(horizon, rel=0.1)
    assert np.all(future["q05"].to_numpy() < future["q95"].to_numpy())


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", TABLES)
def test_in_python(name, tmp_path):
    make, reading, horizon = TABLES[name]
    path = make(tmp_path)
    data = cm.read(path, fps=float(reading[1]) if reading else None, quiet=True).last(300)
    model = cm.fit(data, **TINY, progress=False)
    assert model.findings.sentence in repr(model)
    assert str(model.law)
    future = model.predict(data, horizon=horizon, draws=10)
    assert np.nanmin(future.times) > float(data.times[0, data.lengths[0] - 1]) - 1e-9
    told = future.quantile(0.9).to_frame()
    assert isinstance(told, pd.DataFrame)
    assert {"object", "time", "x", "y"} <= set(told.columns)
    page = model.report(tmp_path / "page.html", data)
    assert page.read_text().count("<h1>") >= 1


def test_the_ten_lines_of_the_readme_run_and_the_fit_again(tmp_path, monkeypatch, capsys):
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    code = readme.split("```python\n")[1].split("```")[0]
    small = code.replace("sequences=60", "sequences=8, frames=30")
    assert small != code
    fit = cm.fit
    tiny = TINY | {"regression": False, "progress": False}
    monkeypatch.setattr(cm, "fit", lambda *data, **options: fit(*data, **(tiny | options)))
    monkeypatch.chdir(tmp_path)
    for lines in (small, small.split("print(model)")[0]):
        exec(compile(lines, "README.md", "exec"), {})
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"runs", "future.png", "balls.html"}
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"balls", "balls-1"}
    assert "skill:" in capsys.readouterr().out
