"""Plain arrays as trajectories: (time, object, position), and the files that trackers write."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comotion.data.cells import DataTable
from comotion.data.trajectories import Trajectories
from comotion.data.units import FRAMES, Units
from comotion.errors import BadInput

FEATURES = {
    1: ("x",),
    2: ("x", "y"),
    3: ("x", "y", "z"),
    4: ("x", "y", "vx", "vy"),
    6: ("x", "y", "z", "vx", "vy", "vz"),
}
POSITIONS = ("trajectories", "positions", "tracks", "xy", "coords", "arr_0")
TIMES = ("times", "time", "t", "timestamps")
RATES = ("frames_per_second", "fps", "frame_rate")


def from_array(
    values: ArrayLike,
    times: ArrayLike | None,
    fps: float | int | None,
    where: str,
    unit: str = "",
) -> Trajectories:
    """(time, object, feature), sequences as a leading axis, or (time, feature) of one object."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] in FEATURES:
        array = array[:, None]
    if array.ndim == 3:
        array = array[None]
    if array.ndim != 4 or array.shape[-1] not in FEATURES or array.shape[1] < 2:
        raise BadInput(
            f"{where} has shape {np.shape(values)}: give (time, object, 2), or 3 for x, y, z, or "
            "4 for x, y, vx, vy, with at least two times; several sequences are a leading axis."
        )
    clock = ""
    if times is None:
        times, clock = np.arange(array.shape[1]) / (fps or 1.0), "s" if fps else FRAMES
    return Trajectories.from_arrays(
        array,
        times,
        features=FEATURES[array.shape[-1]],
        object_names=[[str(a) for a in range(array.shape[2])]] * len(array),
        units=Units(unit, clock),
    )


def from_arrays(
    arrays: Mapping[str, Any],
    times: ArrayLike | None,
    fps: float | int | None,
    where: str,
    unit: str = "",
) -> Trajectories | None:
    """One array of positions beside its times and rate (idtracker.ai); None for anything else."""
    stacked = {k: v for k, v in arrays.items() if np.ndim(v) in (3, 4)}
    names = [name for name in POSITIONS if name in stacked] or list(stacked)
    if not names:
        return None
    if len(names) > 1 and names[0] not in POSITIONS:
        raise BadInput(
            f"{where} holds several arrays ({', '.join(names)}): read the one you mean, "
            f"for example cm.read(arrays[{names[0]!r}])."
        )
    if times is None:
        count = np.shape(stacked[names[0]])[-3]
        found = (arrays[name] for name in TIMES if np.shape(arrays.get(name, ())) == (count,))
        times = next(found, None)
    rates = (float(arrays[name]) for name in RATES if name in arrays)
    return from_array(stacked[names[0]], times, fps or next(rates, None), where, unit)


def as_table(arrays: Mapping[str, Any], name: str) -> DataTable:
    """Columns of one length as a table; TRex writes one such file for each individual."""
    columns = {key: np.asarray(value) for key, value in arrays.items() if np.ndim(value) == 1}
    if not columns:
        raise BadInput(f"{name} holds no columns: give arrays of one length, one for each column.")
    lengths = [len(column) for column in columns.values()]
    rows = max(set(lengths), key=lengths.count)
    columns = {key: column for key, column in columns.items() if len(column) == rows}
    if is_individual(arrays):
        # Where TRex lost an animal, its positions are infinite.
        columns = {key: _finite(column) for key, column in columns.items()}
        columns["object"] = np.full(rows, individual(name))
        columns.pop("id", None)
    return DataTable(list(columns.items()))


def is_individual(arrays: Mapping[str, Any]) -> bool:
    return any(key.endswith("#wcentroid") for key in arrays)


def individual(name: str) -> str:
    """The end of a file's name: group_fish3.npz is fish3."""
    return name.rsplit(".", 1)[0].rsplit("_", 1)[-1]


def _finite(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind != "f":
        return column
    return np.where(np.isfinite(column), column, np.nan)
