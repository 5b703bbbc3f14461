"""Room for the draws of a forecast: in memory, or on the disk in the file they are to be in."""

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comotion.backend.memory import check_room
from comotion.data.netcdf import netcdf_with_room, open_lazily
from comotion.predict.forecast import DIMENSIONS
from comotion.predict.schema import Draws, with_draws

if TYPE_CHECKING:
    import xarray as xr

Shape = tuple[int, int, int, int, int]
Arrays = Mapping[str, Draws]

KINDS = ("trajectory", "observation")
COPIES = 2.5
"""Both kinds, and what putting them together needs for a while."""


def filled(
    empty: "xr.Dataset",
    shape: Shape,
    precision: type[np.floating],
    fill: Callable[[Arrays], dict[str, Any]],
    *,
    out: Path | None,
    together: int,
) -> "xr.Dataset":
    """With both kinds of draws, filled in some `together`; on the disk only these are in memory.

    What `fill` gives is said of the forecast.
    """
    if out is None:
        way_out = "ask for fewer draws or times, or give predict a file to draw into, out='NAME.nc'"
        _check_size(shape, precision, way_out)
        arrays = {kind: np.empty(shape, precision) for kind in KINDS}
        about = fill(arrays)
        return with_draws(empty, arrays).assign_attrs(about)
    few = (min(together, shape[0]), *shape[1:])
    _check_size(few, precision, "a part of a forecast that is drawn at once: ask for fewer times")
    axes: dict[str, int] = dict(zip(DIMENSIONS, shape, strict=True))
    with netcdf_with_room(empty, out, KINDS, axes, precision) as room:
        room.attributes.update(fill(room))
    return open_lazily(out)


def _check_size(shape: Shape, precision: type[np.floating], way_out: str) -> None:
    """Refuses a forecast that memory does not hold, and says how large it would be."""
    draws, sequences, times, objects, features = shape
    bytes_ = COPIES * float(prod(shape)) * np.dtype(precision).itemsize
    what = (
        f"a forecast of {draws} draws × {sequences} sequences × {times} times × {objects} objects "
        f"× {features} features"
    )
    check_room(bytes_, what, way_out)
