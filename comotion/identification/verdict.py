"""What was tried, how well each forecasts held-out frames, and what was chosen."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from comotion.data.units import with_unit
from comotion.identification.evidence import EvidenceOfLaws
from comotion.identification.structures import NULL, Kind, Structure
from comotion.predict import FittedModel
from comotion.scoring import Evaluation, LeadScores
from comotion.scoring.resampling import ConfidenceInterval, paired_skill

STRAIGHT_LINE = "constant velocity"
STOPPED = "stopped by Ctrl-C"
TIME_IS_OVER = "the time limit was reached"


@dataclass(frozen=True, eq=False)
class Trial:
    """A structure that was fitted, and its scores on held-out frames beside the references."""

    structure: Structure
    model: FittedModel
    evaluation: Evaluation
    before: Evaluation | None
    """of the best structure before it; none for the first"""

    @property
    def crps(self) -> float:
        return self.evaluation["crps"]

    @cached_property
    def gain(self) -> ConfidenceInterval | None:
        """1 − CRPS / CRPS of the best structure before it, forecast at the same origins."""
        if self.before is None:
            return None
        ours, theirs = (each.scores[each.name] for each in (self.evaluation, self.before))
        blocks = self.evaluation.origins.blocks[self.evaluation.origins.origin]
        return paired_skill(ours.cells["crps"], theirs.cells["crps"], blocks)

    @property
    def helps(self) -> bool:
        """Whether it is better than what was there before, beyond chance."""
        return self.gain is None or self.gain.low > 0

    @property
    def sentence(self) -> str:
        if self.gain is None:
            return f"{self.structure.claim}: to be beaten"
        if not self.helps:
            return (
                f"{self.structure.claim}: does not help beyond chance, "
                f"CRPS {-self.gain.estimate:+.1%}"
            )
        return f"{self.structure.claim}: helps, CRPS {-self.gain.estimate:+.1%}{self._since}"

    @property
    def _since(self) -> str:
        """From which lead on its forecasts are better, if not from the first."""
        assert self.before is not None
        ours, theirs = (
            each.scores[each.name].by_lead("crps") for each in (self.evaluation, self.before)
        )
        worse = np.flatnonzero(~(ours < theirs))
        if worse.size == 0 or worse[-1] + 1 == len(ours):
            return ""
        origins = self.evaluation.origins
        lead = f"{origins.lead[worse[-1] + 1]:.3g}"
        return f" from {with_unit(lead, origins.windows.units.time)} on"


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Printed, a table with a sentence for each structure; `model` is the one that was chosen."""

    trials: tuple[Trial, ...]
    chosen: Trial
    skipped: dict[str, str] = field(default_factory=dict)
    """structures that were not tried, and why"""
    evidence: EvidenceOfLaws | None = None
    """log evidence of each kind of law"""

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
            ["", "log evidence", "CRPS short", "middle", "long", "all leads", ""],
            *self._references(),
            *(self._row(trial.structure.name, trial) for trial in self.trials),
            *self._only_weighed(),
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

    def _references(self) -> Iterator[list[str]]:
        """Forecasts without a law, and likelihoods of other motion without one."""
        nulls = {} if self.evidence is None else dict(self.evidence.nulls)
        first = self.trials[0].evaluation
        for name in first.references:
            nats = nulls.pop(FILTER_OF.get(name, ""), None)
            yield [name, _nats(nats), *_crps(first.scores[name]), ""]
        for name, nats in nulls.items():
            yield [f"{name}, filtered", _nats(nats), *BLANK, "motion without a law"]

    def _row(self, name: str, trial: Trial) -> list[str]:
        nats = None
        if self.evidence is not None and trial.structure is not NULL:
            nats = self.evidence.nats(trial.structure.kind)
        scores = trial.evaluation.scores[trial.evaluation.name]
        return [name, _nats(nats), *_crps(scores), trial.sentence]

    def _only_weighed(self) -> Iterator[list[str]]:
        """Laws that were not worth a try, the likeliest first."""
        if self.evidence is None:
            return
        tried = {trial.structure.kind for trial in self.trials}
        best = self.evidence.laws.get(self.evidence.favourite, 0.0)
        for kind, nats in sorted(self.evidence.laws.items(), key=lambda item: -item[1]):
            if kind not in tried:
                yield [str(kind), _nats(nats), *BLANK, self._why_not(kind, nats, best)]

    def _why_not(self, kind: Kind, nats: float, best: float) -> str:
        assert self.evidence is not None
        favourite = str(self.evidence.favourite) or "no law"
        if kind == self.evidence.favourite:
            return "not tried"
        return f"not tried: {nats - best:+.0f} nats beside {favourite}"


BLANK = ["", "", "", ""]
FILTER_OF = {"Kalman filter": "lasting acceleration"}


def _nats(value: float | None) -> str:
    return "" if value is None else f"{value:+.0f}"


def _crps(scores: LeadScores) -> list[str]:
    leads = scores.by_lead("crps")
    picked = [leads[0], leads[len(leads) // 2], leads[-1], scores.mean("crps")]
    return [f"{value:.4g}" for value in picked]
