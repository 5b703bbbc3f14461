"""What a person sees while training: horizon, terms of the bound, time left."""

import importlib
import sys
import time
from collections.abc import Callable
from html import escape
from threading import Event, Thread
from typing import Any, Protocol, runtime_checkable

from comotion.config import Recipe, Stage

Figures = dict[str, float | int]


@runtime_checkable
class Watcher(Protocol):
    """Told what the loop is doing; `row` holds the figures that also go to metrics.jsonl."""

    def say(self, sentence: str) -> None: ...

    def show(self, stage: Stage, row: Figures) -> None: ...

    def close(self) -> None: ...


class Silent:
    """Nobody is watching."""

    def say(self, sentence: str) -> None:
        pass

    def show(self, stage: Stage, row: Figures) -> None:
        pass

    def close(self) -> None:
        pass


class Several:
    """Tells everyone who is watching."""

    def __init__(self, *watchers: Watcher):
        self.watchers = watchers

    def say(self, sentence: str) -> None:
        for watcher in self.watchers:
            watcher.say(sentence)

    def show(self, stage: Stage, row: Figures) -> None:
        for watcher in self.watchers:
            watcher.show(stage, row)

    def close(self) -> None:
        for watcher in self.watchers:
            watcher.close()


class ProgressBar:
    """One bar over all iterations, weighted by their horizon so that the time left is honest."""

    def __init__(self, recipe: Recipe):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.recipe = recipe
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[figures]}"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
        )
        self.task = self.bar.add_task("starting", total=1.0, figures="")
        self.bar.start()

    def say(self, sentence: str) -> None:
        self.bar.console.print(sentence)

    def show(self, stage: Stage, row: Figures) -> None:
        self.bar.update(
            self.task,
            completed=share_done(self.recipe, stage, int(row["iteration"])),
            description=f"horizon {stage.horizon}",
            figures=in_words(row),
        )

    def close(self) -> None:
        self.bar.stop()


class NotebookBar:
    """A bar below the cell that is redrawn in place, and the last sentence."""

    def __init__(self, recipe: Recipe, display: Callable[..., Any]):
        self.recipe = recipe
        self.html = importlib.import_module("IPython.display").HTML
        self.share, self.text = 0.0, "starting"
        self.place = display(self._bar(), display_id=True)

    def say(self, sentence: str) -> None:
        self.text = sentence
        self._draw()

    def show(self, stage: Stage, row: Figures) -> None:
        self.share = share_done(self.recipe, stage, int(row["iteration"]))
        self.text = f"horizon {stage.horizon}: {in_words(row)}"
        self._draw()

    def close(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self.place.update(self._bar())

    def _bar(self) -> Any:
        return self.html(
            f'<progress max="1" value="{self.share:.4f}" style="width:16em"></progress> '
            f"{self.share:.0%} {escape(self.text)}"
        )


class Lines:
    """Plain lines for a log: sentences at once, figures and a sign of life every few seconds."""

    def __init__(self, recipe: Recipe, every: float = 5.0):
        self.recipe, self.every = recipe, every
        self.doing, self.printed = "starting", time.monotonic()
        self.begun = self.printed
        self.over = Event()
        self.thread = Thread(target=self._live, daemon=True)
        self.thread.start()

    def say(self, sentence: str) -> None:
        self.doing = sentence.splitlines()[-1]
        self._print(sentence)

    def show(self, stage: Stage, row: Figures) -> None:
        share = share_done(self.recipe, stage, int(row["iteration"]))
        self.doing = f"{share:.0%} done, horizon {stage.horizon}: {in_words(row)}"
        if time.monotonic() - self.printed > self.every:
            self._print(self.doing)

    def close(self) -> None:
        self.over.set()
        self.thread.join()  # or it might hold stderr while the process ends

    def _live(self) -> None:
        """Compiling takes long and says nothing."""
        while not self.over.wait(self.every / 5):
            if time.monotonic() - self.printed > 2 * self.every:
                self._print(f"{self.doing} ({time.monotonic() - self.begun:.0f} s since the start)")

    def _print(self, sentence: str) -> None:
        self.printed = time.monotonic()
        print(sentence, file=sys.stderr, flush=True)


def watcher_here(recipe: Recipe) -> Watcher:
    """What suits the place: a bar in a notebook or a terminal, lines elsewhere."""
    display = notebook_display()
    if display is not None:
        return NotebookBar(recipe, display)
    return ProgressBar(recipe) if sys.stderr.isatty() else Lines(recipe)


def notebook_display() -> Callable[..., Any] | None:
    """How a notebook shows things; none outside of one."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return importlib.import_module("IPython.display").display


def share_done(recipe: Recipe, stage: Stage, iteration: int) -> float:
    """Of the work: iterations count by their horizon."""
    done, before = 0, 0
    for earlier in recipe.stages:
        if earlier is stage:
            break
        done += earlier.iterations * earlier.horizon
        before += earlier.iterations
    work = sum(each.iterations * each.horizon for each in recipe.stages)
    return (done + (iteration - before) * stage.horizon) / work


def in_words(row: Figures) -> str:
    """The figures that are climbed."""
    if "score" in row:
        return f"error of forecasts {row['score']:.3f} of a straight line's"
    return (
        f"bound {row['elbo']:.3f} = fit {row['log_likelihood']:.3f}"
        f" - start {row['kl_initial']:.3f} - functions {row['kl_functions']:.3f}"
    )
