"""What was found for a table so far: our scores beside the printed ones and the references."""

import dataclasses
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from comotion.jobs.rows import Row
from comotion.reproduce.conventions import METRICS as OURS
from comotion.reproduce.runs import TRUE_DYNAMICS
from comotion.reproduce.scales import SCALES
from comotion.reproduce.scenes import PaperScene
from comotion.reproduce.tables import METRICS, Entry, PaperTable, run
from comotion.reproduce.today import run_of

REFERENCES = ("climatology", "constant velocity")
LEAD_VIEWS = {"T10": "single", "T33": "single", "T100": "single"}


@dataclass(frozen=True)
class Line:
    """One line of a table: a system of the paper, or a reference it is set beside."""

    setting: str
    name: str
    scene: PaperScene
    rows: tuple[Row, ...]
    """one for each seed"""
    part: str = "model"
    """which forecast of a row: the model's, or a reference's"""
    printed: dict[str, dict[str, tuple[float, float]]] = dataclasses.field(default_factory=dict)
    scale: str = ""
    """that of the rows"""

    @property
    def is_reference(self) -> bool:
        return not self.printed

    @property
    def steps(self) -> str:
        """Training iterations, all of them if seeds differ; the paper's are 50 000."""
        recipes = [row["run"]["source"].get("recipe", {"stages": []}) for row in self.rows]
        counts = {sum(stage["iterations"] for stage in recipe["stages"]) for recipe in recipes}
        return ", ".join(str(count) for count in sorted(counts - {0}))

    @property
    def is_stale(self) -> bool:
        """Whether today's recipe would do something else than was done."""
        return self.part == "model" and not all(map(_is_current, self.rows))

    @property
    def lost(self) -> float:
        """The largest share of drawn sequences that diverged in a run, of any view."""
        own = self.rows if self.part == "model" else ()
        return max((max(row["diverged"].values(), default=0.0) for row in own), default=0.0)

    @property
    def sound(self) -> tuple[Row, ...]:
        """Rows without draws that diverged, if there are any: others would drown the average."""
        return tuple(row for row in self.rows if not any(row["diverged"].values())) or self.rows

    def ours(self, view: str, metric: str) -> float | tuple[float, float] | None:
        """Mean over seeds, with the standard deviation if there are several."""
        scored = [row["scores"][view][self.part] for row in self.sound if view in row["scores"]]
        known = [scores[metric] for scores in scored if scores[metric] is not None]
        if not known:
            return None
        mean = statistics.fmean(known)
        return (mean, statistics.stdev(known)) if len(known) > 1 else mean

    def by_lead(self, view: str, metric: str) -> tuple[list[float], list[float]]:
        """Lead times and the mean over seeds at each."""
        where = LEAD_VIEWS.get(view, view)
        kept = [row["by_lead"][where] for row in self.sound if where in row["by_lead"]]
        if not kept:
            return [], []
        curves = [map(_number, leads[self.part][metric]) for leads in kept]
        means = [statistics.fmean(values) for values in zip(*curves, strict=True)]
        return kept[0]["lead"], means


@dataclass(frozen=True)
class Found:
    table: PaperTable
    scale: str
    lines: tuple[Line, ...]

    @property
    def rows(self) -> list[Row]:
        return list({row["id"]: row for line in self.lines for row in line.rows}.values())

    def differing(self, view: str) -> dict[int, str]:
        """Numbers of the lines that win here and not in the paper, with who wins there."""
        found: dict[int, list[str]] = {}
        for setting in dict.fromkeys(line.setting for line in self.lines):
            group = [line for line in self.lines if line.setting == setting and line.printed]
            for short, metric in METRICS.items():
                ours = [mean_of(line.ours(view, metric)) for line in group]
                if len(group) < 2 or None in ours:
                    continue
                sign = 1 if OURS[metric].better == "lower" else -1
                here = min(group, key=lambda line: sign * (mean_of(line.ours(view, metric)) or 0.0))
                there = min(group, key=lambda line: sign * line.printed[view][metric][0])
                if here is not there:
                    text = f"≠ {short.upper()} (paper: {there.name})"
                    found.setdefault(self.lines.index(here), []).append(text)
        return {number: ", ".join(texts) for number, texts in found.items()}


def found(
    chosen: PaperTable, rows: Sequence[Row], scale: str, otherwise: Sequence[str] = ()
) -> Found:
    """Of the rows of a system, scene and seed the latest that today's recipe would make again,
    or the latest of all; where a scale has none, those of the next one."""
    latest = _latest(rows)

    def line(name: str, entry: Entry, by: str = "", **more: Any) -> Line:
        """What `by` has made: a reference stands in the rows of another one."""
        for tried in (scale, *otherwise):
            seeds = latest.get((by or name, SCALES[tried].scene(entry.scene), tried))
            if seeds:
                made = tuple(row for _, row in sorted(seeds.items()))
                return Line(name=name, scene=entry.scene, rows=made, scale=tried, **more)
        return Line(name=name, scene=entry.scene, rows=(), scale=scale, **more)

    lines: list[Line] = []
    for number, entry in enumerate(chosen.entries):
        lines.append(line(entry.system, entry, setting=entry.setting, printed=entry.printed))
        rest = chosen.entries[number + 1 :]
        if all(later.scene != entry.scene for later in rest):
            setting = _setting(entry, chosen)
            for name in REFERENCES:
                lines.append(line(name, entry, TRUE_DYNAMICS, setting=setting, part=name))
            lines += [line(name, entry, setting=setting) for name in chosen.beside]
    return Found(chosen, scale, tuple(lines))


def _latest(rows: Sequence[Row]) -> dict[tuple, dict[int, Row]]:
    """By system, scene and scale; by seed."""
    latest: dict[tuple, dict[int, Row]] = {}
    for row in rows:
        told = row["run"]
        key = (told["name"], PaperScene(**told["scene"]), told["scale"])
        seeds = latest.setdefault(key, {})
        if told["seed"] not in seeds or _is_current(row) or not _is_current(seeds[told["seed"]]):
            seeds[told["seed"]] = row
    return latest


def _is_current(row: Row) -> bool:
    made = run_of(row)
    return made is not None and made == run(made.source.name, made.scene, made.scale, made.seed)


def _setting(entry: Entry, chosen: PaperTable) -> str:
    """References hold for all settings of a scene."""
    settings = {other.setting for other in chosen.entries if other.scene == entry.scene}
    return entry.setting if len(settings) == 1 else "any"


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def mean_of(value: float | tuple[float, float] | None) -> float | None:
    return value[0] if isinstance(value, tuple) else value
