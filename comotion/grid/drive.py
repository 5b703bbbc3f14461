"""From a list of runs to a row for each: only what is missing, and nothing twice."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from comotion.grid.engine import AbstractEngine, Failure
from comotion.grid.perform import Task, perform
from comotion.grid.rows import Claim, Row, Rows
from comotion.grid.runs import Run

OTHERS_PAUSE = 2.0
"""Seconds between two looks at what other processes have finished."""


@dataclass
class Progress:
    """Says after each run how far the grid is and how long the rest will take."""

    workers: int
    say: Callable[[str], None]
    seconds: list[float] = field(default_factory=list)

    def finished(self, run: Run, row: Row, done: int, total: int) -> None:
        self.seconds.append(sum(row["seconds"].values()))
        test = row["scores"]["test"]["model"]
        self.say(
            f"{done}/{total}  {run.title}: "
            f"MSE {test['mse_draws_table']:.4g}, ELL {test['ell_table']:.4g} (table), "
            f"{self.seconds[-1]:.0f} s; {self._left(total - done)}"
        )

    def _left(self, count: int) -> str:
        if count == 0:
            return "all done"
        seconds = sum(self.seconds) / len(self.seconds) * count / self.workers
        return (
            f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"
        )


def drive(
    runs: Sequence[Run],
    rows: Rows,
    engine: AbstractEngine,
    *,
    folder: Path,
    say: Callable[[str], None],
    track: str = "",
) -> dict[str, Failure]:
    """Makes every run that has no row yet; returns what failed, by the run's id.

    Rows are written here and nowhere else, so that a run whose worker was lost and who comes back
    later is not counted twice. Runs that another process is making are waited for.
    """
    unique = {run.id: run for run in runs}
    progress = Progress(engine.workers, say)
    there = len(unique.keys() & rows.ids())
    if there:
        say(f"{there} of {len(unique)} runs are there already")
    claims: dict[str, Claim] = {}
    failures: dict[str, Failure] = {}

    def free() -> Iterator[Task]:
        for id_, run in unique.items():
            if id_ in failures or id_ in claims:
                continue
            claim = rows.claim(id_)
            if claim is None:
                continue
            if id_ in rows.ids():  # finished by another process just before we asked
                claim.release()
                continue
            claims[id_] = claim
            yield Task(run, folder, track)

    try:
        while unique.keys() - rows.ids() - failures.keys():
            with closing(engine.map(perform, free())) as finished:
                for task, result in finished:
                    run = task.run
                    if isinstance(result, Failure):
                        failures[run.id] = result
                        say(f"failed  {run.title}: {result.sentence}")
                    elif rows.append(result):
                        done = len(unique.keys() & rows.ids())
                        progress.finished(run, result, done, len(unique) - len(failures))
                    claims.pop(run.id).release()
            if unique.keys() - rows.ids() - failures.keys():
                time.sleep(OTHERS_PAUSE)
    finally:
        for claim in claims.values():
            claim.release()
    return failures
