"""What scores at rolling origins say: five lines for a person, everything else on request."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from comotion.data.units import with_unit
from comotion.predict.findings import longest_run
from comotion.scoring.lead_scores import MEASURES, LeadScores
from comotion.scoring.resampling import (
    ConfidenceInterval,
    paired_difference,
    paired_skill,
    share,
)
from comotion.scoring.rolling import Origins

if TYPE_CHECKING:
    import xarray as xr

CLIMATOLOGY = "climatology"
DIGITS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Scores of a forecast beside those of its references, on the same rows and leads.

    `scores[name]` for the forecast's own `name` and for every reference; the measures are
    described in `comotion.scoring.MEASURES`.
    """

    name: str
    scores: dict[str, LeadScores]
    origins: Origins
    made_from: str

    def __getitem__(self, measure: str) -> float:
        """The forecast's own score, every lead counting the same."""
        return self.scores[self.name].mean(measure)

    @property
    def references(self) -> list[str]:
        """The forecasts without a model that stand beside it."""
        return [name for name in self.scores if name != self.name]

    def skill(self, against: str = CLIMATOLOGY, measure: str = "crps") -> ConfidenceInterval:
        """1 − score / score of the reference, with its 95 % interval."""
        return paired_skill(*self._pair(against, measure), self._blocks(measure))

    def difference(self, against: str = CLIMATOLOGY, measure: str = "crps") -> ConfidenceInterval:
        """Score − score of the reference, with its 95 % interval."""
        return paired_difference(*self._pair(against, measure), self._blocks(measure))

    def held(self, level: Literal[50, 90] = 90) -> ConfidenceInterval:
        """The share of the truth in a band, with its 95 % interval."""
        measure = f"coverage_{level}"
        inside = self.scores[self.name].cells[measure]
        return share(inside, self._blocks(measure), level / 100)

    def useful(self, against: str) -> tuple[float, float] | None:
        """First and last lead time of the longest stretch with a better CRPS than a reference."""
        ours, theirs = (self.scores[name].by_lead("crps") for name in (self.name, against))
        run = longest_run(ours < theirs)
        return None if run is None else (self.origins.lead[run[0]], self.origins.lead[run[1]])

    @property
    def by_lead(self) -> "xr.Dataset":
        """Every measure over (row, lead)."""
        import xarray as xr

        return xr.Dataset(
            {
                measure: (
                    ("row", "lead"),
                    np.stack([scores.by_lead(measure) for scores in self.scores.values()]),
                    {"about": about},
                )
                for measure, about in MEASURES.items()
            },
            coords={"row": list(self.scores), "lead": self.origins.lead},
        )

    @property
    def table(self) -> str:
        """Every measure of every row, and the error at the last lead (fde)."""
        heads = [*MEASURES, "fde"]
        lines = [["", *heads]] + [
            [name, *(f"{value:.{DIGITS}f}" for value in _totals(scores).values())]
            for name, scores in self.scores.items()
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
            for line in lines
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where nothing is known."""
        return {
            "name": self.name,
            "made_from": self.made_from,
            "measures": dict(MEASURES) | {"fde": "ade at the last lead"},
            "scores": {
                name: {measure: _plain(value) for measure, value in _totals(scores).items()}
                for name, scores in self.scores.items()
            },
            "lead": [_plain(lead) for lead in self.origins.lead],
            "by_lead": {
                name: {
                    measure: [_plain(value) for value in scores.by_lead(measure)]
                    for measure in MEASURES
                }
                for name, scores in self.scores.items()
            },
            "skill": {
                name: {
                    "estimate": skill.estimate,
                    "low": _plain(skill.low),
                    "high": _plain(skill.high),
                }
                for name in self.references
                for skill in [self.skill(name)]
            },
            "useful": {name: self.useful(name) for name in self.references},
        }

    def __str__(self) -> str:
        return "\n".join(
            [
                self._skill_line(),
                self._error_line(),
                self._band_line(),
                self._useful_line(),
                f"from:   {self.made_from}",
            ]
        )

    __repr__ = __str__  # for notebooks

    def _skill_line(self) -> str:
        """Skill is the share of a reference's CRPS that the forecast saves."""
        parts = [f"{self.skill(name):.2f} against {name}" for name in self.references]
        return f"skill:  {'; '.join(parts)}"

    def _error_line(self) -> str:
        errors = self.scores[self.name].by_lead("ade")
        unit = self.origins.windows.units.length
        parts = [f"{with_unit(f'{errors[h]:.3g}', unit)} at {self._lead(h)}" for h in self._three]
        return f"error:  the mean is off by {', '.join(parts)}; CRPS {self['crps']:.3g}"

    def _band_line(self) -> str:
        held = self.scores[self.name].by_lead("coverage_90")
        parts = [f"{held[h]:.0%} at {self._lead(h)}" for h in self._three]
        return (
            f"bands:  the 90 % band holds {', '.join(parts)}; "
            f"the 50 % band {self['coverage_50']:.0%} over all leads"
        )

    def _useful_line(self) -> str:
        parts = [f"{self._stretch(name)} {name}" for name in self.references]
        return f"useful: {'; '.join(parts)}"

    def _stretch(self, name: str) -> str:
        useful, unit = self.useful(name), self.origins.windows.units.time
        if useful is None:
            return "never better than"
        return f"from lead {useful[0]:.3g} to {with_unit(f'{useful[1]:.3g}', unit)} better than"

    def _lead(self, h: int) -> str:
        return with_unit(f"lead {self.origins.lead[h]:.3g}", self.origins.windows.units.time)

    @property
    def _three(self) -> list[int]:
        last = self.origins.horizon - 1
        return sorted({0, last // 2, last})

    def _pair(self, against: str, measure: str) -> tuple[np.ndarray, np.ndarray]:
        return self.scores[self.name].cells[measure], self.scores[against].cells[measure]

    def _blocks(self, measure: str) -> np.ndarray:
        blocks = self.origins.blocks
        return blocks if measure == "energy" else blocks[self.origins.origin]


def _totals(scores: LeadScores) -> dict[str, float]:
    return {measure: scores.mean(measure) for measure in MEASURES} | {"fde": scores.last("ade")}


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
