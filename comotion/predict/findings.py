"""What a fit found out about itself: how well it forecasts held-out frames, and what it learned."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from comotion.data.units import labelled, with_unit

AVERAGE, STRAIGHT_LINE = "climatology", "constant velocity"
WORDS = {AVERAGE: "the average", STRAIGHT_LINE: "a straight line"}
WORDS |= {"Kalman filter": "a Kalman filter"}
"""References as a newcomer would call them."""
HONEST = 0.9
FRAMES_AHEAD = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Rival:
    """A forecast without a model of the same frames.

    `gain` is 1 − CRPS of the model / CRPS of the rival, with its 95 % interval.
    """

    name: str
    crps: tuple[float, ...]
    gain: float
    low: float
    high: float

    @property
    def words(self) -> str:
        return WORDS.get(self.name, self.name)

    @property
    def interval(self) -> str:
        if np.isnan(self.low):
            return "from too few frames to say how sure that is"
        return f"95 % interval {self.low:.0%} to {self.high:.0%}"


@dataclass(frozen=True)
class Skill:
    """Scores of forecasts of held-out frames, by lead; empty if nothing was held out."""

    origins: int = 0
    lead: tuple[float, ...] = ()
    crps: tuple[float, ...] = ()
    coverage_50: tuple[float, ...] = ()
    coverage_90: tuple[float, ...] = ()
    held_90: tuple[float, ...] = ()
    """the share of the truth in the 90 % bands, and its 95 % interval where blocks are enough"""
    rivals: tuple[Rival, ...] = ()
    time_unit: str = ""
    bands_measured_here: bool = False
    """whether the bands were stretched on these very frames: then how much they hold is no proof"""

    def over_average(self, crps: Sequence[float]) -> np.ndarray:
        """1 − CRPS / CRPS of climatology at each lead: 1 is perfect, 0 no better than it."""
        average = next(rival.crps for rival in self.rivals if rival.name == AVERAGE)
        return 1 - np.array(crps) / np.array(average)

    def better_than(self, name: str) -> tuple[float, float] | None:
        """First and last lead of the longest stretch with a better CRPS than a rival."""
        theirs = next(rival.crps for rival in self.rivals if rival.name == name)
        run = longest_run(np.array(self.crps) < np.array(theirs))
        return None if run is None else (self.lead[run[0]], self.lead[run[1]])

    @property
    def sentence(self) -> str:
        """The whole answer in a line."""
        if not self.lead:
            return "Nothing was held out, so nobody knows how good its forecasts are."
        held = float(np.nanmean(self.coverage_90))
        bands = f"{held:.0%} of the truth in the 90 % bands"
        if self.bands_measured_here:
            bands += ", whose width was set on the same frames"
        return f"{self._useful}; {self._beats}; {bands}."

    @property
    def _useful(self) -> str:
        useful = self.better_than(AVERAGE)
        if useful is None:
            return "Not better than the average of the data at any lead"
        least = "at least" if useful[1] == self.lead[-1] else "about"
        return f"Useful until {least} {self._told(useful[1])}"

    @property
    def _beats(self) -> str:
        better = self.better_than(STRAIGHT_LINE)
        if better is None:
            return "beats a straight line at no lead"
        until = "on" if better[1] == self.lead[-1] else f"to {self._told(better[1])}"
        return f"beats a straight line from {self._told(better[0])} {until}"

    def _told(self, lead: float) -> str:
        return with_unit(f"{lead:.3g}", self.time_unit)

    @property
    def warnings(self) -> list[str]:
        """What chance does not explain: rivals that it does not beat, bands that do not hold."""
        return [*self._not_beaten, *self._not_honest]

    @property
    def _not_honest(self) -> list[str]:
        if not self.held_90 or self.bands_measured_here:
            return []
        held, low, high = self.held_90
        if low <= HONEST <= high:
            return []
        wrong = "narrow" if held < HONEST else "wide"
        return [
            f"warning: the 90 % bands hold {held:.0%} of held-out frames, 95 % interval {low:.0%} "
            f"to {min(high, 1.0):.0%}: too {wrong} to be chance; read them as bands of {held:.0%}"
        ]

    @property
    def _not_beaten(self) -> list[str]:
        return [
            f"warning: on held-out frames it is not clearly better than {rival.words}: it saves "
            f"{rival.gain:.0%} of its error, {rival.interval}; more data or another system may "
            "help, or there is no law to be found"
            for rival in self.rivals
            if not rival.low > 0
        ]

    @property
    def rows(self) -> list[list[str]]:
        """A heading, then skill at a few leads beside the rivals."""
        rivals = [rival for rival in self.rivals if rival.name != AVERAGE]
        columns = [self.over_average(crps) for crps in (self.crps, *(r.crps for r in rivals))]
        lead = labelled("lead time", self.time_unit)
        head = ["frames ahead", lead, "skill", *(rival.words for rival in rivals)]
        rows = [[*head, "90 % band holds"]]
        for n in (n for n in FRAMES_AHEAD if n <= len(self.lead)):
            skills = [f"{column[n - 1]:.2f}" for column in columns]
            held = f"{self.coverage_90[n - 1]:.0%}"
            rows.append([str(n), f"{self.lead[n - 1]:.3g}", *skills, held])
        return rows

    @property
    def table(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in self.rows)

    def __str__(self) -> str:
        if not self.lead:
            return self.sentence
        about = "skill on held-out frames: 1 is perfect, 0 no better than the average of the data"
        return "\n".join([about, self.table, *self.warnings, self.sentence])


@dataclass(frozen=True)
class Findings:
    """Kept with the model: its skill, what it learned in a line, and what the data were."""

    skill: Skill = field(default_factory=Skill)
    learned: str = ""
    data: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        learned = f" Learned: {self.learned}." if self.learned else ""
        return f"{self.skill.sentence}{learned}"

    def __str__(self) -> str:
        learned = [f"learned: {self.learned}"] if self.learned else []
        return "\n".join([str(self.skill), *learned])


def longest_run(better: np.ndarray) -> tuple[int, int] | None:
    """First and last index of the longest stretch of true ones."""
    best, begin = None, None
    for h, ahead in enumerate([*better, False]):
        if ahead and begin is None:
            begin = h
        if not ahead and begin is not None:
            if best is None or h - begin > best[1] - best[0] + 1:
                best = (begin, h - 1)
            begin = None
    return best
