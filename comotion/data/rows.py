"""From the columns of a table, long or wide, to rows of numbers: one object at one time each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from comotion.data import cells
from comotion.data.cells import DataTable, Source, natural_order
from comotion.data.checks import POSITIONS, VELOCITIES
from comotion.data.columns import Roles
from comotion.errors import BadInput

Index = Int[np.ndarray, "rows"]
Numbers = Float[np.ndarray, "rows"]

FEATURES = "vx|vy|vz|x|y|z"
WIDE = (
    re.compile(rf"(?P<feature>{FEATURES})[_ .\-]?(?P<object>\d+)", re.IGNORECASE),
    re.compile(rf"(?P<feature>{FEATURES})[_ .\-](?P<object>.+)", re.IGNORECASE),
    re.compile(rf"(?P<object>.+?)[_ .\-](?P<feature>{FEATURES})", re.IGNORECASE),
)


@dataclass(frozen=True)
class Rows:
    """What every row says; `row` is where it stood in the table."""

    sequence: Index
    sequence_names: Sequence[str]
    object: Index
    object_names: Sequence[str]
    time: Numbers
    features: dict[str, Numbers]
    static: dict[str, Numbers]
    controls: dict[str, Numbers]
    row: Index


def long_rows(table: DataTable, roles: Roles, source: Source) -> tuple[Rows, str]:
    """The rows of a long table, and the date its seconds count from."""
    time, origin = cells.times(table, roles.column["time"], source)
    sequence, sequence_names = _sequences(table, roles, source)
    object_, object_names = cells.labels(table, roles.column["object"], source, "object")

    def read(names: Sequence[str]) -> dict[str, Numbers]:
        return {name: cells.numbers(table, roles.column.get(name, name), source) for name in names}

    rows = Rows(
        sequence,
        sequence_names,
        object_,
        object_names,
        time,
        read((*roles.features, *roles.extra)),
        read(roles.static),
        read(roles.controls),
        np.arange(len(table)),
    )
    return rows, origin


def wide_groups(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """For each object its features' columns, if they are named like x_0, y_0, x_1 or fish1_x."""
    for pattern in WIDE:
        groups: dict[str, dict[str, str]] = {}
        for name in names:
            if match := pattern.fullmatch(name.strip()):
                groups.setdefault(match["object"], {})[match["feature"].lower()] = name
        groups = {label: group for label, group in groups.items() if "x" in group}
        if groups:
            return groups
    return {}


def wide_rows(
    table: DataTable, groups: dict[str, dict[str, str]], roles: Roles, source: Source
) -> tuple[Rows, str]:
    """The rows of a table with columns for each object; without a time, rows are frames."""
    _refuse_uneven(groups, source)
    names, count = natural_order(list(groups)), len(table)
    time, origin = np.arange(count, dtype=np.float64), ""
    if "time" in roles.column:
        time, origin = cells.times(table, roles.column["time"], source)
    sequence, sequence_names = _sequences(table, roles, source)
    features = [name for name in (*POSITIONS, *VELOCITIES) if name in groups[names[0]]]
    values = {
        feature: np.concatenate(
            [cells.numbers(table, groups[name][feature], source) for name in names]
        )
        for feature in features
    }
    rows = Rows(
        np.tile(sequence, len(names)),
        sequence_names,
        np.repeat(np.arange(len(names)), count),
        names,
        np.tile(time, len(names)),
        values,
        {},
        {},
        np.tile(np.arange(count), len(names)),
    )
    return rows, origin


def _sequences(table: DataTable, roles: Roles, source: Source) -> tuple[Index, list[str]]:
    if "sequence" in roles.column:
        return cells.labels(table, roles.column["sequence"], source, "sequence")
    return np.zeros(len(table), dtype=np.int64), ["0"]


def _refuse_uneven(groups: dict[str, dict[str, str]], source: Source) -> None:
    first, *others = groups
    for label in others:
        missing = set(groups[first]) ^ set(groups[label])
        if missing:
            has, lacks = (first, label) if missing <= set(groups[first]) else (label, first)
            raise BadInput(
                f"{source.name} has a column {min(missing)} for object {has!r} but none for "
                f"{lacks!r}: give every object the same columns."
            )
