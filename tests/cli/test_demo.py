import dataclasses
import json

import numpy as np
import scoringrules
from PIL import Image

from comotion import load
from comotion.cli import main
from comotion.cli.demo import MARKER, RESULTS, RUN, clear_folder
from comotion.cli.output import as_json
from comotion.data import read


def test_the_demo_leaves_model_scores_pictures_and_a_page(demo):
    assert {path.name for path in demo.iterdir()} == {MARKER, *RUN, *RESULTS}
    page = (demo / "report.html").read_text()
    summary = page[page.index('<p class="summary">') :]
    assert summary.index("of the truth in the 90 % bands.") < summary.index("moments of the frames")
    assert "Learned: " in summary[: summary.index("</p>")]
    assert "<dt>system</dt><dd>comotion</dd>" in page
    with Image.open(demo / "forecast.gif") as animation:
        assert getattr(animation, "n_frames", 1) == 30


def test_it_is_judged_as_a_fit_judges_itself_on_frames_that_were_forecast(demo):
    written = json.loads((demo / "scores.json").read_text())
    assert set(written.pop("seconds")) == {"simulate", "fit", "forecast", "score", "draw"}
    fitted = load(demo / "model.safetensors")
    assert written == json.loads(as_json(dataclasses.asdict(fitted.findings)))
    names = {rival.name for rival in fitted.findings.skill.rivals}
    assert names == {"climatology", "constant velocity", "Kalman filter"}
    test = read(demo / "test.csv")
    truth = test.values[:, 5:, :, :2]
    draws = fitted.predict(test, draws=10)["observation"].values[:, :, 5:, :, :2]
    scores = scoringrules.crps_ensemble(truth, draws, m_axis=0, estimator="fair")
    by_lead = np.mean(np.asarray(scores), axis=(0, 2, 3))
    np.testing.assert_allclose(written["skill"]["crps"], by_lead, rtol=1e-4)


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
