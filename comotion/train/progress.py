"""What a person sees while training: horizon, terms of the bound, time left."""

import sys
from typing import Protocol, runtime_checkable

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
        work = sum(stage.iterations * stage.horizon for stage in recipe.stages)
        self.task = self.bar.add_task("starting", total=work, figures="")
        self.bar.start()

    def say(self, sentence: str) -> None:
        self.bar.console.print(sentence)

    def show(self, stage: Stage, row: Figures) -> None:
        self.bar.update(
            self.task,
            completed=self._work_done(stage, int(row["iteration"])),
            description=f"horizon {stage.horizon}",
            figures=in_words(row),
        )

    def close(self) -> None:
        self.bar.stop()

    def _work_done(self, stage: Stage, iteration: int) -> int:
        done, before = 0, 0
        for earlier in self.recipe.stages:
            if earlier is stage:
                break
            done += earlier.iterations * earlier.horizon
            before += earlier.iterations
        return done + (iteration - before) * stage.horizon


def in_words(row: Figures) -> str:
    """The figures that are climbed."""
    if "score" in row:
        return f"error of forecasts {row['score']:.3f} of a straight line's"
    return (
        f"bound {row['elbo']:.3f} = fit {row['log_likelihood']:.3f}"
        f" - start {row['kl_initial']:.3f} - functions {row['kl_functions']:.3f}"
    )
