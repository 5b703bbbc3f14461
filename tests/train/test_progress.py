"""A fit shows what it is doing wherever it runs."""

import sys
import time
from types import SimpleNamespace

import pytest

from comotion.config import Recipe, Stage
from comotion.train.progress import Lines, NotebookBar, share_done, watcher_here

RECIPE = Recipe(name="two", stages=(Stage(5, 10, 1e-2), Stage(10, 20, 1e-2)))
ROW = {"iteration": 20, "score": 0.5}


def test_iterations_count_by_their_horizon():
    first, second = RECIPE.stages
    assert share_done(RECIPE, first, 5) == pytest.approx(25 / 250)
    assert share_done(RECIPE, second, 20) == pytest.approx(150 / 250)
    assert share_done(RECIPE, second, 30) == pytest.approx(1)


def test_without_a_terminal_there_are_lines_and_signs_of_life(capsys):
    lines = watcher_here(RECIPE)
    assert isinstance(lines, Lines)
    lines.close()
    quick = Lines(RECIPE, every=0.05)
    quick.say("compiling")
    time.sleep(0.3)
    quick.show(RECIPE.stages[1], ROW)
    quick.close()
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "compiling"
    assert told[1].startswith("compiling (0 s since the start")
    rare = Lines(RECIPE, every=100.0)
    rare.show(RECIPE.stages[1], ROW)
    rare.printed -= 101
    rare.show(RECIPE.stages[1], ROW)
    rare.close()
    expected = "60% done, horizon 10: error of forecasts 0.500 of a straight line's\n"
    assert capsys.readouterr().err.endswith(expected)


def test_in_a_notebook_a_bar_is_redrawn_in_place(monkeypatch):
    drawn = []
    handle = SimpleNamespace(update=drawn.append)

    def display(content, display_id):
        drawn.append(content)
        return handle

    shown = SimpleNamespace(display=display, HTML=str)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    bar = watcher_here(RECIPE)
    assert isinstance(bar, NotebookBar)
    bar.say("1 < 2")
    bar.show(RECIPE.stages[1], ROW)
    bar.close()
    assert len(drawn) == 4
    assert "1 &lt; 2" in drawn[1]
    assert 'value="0.6000"' in drawn[-1]
    assert "60% horizon 10: error of forecasts 0.500" in drawn[-1]
