"""How near a remake comes to the paper, cell by cell, and what it has to reach besides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from comotion.jobs.rows import Row
from comotion.reproduce.found import Found, Line, found, mean_of
from comotion.reproduce.tables import METRICS, PaperTable

SMALLER = ("quick",)
"""Scales that fill in for one that has no row."""
SHARE = 0.8
"""Of the cells that have to be as good as printed."""
SPREADS, NEAR = 2.0, 1.25
"""Standard deviations that an error may lie above the printed one, and how many times as large the
others may be."""
WANTED = {
    ("interactions", "none", "I-NODE"): 10.0,
    ("missing-vel", "none", "I-GPODE-L-S"): 19.0,
    ("charges", "globals observed", "I-GPODE/globals-observed"): 12.0,
    ("charges", "globals observed", "I-NODE/globals-observed"): 9.0,
    ("charges", "with global latents", "I-GPODE/with-globals"): 16.0,
    ("charges", "with global latents", "I-NODE/with-globals"): 11.0,
}
"""Largest test MSE of single cells."""
BEYOND = 10
"""Frames after the last one seen from which everything should beat a straight line."""
MAIN_TEXT, SEEDS = ("gps", "interactions", "missing-vel", "charges"), 3
"""Tables that want so many seeds; the others want one."""
ORDER = ("globals-observed", "with-globals", "without-globals")
"""From the smallest error to the largest, as the paper has it."""


@dataclass(frozen=True)
class Cell:
    """One printed number and ours."""

    table: str
    setting: str
    system: str
    view: str
    metric: str
    printed: tuple[float, float]
    ours: float | None

    @property
    def limit(self) -> float:
        mean, sd = self.printed
        return mean + SPREADS * sd if self.metric == "mse" else mean

    @property
    def is_met(self) -> bool:
        if self.ours is None:
            return False
        return self.ours <= self.limit if self.metric == "mse" else self.ours >= self.limit

    @property
    def is_near(self) -> bool:
        return self.ours is not None and self.ours <= NEAR * self.printed[0]

    def __str__(self) -> str:
        names = ", ".join(filter(None, [self.table, self.setting, self.system, self.view]))
        made = "not made" if self.ours is None else f"{self.ours:.4g}"
        wanted = "at most" if self.metric == "mse" else "at least"
        mean, sd = self.printed
        return (
            f"{names}: {self.metric.upper()} {made}, wanted {wanted} {self.limit:.4g} "
            f"(paper {mean:g} ± {sd:g})"
        )


@dataclass(frozen=True)
class Check:
    """What was looked at, and what of the goals is missed."""

    misses: tuple[str, ...]
    summary: tuple[str, ...]
    passed: bool


def check(chosen: Sequence[PaperTable], rows: Sequence[Row], scale: str) -> Check:
    """Every cell of these tables against the paper's. Where a scale has no row that of a smaller
    one counts, and rows of an older recipe count as they are, but not as seeds."""
    shown = [found(one, rows, scale, SMALLER) for one in chosen]
    cells = [cell for made in shown for cell in _cells(made)]
    by_metric = {m: [cell for cell in cells if cell.metric == m] for m in METRICS}
    far = [cell for cell in by_metric["mse"] if not (cell.is_met or cell.is_near)]
    shares = {m: sum(cell.is_met for cell in kept) / len(kept) for m, kept in by_metric.items()}
    summary = [
        f"{m.upper()} as good as printed: {sum(cell.is_met for cell in kept)} of {len(kept)} cells "
        f"({shares[m]:.0%}, wanted {SHARE:.0%})"
        for m, kept in by_metric.items()
    ]
    summary.append(f"MSE more than {NEAR - 1:.0%} above the printed one: {len(far)}, wanted 0")
    few = [line for made in shown for line in made.lines if line.printed and _too_few(line, made)]
    summary.append(f"systems with too few seeds of today's recipe: {len(few)}, wanted 0")
    own = [sentence for made in shown for sentence in _own_goals(made)]
    passed = not own and not far and not few and min(shares.values()) >= SHARE
    return Check((*(str(cell) for cell in cells if not cell.is_met), *own), tuple(summary), passed)


def _too_few(line: Line, made: Found) -> bool:
    seeds = 0 if line.is_stale or line.scale != made.scale else len(line.sound)
    return seeds < (SEEDS if made.table.label in MAIN_TEXT else 1)


def _cells(made: Found) -> Iterator[Cell]:
    for line in made.lines:
        for view, printed in line.printed.items():
            for short, metric in METRICS.items():
                ours = mean_of(line.ours(view, metric))
                names = (made.table.label, line.setting, line.name, view, short)
                yield Cell(*names, printed[metric], ours)


def _own_goals(made: Found) -> Iterator[str]:
    label = made.table.label
    for line in made.lines:
        limit, error = WANTED.get((label, line.setting, line.name)), _error(line)
        if limit is not None and (error is None or error > limit):
            said = "not made" if error is None else f"{error:.4g}"
            yield f"{label}, {line.setting}, {line.name}: MSE {said}, wanted at most {limit:g}"
    if label == "charges":
        yield from _behind_a_straight_line(made)
        yield from _out_of_order(made)


def _behind_a_straight_line(made: Found) -> Iterator[str]:
    (straight,) = [line for line in made.lines if line.name == "constant velocity"]
    reference = straight.by_lead("test", "skill_crps")[1]
    for line in made.lines:
        lead, skill = line.by_lead("test", "skill_crps")
        first = sum(time <= 0 for time in lead) - 1 + BEYOND
        behind = [n for n in range(first, len(skill)) if skill[n] < reference[n]]
        if line.printed and behind:
            yield (
                f"{made.table.label}, {line.setting}, {line.name}: less skill than constant "
                f"velocity {behind[0] - first + BEYOND} to {behind[-1] - first + BEYOND} frames "
                "after the last one seen"
            )


def _out_of_order(made: Found) -> Iterator[str]:
    errors = {line.name: _error(line) for line in made.lines if line.printed}
    for system in ("I-GPODE", "I-NODE"):
        found = {form: errors.get(f"{system}/{form}") for form in ORDER}
        known = [error for error in found.values() if error is not None]
        if known != sorted(known) or len(known) < len(ORDER):
            said = ", ".join(f"{form} {error}" for form, error in found.items())
            yield f"{made.table.label}, {system}: wanted errors in this order, got {said}"


def _error(line: Line) -> float | None:
    return mean_of(line.ours("test", METRICS["mse"]))
