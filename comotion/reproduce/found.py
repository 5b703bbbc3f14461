"""What was found for a table so far: our scores beside the printed ones and the references."""

import dataclasses
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from comotion.jobs.rows import Row
from comotion.reproduce.conventions import METRICS as OURS
from comotion.reproduce.runs import TRUE_DYNAMICS
from comotion.reproduce.scales import SCALES
from comotion.reproduce.scenes import PaperScene
from comotion.reproduce.tables import METRICS, Entry, PaperTable

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

    @property
    def is_reference(self) -> bool:
        return not self.printed

    @property
    def steps(self) -> str:
        """Training iterations, all of them if seeds differ; the paper's are 50 000."""
        recipes = [row["run"]["source"].get("recipe", {"stages": []}) for row in self.rows]
        counts = {sum(stage["iterations"] for stage in recipe["stages"]) for recipe in recipes}
        return ", ".join(str(count) for count in sorted(counts - {0}))

    def ours(self, view: str, metric: str) -> float | tuple[float, float] | None:
        """Mean over seeds, with the standard deviation if there are several."""
        scored = [row["scores"][view][self.part] for row in self.rows if view in row["scores"]]
        known = [scores[metric] for scores in scored if scores[metric] is not None]
        if not known:
            return None
        mean = statistics.fmean(known)
        return (mean, statistics.stdev(known)) if len(known) > 1 else mean

    def by_lead(self, view: str, metric: str) -> tuple[list[float], list[float]]:
        """Lead times and the mean over seeds at each."""
        where = LEAD_VIEWS.get(view, view)
        kept = [row["by_lead"][where] for row in self.rows if where in row["by_lead"]]
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
                ours = [_mean(line.ours(view, metric)) for line in group]
                if len(group) < 2 or None in ours:
                    continue
                sign = 1 if OURS[metric].better == "lower" else -1
                here = min(group, key=lambda line: sign * (_mean(line.ours(view, metric)) or 0.0))
                there = min(group, key=lambda line: sign * line.printed[view][metric][0])
                if here is not there:
                    text = f"≠ {short.upper()} (paper: {there.name})"
                    found.setdefault(self.lines.index(here), []).append(text)
        return {number: ", ".join(texts) for number, texts in found.items()}


def found(chosen: PaperTable, rows: Sequence[Row], scale: str) -> Found:
    """Later rows of the same system, scene and seed count: the recipe may have changed since."""
    latest: dict[tuple, dict[int, Row]] = {}
    for row in rows:
        run = row["run"]
        if run["scale"] == scale:
            key = (run["name"], *run["scene"].values())
            latest.setdefault(key, {})[run["seed"]] = row
    lines: list[Line] = []
    for number, entry in enumerate(chosen.entries):
        lines.append(_line(entry, latest, scale))
        rest = chosen.entries[number + 1 :]
        if all(later.scene != entry.scene for later in rest):
            lines += _references(entry, chosen, latest, scale)
    return Found(chosen, scale, tuple(lines))


def _line(entry: Entry, latest: dict, scale: str) -> Line:
    rows = _rows(entry.system, entry.scene, latest, scale)
    return Line(entry.setting, entry.system, entry.scene, rows, printed=entry.printed)


def _references(entry: Entry, chosen: PaperTable, latest: dict, scale: str) -> list[Line]:
    """Every row has the references; those of the floor are there for every seed."""
    settings = {other.setting for other in chosen.entries if other.scene == entry.scene}
    setting = entry.setting if len(settings) == 1 else "any"
    rows = _rows(TRUE_DYNAMICS, entry.scene, latest, scale)
    beside = [Line(setting, name, entry.scene, rows, part=name) for name in REFERENCES]
    return [*beside, Line(setting, TRUE_DYNAMICS, entry.scene, rows)]


def _rows(name: str, scene: PaperScene, latest: dict, scale: str) -> tuple[Row, ...]:
    sized = SCALES[scale].scene(scene)
    key = (name, *dataclasses.asdict(sized).values())
    return tuple(row for _, row in sorted(latest.get(key, {}).items()))


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _mean(value: float | tuple[float, float] | None) -> float | None:
    return value[0] if isinstance(value, tuple) else value
