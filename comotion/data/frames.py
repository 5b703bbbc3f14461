"""Data frames of pandas, polars or pyarrow, to and from trajectories."""

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa


def from_frame(
    frame: Any, *, ignore: Sequence[str] = (), extra: Sequence[str] = ()
) -> Trajectories:
    """Trajectories from a long data frame with the columns of a table file."""
    from comotion.data.reading import read

    return read(frame, ignore=ignore, extra=extra)


def kind_of(frame: Any) -> str:
    """The package that a frame belongs to."""
    return type(frame).__module__.split(".")[0]


def usual_kind() -> str:
    """The frames people have: of pandas, or else of polars, where these are installed."""
    found = (name for name in ("pandas", "polars") if importlib.util.find_spec(name))
    return next(found, "pyarrow")


def to_arrow(frame: Any, ignore: Sequence[str] = ()) -> "pa.Table":
    """Any kind of eager frame as an arrow table, without the columns to ignore."""
    import narwhals as nw
    import pyarrow as pa

    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise BadInput(
            f"A {type(frame).__name__} cannot be read: give a path, a folder, a data frame of "
            "pandas, polars or pyarrow, or arrays of shape (time, object, 2)."
        ) from None
    kept = [str(name) for name in wrapped.columns if name not in ignore]
    # Column by column, because whole pandas frames would bring their index along.
    return pa.table({name: _arrow_column(wrapped[name], name) for name in kept})


def _arrow_column(series: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadInput(
            f"the frame: column {name!r} mixes kinds of values ({error.args[0]}): "
            "convert the column to one kind."
        ) from None


def to_frame(
    data: Trajectories, backend: Literal["pyarrow", "pandas", "polars"] = "pyarrow"
) -> Any:
    """A long data frame, one row for every object and frame with a value."""
    import narwhals as nw

    from comotion.data import tables

    try:
        return nw.from_arrow(tables.to_arrow(data), backend=backend).to_native()
    except ModuleNotFoundError:
        raise BadInput(f"{backend} is not installed: install it or choose 'pyarrow'.") from None
