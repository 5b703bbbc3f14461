"""Which run a row is of, in the words of today: parts are added and renamed, and recipes change."""

import json
from functools import cache
from typing import Any

from comotion.config import Recipe, SystemConfig, from_dict
from comotion.errors import BadInput
from comotion.jobs.rows import Row
from comotion.reproduce.runs import (
    OURS,
    PROTOCOL,
    TRUE_DYNAMICS,
    AbstractSource,
    Fit,
    Ours,
    Run,
    Truth,
)
from comotion.reproduce.scenes import PaperScene
from comotion.reproduce.tables import run


def run_of(row: Row) -> Run | None:
    """The row's run; None where today's parts can no longer say it, or it was scored otherwise."""
    return _read(json.dumps(row["run"]))


def id_of(row: Row) -> str:
    """What the row's run is called today."""
    run = run_of(row)
    return row["id"] if run is None else run.id


@cache
def _read(text: str) -> Run | None:
    told = json.loads(text.replace('"inf"', "Infinity"))
    if told.get("protocol") != PROTOCOL:
        return None
    try:
        scene, source = PaperScene(**told["scene"]), _source(told["name"], told["source"])
        wanted = run(source.name, scene, told["scale"], told["seed"]).draws
    except (BadInput, KeyError, TypeError):
        return None
    draws = min(told["draws"], wanted)  # more are as good
    return Run(source, scene, told["seed"], told["scale"], draws)


def _source(name: str, told: dict[str, Any]) -> AbstractSource:
    if name == TRUE_DYNAMICS:
        return Truth(**told)
    system = from_dict(SystemConfig, told["system"])
    plan = from_dict(Recipe, told["recipe"])
    return Ours(system, plan) if name == OURS else Fit(system, plan)
