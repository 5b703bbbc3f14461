"""Trajectories as a long table, one row for every object and frame, ready to be written."""

import numpy as np

from comotion.data.cells import DataTable
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput


def to_table(data: Trajectories) -> DataTable:
    """One row for every object and frame with a value."""
    _refuse_untabular(data)
    p, n, a = np.nonzero(_rows_to_keep(data))
    table = [
        ("sequence", _label_column(np.array(data.sequence_names)[p])),
        ("object", _label_column(np.array(data.object_names)[p, a])),
        ("time", data.times[p, n]),
    ]
    parts = [(data.features, data.values[p, n, a])]
    parts.append((tuple(f"static_{name}" for name in data.static_names), data.static[p, a]))
    parts.append((tuple(f"control_{name}" for name in data.control_names), data.controls[p, n, a]))
    for names, array in parts:
        table += zip(names, array.T, strict=True)
    return DataTable(table)


def _refuse_untabular(data: Trajectories) -> None:
    if len(set(data.sequence_names)) < len(data):
        raise BadInput("Two sequences share a name: make the names different or write a .nc file.")
    if not data.everyone_hears_everyone:
        raise BadInput("A table cannot hold a graph of neighbours: write a .nc file instead.")


def _rows_to_keep(data: Trajectories) -> np.ndarray:
    """Rows with a number, and an empty one for each frame or object that would vanish."""
    keep = np.any(data.present, axis=-1) | np.any(~np.isnan(data.controls), axis=-1)
    exists, is_frame = data.exists, np.isfinite(data.times)
    lonely_object = exists & ~keep.any(axis=1)
    keep[:, 0] |= lonely_object
    p, n = np.nonzero(is_frame & ~keep.any(axis=2))
    keep[p, n, exists.argmax(axis=1)[p]] = True
    return keep


def _label_column(names: np.ndarray) -> np.ndarray:
    """Whole numbers where nothing is lost by it."""
    different = set(names.tolist())
    if all(name.lstrip("-").isdecimal() and str(int(name)) == name for name in different):
        return names.astype(np.int64)
    return names
