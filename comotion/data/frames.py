"""Data frames of pandas, polars or pyarrow, to and from trajectories."""

from collections.abc import Sequence
from typing import Any, Literal

from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput


def from_frame(
    frame: Any, *, ignore: Sequence[str] = (), extra: Sequence[str] = ()
) -> Trajectories:
    """Trajectories from a long data frame with the columns of a table file."""
    import narwhals as nw
    import pyarrow as pa

    from comotion.data import tables

    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise BadInput(
            f"A {type(frame).__name__} is no data frame: give one of pandas, polars or pyarrow."
        ) from None
    kept = [str(name) for name in wrapped.columns if name not in ignore]
    # Column by column, because whole pandas frames would bring their index along.
    table = pa.table({name: _arrow_column(wrapped[name], name) for name in kept})
    return tables.from_arrow(table, tables.Source("the frame"), extra)


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
