import json

from PIL import Image

from comotion import load
from comotion.cli import main
from comotion.cli.demo import MARKER, RESULTS, RUN, clear_folder
from comotion.data import read
from comotion.reproduce.conventions import paper_scores


def test_the_demo_leaves_model_scores_pictures_and_a_page(demo):
    assert {path.name for path in demo.iterdir()} == {MARKER, *RUN, *RESULTS}
    page = (demo / "report.html").read_text()
    assert page.count("<img ") == 6
    summary = page[page.index('<p class="summary">') :]
    assert summary.index("of the truth in the 90 % bands.") < summary.index("Scores")
    assert "Learned: " in summary[: summary.index("</p>")]
    assert "<dt>system</dt><dd>comotion</dd>" in page
    with Image.open(demo / "forecast.gif") as animation:
        assert getattr(animation, "n_frames", 1) == 30


def test_the_scores_are_those_of_its_model_on_its_test_data(demo):
    written = json.loads((demo / "scores.json").read_text())
    data = read(demo / "test.csv")
    forecast = load(demo / "model.safetensors").predict(data, draws=10)
    again = paper_scores(forecast, data, by_lead=True).to_dict()
    assert set(written.pop("seconds")) == {"simulate", "fit", "forecast", "score", "draw"}
    assert written == json.loads(json.dumps(again))


def test_a_demo_is_replaced_and_other_files_beside_it_are_kept(tmp_path):
    out = tmp_path / "demo"
    clear_folder(out)
    (out / "scores.json").write_text("old")
    (out / "checkpoint").mkdir()
    (out / "notes.txt").write_text("mine")
    clear_folder(out)
    assert {path.name for path in out.iterdir()} == {MARKER, "notes.txt"}


def test_a_folder_with_something_else_is_refused(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "notes.txt"):
        assert main(["demo", "--quick", "--out", str(place)]) == 2
        err = capsys.readouterr().err
        assert err == f"comotion: --out {place} holds something else than a demo; choose " + (
            "another folder\n"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
