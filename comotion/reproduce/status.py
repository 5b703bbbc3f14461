"""How far a grid is: what is there, what an older recipe made, what is missing, and how long."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from comotion.jobs.rows import Row
from comotion.reproduce.runs import TRUE_DYNAMICS, Fit, Ours, Run
from comotion.reproduce.tables import PaperTable, runs_of
from comotion.reproduce.today import id_of


@dataclass(frozen=True)
class Status:
    """Of the runs of one table, or of all."""

    label: str
    there: int
    stale: tuple[Run, ...]
    """made by a recipe that is no longer today's"""
    missing: tuple[Run, ...]
    hours: float | None
    """of the runs that are to be made, one at a time; None if no run tells"""


def statuses(
    chosen: Sequence[PaperTable], rows: Sequence[Row], scale: str, seeds: int
) -> list[Status]:
    """Of each table, and of all together if there are several: tables share their runs."""
    of_table = {one.label: runs_of(one, scale, seeds) for one in chosen}
    if len(chosen) > 1:
        together = [run for runs in of_table.values() for run in runs]
        of_table["together"] = list({run.id: run for run in together}.values())
    return [_status(label, runs, rows) for label, runs in of_table.items()]


def _status(label: str, runs: Sequence[Run], rows: Sequence[Row]) -> Status:
    made, before = {id_of(row) for row in rows}, {_cell(row["run"]) for row in rows}
    to_do = [run for run in runs if run.id not in made]
    stale = tuple(run for run in to_do if _cell(run.to_dict()) in before)
    missing = tuple(run for run in to_do if _cell(run.to_dict()) not in before)
    return Status(label, len(runs) - len(to_do), stale, missing, _hours(to_do, rows))


def _hours(runs: Sequence[Run], rows: Sequence[Row]) -> float | None:
    """Each as long as those most like it: the same system on the same kind of scene, at this scale
    or any, else any fit."""
    seconds = [_expected(run, rows) for run in runs]
    known = [value for value in seconds if value is not None]
    return None if len(known) < len(seconds) else sum(known) / 3600


def _expected(run: Run, rows: Sequence[Row]) -> float | None:
    def alike(row: Row) -> tuple[bool, bool, bool]:
        told = row["run"]
        name = told["name"] == run.source.name
        kind = told["scene"]["kind"] == run.scene.kind
        return name, kind, told["scale"] == run.scale

    floor = run.source.name == TRUE_DYNAMICS
    of_its_kind = [row for row in rows if (row["run"]["name"] == TRUE_DYNAMICS) == floor]
    if not of_its_kind:
        return None
    nearest = max(map(alike, of_its_kind))
    return fmean(_seconds(run, row) for row in of_its_kind if alike(row) == nearest)


def _seconds(run: Run, row: Row) -> float:
    """What the row took, had it trained as long and drawn as often as the run will."""
    seconds, told = row["seconds"], row["run"]
    more = dict.fromkeys(seconds, 1.0)
    if isinstance(run.source, Fit | Ours):
        more["fit"] = _work(run.to_dict()) / max(1, _work(told))
        more["forecast test"] = run.draws / told["draws"]
    return sum(more[phase] * taken for phase, taken in seconds.items())


def _work(told: dict) -> int:
    """Frames that are followed in training."""
    recipe = told["source"]["recipe"]
    followed = sum(stage["iterations"] * stage["horizon"] for stage in recipe["stages"])
    return recipe["windows"] * followed


def _cell(told: dict) -> tuple:
    return told["name"], *told["scene"].values(), told["scale"], told["seed"]
