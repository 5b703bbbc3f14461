"""Every snippet of README and docs is checked as a program: names, attributes and arguments."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from comotion.predict.forecast import Forecast

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials" and page.stem != "index"]
WITHOUT = {"extending.md", "adding-a-part.md"}  # tests/test_extending.py runs what is there
GIVEN = """
from typing import Any
import numpy as np
import comotion as cm
from comotion.predict import FittedModel
from comotion.predict.forecast import Forecast
def given(kind: type) -> Any: ...
data: cm.Trajectories = given(cm.Trajectories)
kept_back = what_happened = what_is_not_there = data
model: FittedModel = given(FittedModel)
future: Forecast = given(Forecast)
frame: Any = given(dict)
positions: np.ndarray = given(np.ndarray)
light = masses = key = found = frame
"""
ARGUMENTS = "data=data, model=model, future=future, frame=frame, positions=positions, found=found"
"""So that a snippet may give these names something else."""


def snippets(page: Path) -> list[str]:
    return re.findall(r"```(?:python|{code-cell} python)\n(.*?)```", page.read_text(), re.DOTALL)


def program(page: Path) -> str:
    """A tutorial is one program that brings what it needs; other snippets take data for granted."""
    if page in TUTORIALS:
        return "\n".join(snippets(page))
    bodies = [textwrap.indent(text, "    ") for text in snippets(page)]
    return GIVEN + "".join(
        f"\ndef snippet_{k}({ARGUMENTS}):\n{body}\n" for k, body in enumerate(bodies)
    )


def test_snippets_use_what_exists(tmp_path):
    for page in PAGES:
        if snippets(page) and page.name not in WITHOUT:
            (tmp_path / f"{page.stem.replace('-', '_')}.py").write_text(program(page))
    settings = {
        "include": ["."],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "basic",
        "reportOptionalMemberAccess": False,
        "reportUnusedExpression": False,
        "reportUnusedCoroutine": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, "-p", tmp_path], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 12
    told = [
        f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}: {each['message']}"
        for each in found["generalDiagnostics"]
        if each["severity"] == "error"
    ]
    assert told == [], "\n".join(told)


def test_what_snippets_ask_of_a_forecast_it_has():
    """Which hands on to its dataset what it does not have, so that types say nothing."""
    asked = [name for page in PAGES for name in re.findall(r"\bfuture\.(\w+)\(", page.read_text())]
    assert len(asked) > 10
    assert [name for name in asked if not hasattr(Forecast, name)] == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_its_first_line_to_its_last(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    exec(compile(program(page), page.name, "exec"), {})
