"""Reading what people have: files, folders, frames and arrays."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from comotion.data import arrays as plain
from comotion.data import formats, jumps, slots, store
from comotion.data.cells import DataTable, Source, natural_order
from comotion.data.frames import as_table, kind_of
from comotion.data.tabular import from_table, without_header
from comotion.data.trajectories import Trajectories
from comotion.data.wishes import Reading, Wishes
from comotion.errors import BadInput

TEXT = (".csv", ".txt", ".tsv", ".dat")
FORMATS = (*TEXT, ".parquet", ".nc", ".npy", ".npz")


def read(
    source: Any,
    *,
    object: str | None = None,
    time: str | ArrayLike | None = None,
    fps: float | int | None = None,
    columns: Mapping[str, str] | Sequence[str] = (),
    ignore: Sequence[str] = (),
    extra: Sequence[str] = (),
    keep_jumps: bool = False,
    unit: str = "",
    quiet: bool = False,
) -> Trajectories:
    """Trajectories from a file, a folder or several files, a data frame, or arrays.

    `object` and `time` name the columns that hold them; with `fps` times are frame numbers.
    Usual names are recognised, and a note says how. `unit` is what positions are measured in
    ("cm"); a heading such as "x (cm)" says it, too.

    Rarely needed: `columns` names further parts ({"x": "east"}), or all columns of a file without
    a header, in order; columns in `ignore` are not looked at, those in `extra` become features;
    `keep_jumps` leaves steps alone that nothing could make; `quiet` prints no notes.

    >>> table = pd.DataFrame({"frame": [0, 1, 2], "x_a": [0.0, 0.1, 0.2], "x_b": [1.0, 0.9, 0.8]})
    >>> cm.read(table, fps=50, unit="cm", quiet=True)
    Trajectories(1 sequence, 3 frames, 2 objects, x (cm))
    """
    named = dict(columns) if isinstance(columns, Mapping) else {}
    named |= {"object": object} if object is not None else {}
    named |= {"time": time} if isinstance(time, str) else {}
    wishes = Wishes(
        columns=named or columns,
        times=None if isinstance(time, str) else time,
        fps=fps,
        ignore=[ignore] if isinstance(ignore, str) else ignore,
        extra=[extra] if isinstance(extra, str) else extra,
        keep_jumps=keep_jumps,
        unit=unit,
    )
    reading = understand(source, wishes)
    if not quiet:
        for note in reading.notes:
            print(f"note: {note}", file=sys.stderr)
    return reading.data


def understand(source: Any, wishes: Wishes) -> Reading:
    """Any kind of source; only what it is decides who reads it."""
    if wishes.fps is not None and not wishes.fps > 0:
        raise BadInput(f"fps is {wishes.fps:g}: give the number of frames a second, above 0.")
    if isinstance(source, Trajectories):
        return Reading(source)
    if isinstance(source, str | os.PathLike):
        return _from_path(Path(source), wishes)
    if isinstance(source, np.ndarray):
        return _from_array(source, wishes, "the array")
    if isinstance(source, Mapping) and not hasattr(source, "to_netcdf"):
        return _from_mapping(source, wishes, "the arrays")
    if isinstance(source, list | tuple) and source:
        if all(isinstance(item, str | os.PathLike) for item in source):
            return _from_files([Path(item) for item in source], wishes)
        return _from_array(source, wishes, "the array")
    return _from_frame(source, wishes)


def _from_path(path: Path, wishes: Wishes) -> Reading:
    if path.is_dir():
        files = [file for file in path.iterdir() if file.suffix.lower() in FORMATS]
        files = [file for file in files if not file.name.startswith(".")]
        if not files:
            raise BadInput(
                f"{path} is a folder without data: put {', '.join(FORMATS)} files there."
            )
        return _from_files(files, wishes)
    return _from_file(store.existing(path), wishes)


def _from_file(file: Path, wishes: Wishes) -> Reading:
    suffix = file.suffix.lower()
    if suffix not in FORMATS:
        raise BadInput(
            f"{file.name} ends with {suffix or 'nothing'!r}: use one of {', '.join(FORMATS)}."
        )
    if suffix == ".nc":
        return Reading(store.load(file))
    if suffix in TEXT:
        table, source, dialect = formats.read_text(file)
        if dialect.names is None:
            return without_header(table, wishes, source)
        return from_table(table, wishes, source)
    if suffix == ".parquet":
        return from_table(formats.read_parquet(file), wishes, Source(file.name))
    content = formats.read_arrays(file)
    if isinstance(content, dict):
        return _from_mapping(content, wishes, file.name)
    return _from_array(content, wishes, file.name)


def _from_mapping(arrays: Mapping[str, Any], wishes: Wishes, name: str) -> Reading:
    data = plain.from_arrays(arrays, wishes.times, wishes.fps, name, wishes.unit)
    if data is not None:
        return _cleaned(data, wishes, name)
    return from_table(plain.as_table(arrays, name), wishes, Source(name))


def _from_array(values: Any, wishes: Wishes, name: str) -> Reading:
    data = plain.from_array(values, wishes.times, wishes.fps, name, wishes.unit)
    return _cleaned(data, wishes, name)


def _from_frame(frame: Any, wishes: Wishes) -> Reading:
    if hasattr(frame, "to_netcdf"):
        return Reading(store.from_xarray(frame))
    source = Source("the frame")
    reading = from_table(as_table(frame, source.name), wishes, source)
    return replace(reading, data=replace(reading.data, frame_kind=kind_of(frame)))


def _cleaned(data: Trajectories, wishes: Wishes, name: str) -> Reading:
    """Arrays have no lines: jumps are told by frame."""
    if wishes.keep_jumps:
        return Reading(data)
    found = jumps.find_jumps(data)
    notes = found.sentences(name, "frame", lambda place: place[1])
    return Reading(jumps.leave_out(data, found), tuple(notes))


def _from_files(files: Sequence[Path], wishes: Wishes) -> Reading:
    """One recording each, or one animal each if a tracker wrote them so."""
    named = {file.name: file for file in files}
    files = [named[name] for name in natural_order(list(named))]
    individuals = _individuals(files)
    if individuals is not None:
        return from_table(individuals, wishes, Source(files[0].parent.name))
    readings = [_from_file(store.existing(file), wishes) for file in files]
    data = slots.joined([(f.stem, r.data) for f, r in zip(files, readings, strict=True)])
    notes = dict.fromkeys(
        note.replace(file.name, "every file") if len(files) > 1 else note
        for file, reading in zip(files, readings, strict=True)
        for note in reading.notes
    )
    return Reading(data, tuple(notes))


def _individuals(files: Sequence[Path]) -> DataTable | None:
    if any(file.suffix.lower() != ".npz" for file in files):
        return None
    contents = {file.name: formats.read_arrays(file) for file in files}
    if not all(isinstance(c, dict) and plain.is_individual(c) for c in contents.values()):
        return None
    tables = [plain.as_table(c, name) for name, c in contents.items() if isinstance(c, dict)]
    names = dict.fromkeys(name for table in tables for name in table.names)
    return DataTable([(name, np.concatenate([_filled(t, name) for t in tables])) for name in names])


def _filled(table: DataTable, name: str) -> np.ndarray:
    return table[name] if name in table.names else np.full(len(table), np.nan)
