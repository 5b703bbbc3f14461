import dataclasses
import json

import numpy as np
from PIL import Image

from comotion import load
from comotion.cli import main
from comotion.cli.demo import MARKER, QUICK_DATA, RESULTS, RUN, clear_folder
from comotion.cli.output import as_json
from comotion.scoring.held_out import held_out_skill
from comotion.simulate import bouncing_balls


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
    assert set(written.pop("seconds")) == {"simulate", "fit", "forecast and score", "draw"}
    fitted = load(demo / "model.safetensors")
    assert written == json.loads(as_json(dataclasses.asdict(fitted.findings)))
    names = {rival.name for rival in fitted.findings.skill.rivals}
    assert names == {"climatology", "constant velocity", "Kalman filter"}
    data = bouncing_balls(**QUICK_DATA)
    train, _, test = data.split(*[len(data) // 3] * 3)
    again = held_out_skill(fitted, test, train)
    np.testing.assert_allclose(again.crps, written["skill"]["crps"], rtol=1e-6)
    assert len(again.lead) == (QUICK_DATA["frames"] - fitted.config.system.frames_seen) // 2


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
