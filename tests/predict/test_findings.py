"""A model says in a sentence how far its forecasts can be trusted, and what it learned."""

import dataclasses

import numpy as np
import pytest

import comotion as cm
from comotion.predict.findings import Findings, Rival, Skill


@pytest.fixture
def skill() -> Skill:
    return Skill(
        origins=12,
        lead=(0.1, 0.2, 0.3, 0.4),
        crps=(1.0, 1.0, 1.5, 3.0),
        coverage_50=(0.5, 0.5, 0.5, 0.5),
        coverage_90=(0.9, 0.9, 0.86, 0.9),
        rivals=(
            Rival("climatology", (2.0, 2.0, 2.0, 2.0), 0.2, 0.1, 0.3),
            Rival("constant velocity", (0.5, 2.0, 3.0, 5.0), 0.3, 0.2, 0.4),
            Rival("Kalman filter", (0.5, 1.0, 2.0, 3.0), 0.01, -0.05, 0.07),
        ),
    )


def test_bands_that_were_set_on_the_same_frames_are_not_given_out_as_a_proof(skill):
    same = dataclasses.replace(skill, bands_measured_here=True)
    assert same.sentence.endswith("90 % bands, whose width was set on the same frames.")


def test_a_sentence_says_until_when_it_is_useful_and_what_it_beats(skill):
    assert skill.sentence == (
        "Useful until about 0.3; beats a straight line from 0.2 on; 89% of the truth in the 90 % "
        "bands."
    )
    bad = dataclasses.replace(skill, crps=(9.0, 9.0, 9.0, 9.0))
    assert bad.sentence.startswith(
        "Not better than the average of the data at any lead; beats a straight line at no lead; "
    )
    good = dataclasses.replace(skill, crps=(0.1, 0.1, 0.1, 9.0))
    assert "beats a straight line from 0.1 to 0.3" in good.sentence


def test_skill_stands_beside_the_rivals_lead_by_lead(skill):
    head, first, second = (line.split() for line in skill.table.splitlines())
    assert head[-4:] == ["90", "%", "band", "holds"]
    assert first == ["1", "0.1", "0.50", "0.75", "0.75", "90%"]
    assert second == ["2", "0.2", "0.50", "0.00", "0.50", "90%"]


def test_a_warning_names_whom_it_does_not_clearly_beat(skill):
    (warning,) = skill.warnings
    assert "not clearly better than a Kalman filter: it saves 1% of its error" in warning
    assert "95 % interval -5% to 7%" in warning
    assert warning in str(skill)
    unknown = dataclasses.replace(skill.rivals[2], low=np.nan, high=np.nan)
    told = dataclasses.replace(skill, rivals=(*skill.rivals[:2], unknown)).warnings[0]
    assert "from too few frames to say how sure that is" in told


def test_a_warning_says_when_bands_hold_another_share_than_chance_explains(skill):
    def told(*held: float, **changes) -> list[str]:
        return dataclasses.replace(skill, rivals=(), held_90=held, **changes).warnings

    assert told() == told(0.86, 0.8, 0.92) == []
    assert told(0.78, 0.7, 0.86, bands_measured_here=True) == []
    (narrow,), (wide,) = told(0.78, 0.7, 0.86), told(0.97, 0.92, 1.02)
    assert narrow == (
        "warning: the 90 % bands hold 78% of held-out frames, 95 % interval 70% to 86%: "
        "too narrow to be chance; read them as bands of 78%"
    )
    assert "interval 92% to 100%: too wide to be chance" in wide


def test_nothing_held_out_is_said_so():
    assert str(Skill()) == "Nothing was held out, so nobody knows how good its forecasts are."


def test_findings_are_kept_in_the_model_file_and_stand_in_its_repr(fitted, skill, tmp_path):
    found = Findings(skill, "two objects repel below 2.4", ("sequences 2",))
    told = dataclasses.replace(fitted, findings=found)
    told.save(tmp_path / "model.safetensors")
    again = cm.load(tmp_path / "model.safetensors")
    assert again.findings == found
    assert repr(again).endswith("bands. Learned: two objects repel below 2.4.)")
    assert "\n" not in repr(again)
    assert "<pre>frames ahead" in again._repr_html_()
    assert repr(fitted).endswith("0.5 apart)")
