"""What was tried, how well each forecasts held-out frames, and what was chosen."""

from dataclasses import dataclass, field

from comotion.identification.structures import Structure
from comotion.predict import FittedModel
from comotion.scoring import Evaluation
from comotion.scoring.resampling import ConfidenceInterval, paired_skill

STRAIGHT_LINE = "constant velocity"
STOPPED = "stopped by Ctrl-C"


@dataclass(frozen=True, eq=False)
class Trial:
    """A structure that was fitted, and its scores on held-out frames beside the references."""

    structure: Structure
    model: FittedModel
    evaluation: Evaluation
    gain: ConfidenceInterval | None
    """1 − CRPS / CRPS of the best structure before it; none for the first"""

    @property
    def crps(self) -> float:
        return self.evaluation["crps"]

    @property
    def helps(self) -> bool:
        """Whether it is better than what was there before, beyond chance."""
        return self.gain is None or self.gain.low > 0

    @property
    def sentence(self) -> str:
        if self.gain is None:
            return f"{self.structure.claim}: to be beaten"
        verdict = "helps" if self.helps else "does not help beyond chance"
        return f"{self.structure.claim}: {verdict}, CRPS {-self.gain.estimate:+.1%}"


def gain_over(evaluation: Evaluation, best: Evaluation) -> ConfidenceInterval:
    """Of one structure over another, forecast at the same origins."""
    ours, theirs = (each.scores[each.name] for each in (evaluation, best))
    blocks = evaluation.origins.blocks[evaluation.origins.origin]
    return paired_skill(ours.cells["crps"], theirs.cells["crps"], blocks)


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Printed, a table with a sentence for each structure; `model` is the one that was chosen."""

    trials: tuple[Trial, ...]
    chosen: Trial
    skipped: dict[str, str] = field(default_factory=dict)
    """structures that were not tried, and why"""

    @property
    def model(self) -> FittedModel:
        return self.chosen.model

    @property
    def was_stopped(self) -> bool:
        return STOPPED in self.skipped.values()

    @property
    def beats_straight_line(self) -> bool:
        return self.chosen.evaluation.skill(STRAIGHT_LINE).low > 0

    def __str__(self) -> str:
        rows = [
            ["", "CRPS short", "middle", "long", "all leads", ""],
            *(self._row(name, scores, "") for name, scores in self._references()),
            *(
                self._row(trial.structure.name, self._own(trial), trial.sentence)
                for trial in self.trials
            ),
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        lines += [f"not tried: {name} ({why})" for name, why in self.skipped.items()]
        return "\n".join([*lines, "", self.conclusion])

    __repr__ = __str__  # for notebooks

    @property
    def conclusion(self) -> str:
        skill = self.chosen.evaluation.skill(STRAIGHT_LINE)
        if not self.beats_straight_line:
            return (
                "Nothing here beats a straight line beyond chance "
                f"(CRPS {-skill.estimate:+.1%}); chosen: {self.chosen.structure.name}."
            )
        return (
            f"Chosen: {self.chosen.structure.name} ({self.chosen.structure.claim}); "
            f"CRPS of held-out frames {-skill.estimate:+.1%} of a straight line's, "
            f"95 % interval {-skill.high:+.1%} to {-skill.low:+.1%}."
        )

    def _references(self):
        first = self.trials[0].evaluation
        return [(name, first.scores[name]) for name in first.references]

    @staticmethod
    def _own(trial: Trial):
        return trial.evaluation.scores[trial.evaluation.name]

    @staticmethod
    def _row(name: str, scores, sentence: str) -> list[str]:
        leads = scores.by_lead("crps")
        picked = [leads[0], leads[len(leads) // 2], leads[-1], scores.mean("crps")]
        return [name, *(f"{value:.4g}" for value in picked), sentence]
