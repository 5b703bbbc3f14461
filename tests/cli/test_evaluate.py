import json

import pytest

from comotion import load
from comotion.cli import main
from comotion.data import read
from comotion.reproduce.conventions import paper_scores
from comotion.scoring import Protocol, evaluate


@pytest.fixture(scope="module")
def scores(demo):
    data = read(demo / "test.csv")
    forecast = load(demo / "model.safetensors").predict(data, draws=10, seed=1)
    return paper_scores(forecast, data, by_lead=True)


def test_a_model_is_scored_at_rolling_origins_as_in_python(demo, capsys):
    data, model = read(demo / "test.csv"), load(demo / "model.safetensors")
    protocol = Protocol(5, 4, seen_share=0.5, most_origins=300)
    found = evaluate(model, data, protocol=protocol, draws=10, seed=1)
    words = ["evaluate", str(demo), str(demo / "test.csv"), "--draws", "10", "--seed", "1"]
    words += ["--horizon", "4"]
    assert main([*words, "--table"]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{found}\n\n{found.table}\n"
    assert [line.split(":")[0] for line in printed.splitlines()[:5]] == [
        "skill",
        "error",
        "bands",
        "useful",
        "from",
    ]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_dict()))


def test_the_scores_of_the_paper_remain(demo, scores, capsys):
    words = ["evaluate", str(demo), str(demo / "test.csv"), "--draws", "10", "--seed", "1"]
    words += ["--paper"]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{scores}\n"
    assert main([*words, "--json", "--by-lead"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == json.loads(json.dumps(scores.to_dict()))
    assert err == ""


def test_a_forecast_file_gives_the_scores_of_its_model(demo, scores, tmp_path, capsys):
    data, forecast = str(demo / "test.csv"), str(tmp_path / "forecast.nc")
    predict = ["predict", str(demo), data, "--draws", "10", "--seed", "1", "--out", forecast]
    assert main(predict) == 0
    capsys.readouterr()
    assert main(["evaluate", forecast, data, "--paper"]) == 0
    assert capsys.readouterr().out == f"{scores}\n"
    assert main(["evaluate", forecast, data]) == 0
    assert capsys.readouterr().out.startswith("skill:")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_forecast_in_a_table_is_scored_almost_like_its_draws(ending, demo, tmp_path, capsys):
    data, model = read(demo / "test.csv"), load(demo)
    forecast = model.predict(data, draws=200, seed=1)
    file = tmp_path / f"forecast.{ending}"
    forecast.save(file)
    assert main(["evaluate", str(file), str(demo / "test.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["scores"]["forecast"]
    exact = forecast.score(data)
    for measure, tolerance in {"crps": 0.05, "ade": 0.1, "coverage_90": 1e-9}.items():
        assert found[measure] == pytest.approx(exact[measure], rel=tolerance), measure
    assert main(["evaluate", str(file), str(demo / "test.csv"), "--paper"]) == 2
    assert "has no draws, which --paper needs; write a .nc file" in capsys.readouterr().err
    assert main(["evaluate", str(demo / "test.csv"), str(demo / "test.csv")]) == 2
    assert "there is no column 'feature', so this is no forecast" in capsys.readouterr().err


def test_by_lead_adds_a_table_of_a_few_lead_times(demo, scores, capsys):
    words = ["evaluate", str(demo), str(demo / "test.csv"), "--draws", "10", "--seed", "1"]
    assert main([*words, "--paper", "--by-lead"]) == 0
    table = capsys.readouterr().out.removeprefix(f"{scores}\n").splitlines()
    rows = [line.split() for line in table if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2", "5", "10", "20"]
    ten = scores.by_lead.isel(frame=scores.encoder_frames - 1 + 10)
    assert float(rows[3][1]) == float(ten["lead"]) == 5.0
    assert rows[3][2] == f"{float(ten['mse_mean_table'].sel(row='model')):.3f}"
    assert rows[3][3] == f"{float(ten['skill_crps'].sel(row='model')):.3f}"
    assert rows[3][5] == f"{float(ten['coverage_90'].sel(row='model')):.3f}"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{folder}/none.nc", "{data}"], "none.nc: there is no such file; check the path"),
        (["{broken}", "{data}"], "broken.nc cannot be read as NetCDF-4"),
        (["{broken}", "{data}", "--draws", "9"], "has its draws already; leave --draws and --seed"),
        (["{broken}", "{data}", "--seen", "9"], "is made already; leave --seen and --horizon out"),
        (["{model}", "{data}", "--by-lead"], "--by-lead is for --paper"),
        (["{model}", "{data}", "--horizon", "999"], "to forecast need 1004; ask for fewer"),
        (["{other}", "{data}"], "there is no forecast in this file; make one with `predict`"),
        (["{model}", "{data}", "--draws", "1"], "The forecast has one draw; scores need at least"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_sentence(words, sentence, demo, tmp_path, capsys):
    (tmp_path / "broken.nc").write_text("no NetCDF")
    read(demo / "test.csv").to_xarray().to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    places = {
        "model": demo,
        "data": demo / "test.csv",
        "folder": tmp_path,
        "broken": tmp_path / "broken.nc",
        "other": tmp_path / "other.nc",
    }
    assert main(["evaluate", *(word.format(**places) for word in words)]) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith("comotion: ")
    assert sentence in stderr
    assert stderr.count("\n") == 1
