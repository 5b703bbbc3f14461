"""What the demo reached, in the words in which a fit tells it."""

from comotion.predict import FittedModel
from comotion.predict.findings import Findings, Rival, Skill
from comotion.reproduce.conventions import Scores


def sentence(fitted: FittedModel, scores: Scores) -> str:
    """Until when the forecasts are useful, what they beat, how much their bands hold."""
    assert scores.by_lead is not None
    ahead = scores.by_lead.isel(frame=slice(scores.encoder_frames, None))

    def line(measure: str, row: str) -> tuple[float, ...]:
        return tuple(ahead[measure].sel(row=row).values.tolist())

    def rival(row: str) -> Rival:
        gain = 1 - scores["crps_table"] / scores.rows[row]["crps_table"]
        return Rival(row, line("crps_table", row), gain, float("nan"), float("nan"))

    skill = Skill(
        origins=scores.sequences,
        lead=tuple(ahead["lead"].values.tolist()),
        crps=line("crps_table", "model"),
        coverage_50=line("coverage_50", "model"),
        coverage_90=line("coverage_90", "model"),
        rivals=(rival("climatology"), rival("constant velocity")),
    )
    return Findings(skill, fitted.law.headline).sentence
