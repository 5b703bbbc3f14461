"""From a list of runs to a row for each: only what is missing, and nothing twice."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from comotion.backend.disk import Claim
from comotion.jobs.engine import AbstractEngine, Failure
from comotion.jobs.rows import Row, RunRows
from comotion.reproduce.perform import Task, perform
from comotion.reproduce.runs import TRUE_DYNAMICS, Run
from comotion.reproduce.today import id_of

OTHERS_PAUSE = 2.0
"""Seconds between two looks at what other processes have finished."""


Kind = tuple[str, str, str]
"""Runs that take about as long as each other: their source, kind of scene and scale."""


@dataclass
class Progress:
    """Says after each run how far the grid is and how long the rest will take."""

    workers: int
    say: Callable[[str], None]
    seconds: dict[Kind, list[float]] = field(default_factory=dict)

    def learn(self, row: Row) -> float:
        """How long the run took; later ones of its kind are expected to take as long."""
        run, seconds = row["run"], sum(row["seconds"].values())
        kind = (run["name"], run["scene"]["kind"], run["scale"])
        self.seconds.setdefault(kind, []).append(seconds)
        return seconds

    def finished(self, run: Run, row: Row, total: int, missing: Sequence[Run]) -> None:
        seconds, test = self.learn(row), row["scores"]["test"]["model"]
        self.say(
            f"{total - len(missing)}/{total}  {run.title}: "
            f"MSE {test['mse_draws_table']:.4g}, ELL {test['ell_table']:.4g} (table), "
            f"{seconds:.0f} s; {self.left(missing)}"
        )

    def left(self, missing: Sequence[Run]) -> str:
        """Fits of a kind that was never made are expected to take as long as other fits."""
        if not missing:
            return "all done"
        typical = {kind: fmean(seconds) for kind, seconds in self.seconds.items()}
        kinds = [(run.source.name, run.scene.kind, run.scale) for run in missing]
        fits = [
            typical[kind]
            for kind in typical
            if kind[0] != TRUE_DYNAMICS and kind[2] == missing[0].scale
        ]
        if not fits and not typical.keys() >= set(kinds):
            return f"{len(missing)} to go"
        seconds = sum(typical[k] if k in typical else fmean(fits) for k in kinds) / self.workers
        return (
            f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"
        )


def drive(
    runs: Sequence[Run],
    rows: RunRows,
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
    older = set()
    for row in rows.read():
        progress.learn(row)
        older.add(id_of(row))

    def made() -> set[str]:
        return older | rows.ids()

    there = len(unique.keys() & made())
    if there:
        say(f"{there} of {len(unique)} runs are there already")
    claims: dict[str, list[Claim]] = {}
    failures: dict[str, Failure] = {}

    def free() -> Iterator[Task]:
        for id_, run in unique.items():
            task = Task(run, folder, track)
            if id_ in failures or id_ in claims or not (held := _claims(task, rows)):
                continue
            if id_ in made():  # finished by another process just before we asked
                _release(held)
                continue
            claims[id_] = held
            yield task

    try:
        while unique.keys() - made() - failures.keys():
            with closing(engine.map(perform, free())) as finished:
                for task, result in finished:
                    run = task.run
                    if isinstance(result, Failure):
                        failures[run.id] = result
                        report = _report(result, task.home)
                        say(f"failed  {run.title}: {result.sentence} (see {report})")
                    elif rows.append(result):
                        done = made() | failures.keys()
                        missing = [run for id_, run in unique.items() if id_ not in done]
                        progress.finished(run, result, len(unique) - len(failures), missing)
                    _release(claims.pop(run.id))
            if unique.keys() - made() - failures.keys():
                time.sleep(OTHERS_PAUSE)
    finally:
        for held in claims.values():
            _release(held)
    return failures


def _claims(task: Task, rows: RunRows) -> list[Claim]:
    """On the run's row and on its folder, which grids with other rows may share; none if someone
    else has either."""
    row = rows.claim(task.run.id)
    home = task.claim() if row is not None else None
    held = [claim for claim in (row, home) if claim is not None]
    if home is None:
        _release(held)
        return []
    return held


def _release(claims: Sequence[Claim]) -> None:
    for claim in claims:
        claim.release()


def _report(failure: Failure, folder: Path) -> Path:
    """Where it went wrong, kept for whoever wants to know."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "failure.txt"
    path.write_text(f"{failure.sentence}\n\n{failure.traceback}")
    return path
