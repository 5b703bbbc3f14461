"""A long campaign of accidents: `python benchmarks/soak.py` (`make soak`), or some of it:
`python benchmarks/soak.py tables --count 5000`.

Every row holds what a range of seeds gave; what has a row is not done again, so the campaign goes
on where it was stopped. `python benchmarks/soak.py --page` writes docs/reliability.md's table.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import soak_files
import soak_runs
from rows import RESULTS, write_between

from comotion.jobs.provenance import commit, processor
from comotion.jobs.rows import RunRows

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
FAULTS = ("tracebacks", "hangs", "wrong loads", "no sentence", "lost", "doubled", "silent")


class Campaign(NamedTuple):
    work: Callable[[range], dict[str, Any]]
    seeds: int
    together: int
    """seeds of one row"""
    what: str


CAMPAIGNS = {
    "tables": Campaign(soak_files.tables, 50_000, 2_500, "damaged tables, eight shapes of files"),
    "models": Campaign(soak_files.models, 2_000, 250, "damaged model files, half of them sealed"),
    "foreign": Campaign(soak_files.foreign, 100, 25, "damaged NetCDF files without a seal"),
    "kills": Campaign(soak_runs.kills, 25, 5, "fits, each killed in all four phases and resumed"),
    "full disk": Campaign(soak_runs.full_disk, 200, 200, "writes of a fit that found no room"),
    "workers": Campaign(soak_runs.workers, 20, 20, "workers of a grid, killed once each"),
    "degenerate": Campaign(soak_runs.degenerate, 32, 8, "sets of data that mean little"),
    "horizons": Campaign(soak_runs.horizons, 500, 50, "forecasts of 100 times the data"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=", ".join(CAMPAIGNS))
    parser.add_argument("--count", type=int, help="seeds of each campaign (default: all)")
    parser.add_argument("--page", action="store_true", help="write the table of the page, no more")
    options = parser.parse_args()
    rows = RunRows(RESULTS / "soak.jsonl")
    if not options.page:
        for name in options.campaigns or CAMPAIGNS:
            soak(name, CAMPAIGNS[name], options.count, rows)
    write_between(PAGE, "soak", table(rows))
    return 1 if any(row["faults"] for row in rows.read()) else 0


def soak(name: str, campaign: Campaign, count: int | None, rows: RunRows) -> None:
    done = rows.ids()
    for first in range(0, count or campaign.seeds, campaign.together):
        seeds = range(first, min(first + campaign.together, count or campaign.seeds))
        id_ = f"{name} {seeds.start}-{seeds.stop}"
        if id_ in done:
            continue
        begun = time.monotonic()
        found = campaign.work(seeds)
        about = {"commit": commit(), "cpu": processor(), "seconds": round(time.monotonic() - begun)}
        row = {"id": id_, "campaign": name, "seeds": len(seeds), **found, **about}
        rows.append(row)
        print(json.dumps(row), flush=True)


def table(rows: RunRows) -> list[str]:
    """A line for each campaign: what was done, how it ended, and every kind of fault."""
    lines = ["| accident | how many | how it ended | faults |", "|---|---|---|---|"]
    for name, campaign in CAMPAIGNS.items():
        found = [row for row in rows.read() if row["campaign"] == name]
        if not found:
            continue
        counts = Counter[str]()
        for row in found:
            numbers = {key: value for key, value in row.items() if isinstance(value, int)}
            counts.update({key: n for key, n in numbers.items() if key != "seconds"})
        ended = [
            f"{n} {key}" for key, n in counts.items() if key not in (*FAULTS, "seeds", "files")
        ]
        faults = sum(counts[fault] for fault in FAULTS)
        faults = max(faults, sum(len(row["faults"]) for row in found))
        lines.append(f"| {campaign.what} | {counts['seeds']} | {', '.join(ended)} | {faults} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
