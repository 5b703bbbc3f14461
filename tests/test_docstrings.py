"""The examples in docstrings of public names, run on one tiny model."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

import comotion as cm
from comotion.config import RunConfig
from comotion.train.fit import prepare

HANDED_OUT = (
    "comotion.predict.forecast.Forecast",
    "comotion.predict.effect.Effect",
    "comotion.predict.law.Law",
)
COMPILING = ("comotion.evaluate", *HANDED_OUT[1:])
TINY = {"inducing_alone": 8, "inducing_pair": 8, "fourier_features": 8}
REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def find(name: str):
    room, _, own = name.rpartition(".")
    return getattr(importlib.import_module(room), own)


@pytest.fixture(scope="module")
def names():
    """What examples take for granted."""
    longer = cm.simulate.bouncing_balls(sequences=2, frames=20)
    return {"cm": cm, "np": np, "pd": pd, "longer": longer, "data": longer.first_frames(12)}


@pytest.fixture(scope="module")
def learned(names):
    """An untrained model and its forecast."""
    data = names["data"]
    config = RunConfig(cm.system("I-GPODE-S", pair="radial", **TINY))
    model = prepare(data, config, key=jax.random.key(0))[0]
    return names | {"model": model, "future": model.predict(data, horizon=3.0, draws=10)}


def examples():
    """Those that compile programs of their own are slow."""
    for name in (*(f"comotion.{name}" for name in cm.__all__), *HANDED_OUT):
        marks = [pytest.mark.slow] if name in COMPILING else []
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(examples()))
def test_the_example_of_a_public_name_does_what_it_says(
    name, names, tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder(recurse=inspect.isclass(find(name)))
    tests = finder.find(find(name), name, module=False)
    source = "".join(example.source for test in tests for example in test.examples)
    assert source, f"{name} has no example"
    if re.search(r"model|future", source) and "SKIP" not in source:
        names = request.getfixturevalue("learned")
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        test.globs.update(names)
        runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(page.read_text() for page in REFERENCE.glob("*.md"))
    listed = set(re.findall(r"auto\w+:: ([\w.]+)", pages))
    assert set(cm.__all__) <= {name.removeprefix("comotion.") for name in listed}
    assert set(HANDED_OUT) <= listed


def test_members_that_the_reference_lists_exist_and_say_what_they_are_for():
    text = (REFERENCE / "results.md").read_text() + (REFERENCE / "python.md").read_text()
    blocks = re.findall(r"autoclass:: ([\w.]+)\n   :members: (.+)", text)
    assert len(blocks) > 5
    silent = []
    for name, members in blocks:
        kind = find(name if name.startswith("comotion.") else f"comotion.{name}")
        for member in members.split(", "):
            found = inspect.getattr_static(kind, member)
            if not inspect.getdoc(getattr(found, "__func__", found)):
                silent.append(f"{name}.{member}")
    assert silent == []


@pytest.mark.parametrize(
    "name",
    [
        "comotion.data.describe.Description",
        "comotion.identification.Identification",
        "comotion.predict.formulas.Formula",
        "comotion.predict.law.Law",
        "comotion.scoring.Evaluation",
    ],
)
def test_a_notebook_shows_an_answer_as_it_prints(name):
    assert find(name).__repr__ is find(name).__str__
