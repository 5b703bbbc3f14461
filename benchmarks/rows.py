"""One JSON row per measurement, with what is needed to measure it again; pages made of rows."""

import json
import os
from pathlib import Path
from typing import Any

from comotion.jobs.provenance import commit, processor

RESULTS = Path(__file__).parent / "results"


def append(name: str, row: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    described = {**row, "commit": commit(), "cores": _cores(), "cpu": processor()}
    with (RESULTS / f"{name}.jsonl").open("a") as file:
        file.write(json.dumps(described) + "\n")
    print(json.dumps(described))


def read(name: str) -> list[dict[str, Any]]:
    path = RESULTS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write_between(page: Path, name: str, lines: list[str]) -> None:
    """Puts the lines where the page says `<!-- name -->`, up to `<!-- end of name -->`."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.read_text().split(begin)
    page.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def _cores() -> int | None:
    """Those this process may use: a measurement may leave some to others."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
