"""A little of the campaign of docs/reliability.md; `make soak` runs all of it."""

import importlib
import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def campaign(monkeypatch):
    """A module of the campaign by name."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


def test_damaged_tables_are_read_or_refused_in_a_sentence(campaign):
    found = campaign("soak_files").tables(range(45_900, 46_000))
    assert found["faults"] == []
    assert found["answered"] + found["refused"] == found["files"] == 100
    assert min(found["answered"], found["refused"]) > 0


def test_what_is_no_sentence_is_counted_as_a_fault(campaign):
    files = campaign("soak_files")
    found, faults = files.Counter(), []
    with files.judged(found, faults, "a file"):
        raise UnicodeError("odd bytes")
    with files.judged(found, faults, "another", seconds=1):
        while True:
            pass
    assert dict(found) == {"tracebacks": 1, "hangs": 1}
    assert re.fullmatch(r"a file: UnicodeError at test_soak\.py:\d+: odd bytes", faults[0])
    assert faults[1] == "another: longer than 1 s"


def test_the_page_is_made_of_the_rows(campaign):
    soak = campaign("soak")
    lines = soak.table(soak.RunRows(BENCHMARKS / "results" / "soak.jsonl"))
    page = (BENCHMARKS.parent / "docs" / "reliability.md").read_text()
    assert "\n".join(lines) in page
    assert all(line.endswith("| 0 |") for line in lines[2:]), "a fault is on the page"
