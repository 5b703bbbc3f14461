"""Data frames of pandas, polars or pyarrow, to and from trajectories."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from comotion.data import tables
from comotion.data.cells import DataTable, with_gaps
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput


def from_frame(
    frame: Any, *, ignore: Sequence[str] = (), extra: Sequence[str] = ()
) -> Trajectories:
    """Trajectories from a long data frame with the columns of a table file, as `read` gives them.

    >>> cm.from_frame(cm.to_frame(data))
    Trajectories(2 sequences, up to 12 frames, up to 3 objects, x, y, vx, vy)
    """
    from comotion.data.reading import read

    return read(frame, ignore=ignore, extra=extra)


def to_frame(
    data: Trajectories, backend: Literal["pandas", "polars", "pyarrow"] | None = None
) -> Any:
    """A long data frame, one row for every object and frame with a value.

    Of the kind that the data came in, or `backend`; of pandas if they came in no frame.

    >>> cm.to_frame(data).columns.tolist()
    ['sequence', 'object', 'time', 'x', 'y', 'vx', 'vy']
    """
    return as_frame(tables.to_table(data), backend or data.frame_kind)


def kind_of(frame: Any) -> str:
    """The package that a frame belongs to."""
    return type(frame).__module__.split(".")[0]


def as_table(frame: Any, where: str) -> DataTable:
    """Any kind of eager frame, column by column."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise BadInput(
            f"A {type(frame).__name__} cannot be read: give a path, a folder, a data frame of "
            "pandas, polars or pyarrow, or arrays of shape (time, object, 2)."
        ) from None
    except nw.exceptions.DuplicateError:
        raise BadInput(f"{where} has two columns of one name: remove or rename one.") from None
    return DataTable([(str(name), _column(wrapped.get_column(name))) for name in wrapped.columns])


def _column(series: Any) -> np.ndarray:
    column = series.to_numpy()
    # Every package has its own sign for what is missing.
    return with_gaps(column, series.is_null().to_numpy()) if column.dtype == object else column


def as_frame(table: DataTable, kind: str) -> Any:
    """A frame of this kind, by default of pandas; what is missing is null where there is such."""
    import narwhals as nw

    backend: Any = kind or "pandas"
    try:
        frame = nw.from_dict(dict(table.columns), backend=backend)
    except (ModuleNotFoundError, ValueError):
        raise BadInput(
            f"{kind} frames cannot be made here: install {kind}, or choose pandas, polars or "
            "pyarrow."
        ) from None
    numbers = nw.selectors.by_dtype(nw.Float32, nw.Float64)
    return frame.with_columns(numbers.fill_nan(None)).to_native()
