"""comotion reproduce … --status and --check: what rows say, without making any."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from comotion.jobs.rows import Row
    from comotion.reproduce import PaperTable
    from comotion.reproduce.runs import Run

MISSED = 1
MOST_NAMED = 8


def show_status(
    chosen: "Sequence[PaperTable]", rows: "Sequence[Row]", scale: str, seeds: int
) -> int:
    from comotion.report.tables import Column, Table
    from comotion.reproduce.status import statuses

    found = statuses(chosen, rows, scale, seeds)
    columns = (
        Column("table"),
        Column("there", 0),
        Column("older recipe", 0),
        Column("missing", 0),
        Column("hours", 2),
    )
    lines = [
        (s.label, *map(float, (s.there, len(s.stale), len(s.missing))), s.hours) for s in found
    ]
    title = f"scale {scale}, {seeds} {'seed' if seeds == 1 else 'seeds'}"
    print(Table(title, columns, tuple(lines)).to_markdown())
    for what, runs in (
        ("made by an older recipe", found[-1].stale),
        ("missing", found[-1].missing),
    ):
        if runs:
            print(f"{what}: {_named(runs)}")
    print("hours: of one run at a time, each as long as rows of its like took")
    return 0


def show_check(chosen: "Sequence[PaperTable]", rows: "Sequence[Row]", scale: str) -> int:
    from comotion.reproduce.goals import check

    result = check(chosen, rows, scale)
    print("\n".join([*result.misses, *result.summary]))
    return 0 if result.passed else MISSED


def _named(runs: "Sequence[Run]") -> str:
    titles = [run.title for run in runs[:MOST_NAMED]]
    rest = len(runs) - len(titles)
    return "; ".join(titles) + (f"; and {rest} more" if rest else "")
