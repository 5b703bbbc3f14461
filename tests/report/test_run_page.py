"""The page of a fitted model begins with the answer and shows what it rests on."""

import dataclasses

import pytest

from comotion.config import replace
from comotion.predict.findings import Findings, Rival, Skill
from comotion.report.explorer import Explorer
from comotion.report.run_page import report, skill_by_lead


@pytest.fixture
def findings() -> Findings:
    rivals = (
        Rival("climatology", (2.0, 2.0), 0.2, 0.1, 0.3),
        Rival("constant velocity", (0.5, 2.0), 0.3, -0.2, 0.4),
    )
    skill = Skill(7, (0.5, 1.0), (1.0, 1.5), (0.5, 0.4), (0.9, 0.8), rivals=rivals)
    return Findings(skill, "two objects repel below 2.4", ("frames 20 in each sequence",))


def test_the_sentence_comes_first_then_the_moving_picture_and_the_evidence(
    fitted_balls, findings, tmp_path
):
    fitted, data = fitted_balls
    fitted = dataclasses.replace(fitted, findings=findings)
    page = report(fitted, tmp_path / "r.html", data, title="Balls <3").read_text()
    order = ["<h1>Balls &lt;3</h1>", "Useful until", "Learned: two objects repel below 2.4."]
    order += ["<iframe", "Skill at 7 moments", "not clearly better than a straight line"]
    order += ["Error and bands by lead time", "What an object does alone", "frames 20 in each"]
    order += ["to make it again"]
    places = [page.index(piece) for piece in order]
    assert places == sorted(places)


def test_a_system_the_page_cannot_run_is_shown_as_a_film(fitted_balls, tmp_path, monkeypatch):
    from comotion.errors import BadInput
    from comotion.report import run_page

    def refuse(*_args, **_options) -> Explorer:
        raise BadInput("cannot run")

    monkeypatch.setattr(run_page, "explore", refuse)
    fitted, data = fitted_balls
    page = report(fitted, tmp_path / "r.html", data).read_text()
    assert "Nothing was held out, so nobody knows" in page
    assert "<iframe" not in page
    assert "data:image/gif" in page


def test_what_is_no_part_of_the_model_has_no_picture(fitted_balls, tmp_path):
    fitted, _ = fitted_balls
    picture = "What another object does to it"
    assert picture in report(fitted, tmp_path / "whole.html").read_text()
    system = replace(fitted.config.system, pair="none")
    deaf = dataclasses.replace(fitted, config=dataclasses.replace(fitted.config, system=system))
    assert picture not in report(deaf, tmp_path / "deaf.html").read_text()


def test_lines_of_every_rival_stand_in_the_figure_and_no_legend_is_cut(findings):
    figure = skill_by_lead(findings.skill)
    error, bands = figure.axes
    assert len(error.lines) == 3
    assert len(bands.lines) == 4
    figure.canvas.draw()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.width
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "this model",
        "the average",
        "a straight line",
    ]
