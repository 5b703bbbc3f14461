"""A forecast read back from a table: quantiles of the draws instead of the draws."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from comotion.data import formats
from comotion.data.cells import DataTable, Source, numbers
from comotion.errors import BadInput
from comotion.predict.files import QUANTILES

if TYPE_CHECKING:
    import xarray as xr

KEYS = ("sequence", "time", "object", "feature")
CELLS = ("mean", "sd", *QUANTILES)


def read_table(path: Path) -> "xr.Dataset":
    """Mean, sd and `quantile` (level) over sequence, time, object and feature; NaN where the table
    has no row."""
    import xarray as xr

    table, source = _table(path)
    missing = [name for name in (*KEYS, "lead", *CELLS) if name not in table.names]
    if missing:
        raise BadInput(
            f"{path}: there is no column {missing[0]!r}, so this is no forecast; make one with "
            "`comotion predict`, or give the folder of a run"
        )
    time, lead = (numbers(table, name, source) for name in ("time", "lead"))
    sequence, sequences = _numbered(table, "sequence")
    feature, features = _numbered(table, "feature")
    objects, frames, origins = [], [], []
    slot, frame = np.zeros(len(time), int), np.zeros(len(time), int)
    for p in range(len(sequences)):
        own = sequence == p
        names, slot[own] = _in_order(table["object"].astype(str)[own])
        times, frame[own] = np.unique(time[own], return_inverse=True)
        objects.append(names)
        frames.append(times)
        origins.append(float((time - lead)[own][0]))
    cells = (sequence, frame, slot, feature)
    shape = (len(sequences), max(map(len, frames)), max(map(len, objects)), len(features))

    def spread(name: str) -> np.ndarray:
        values = np.full(shape, np.nan)
        values[cells] = numbers(table, name, source)
        return values

    quantiles = np.stack([spread(name) for name in QUANTILES])
    mean = spread("mean")
    return xr.Dataset(
        {
            "mean": (KEYS, mean),
            "sd": (KEYS, spread("sd")),
            "quantile": (("level", *KEYS), quantiles),
            "alive": (KEYS[:3], np.isfinite(mean).any(axis=-1)),
        },
        coords={
            "level": list(QUANTILES.values()),
            "sequence": sequences,
            "feature": features,
            "object_name": (("sequence", "object"), _padded(objects, "", object)),
            "t": (("sequence", "time"), _padded(frames, np.nan, float)),
            "origin": ("sequence", origins),
        },
        attrs={"system": path.stem},
    )


def _table(path: Path) -> tuple[DataTable, Source]:
    if path.suffix.lower() == ".parquet":
        return formats.read_parquet(path), Source(path.name)
    table, source, _ = formats.read_text(path)
    return table, source


def _numbered(table: DataTable, name: str) -> tuple[np.ndarray, list[str]]:
    names, index = _in_order(table[name].astype(str))
    return index, names


def _in_order(names: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Different names as they first come, and the number of each."""
    different = list(dict.fromkeys(names.tolist()))
    place = {name: k for k, name in enumerate(different)}
    return different, np.array([place[name] for name in names.tolist()])


def _padded(rows: list, filler: object, kind: type) -> np.ndarray:
    padded = np.full((len(rows), max(map(len, rows))), filler, kind)
    for p, row in enumerate(rows):
        padded[p, : len(row)] = row
    return padded
