"""Files: one way in and out for every format, and NetCDF, which holds everything bit for bit."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from comotion.backend.disk import replacing
from comotion.data import formats, tables
from comotion.data.cells import DataTable
from comotion.data.netcdf import open_netcdf, write_netcdf
from comotion.data.trajectories import Trajectories
from comotion.data.units import Units
from comotion.errors import BadInput

if TYPE_CHECKING:
    import xarray

FORMATS = (".csv", ".parquet", ".nc")


def write(data: Trajectories, path: str | os.PathLike) -> None:
    """Write a .csv, .parquet or .nc file, whole or not at all.

    .nc holds everything bit for bit; tables have no graph and no units.

    >>> cm.write(data, "tracks.nc")
    >>> cm.read("tracks.nc")
    Trajectories(2 sequences, up to 12 frames, up to 3 objects, x, y, vx, vy)
    """
    if _format(Path(path)) == ".nc":
        save(data, path)
    else:
        write_table(tables.to_table(data), Path(path))


def write_table(table: DataTable, path: Path) -> None:
    """A .csv or .parquet file, whole or not at all."""
    writer = {".csv": formats.write_csv, ".parquet": formats.write_parquet}[path.suffix.lower()]
    with replacing(path) as temporary:
        writer(table, temporary)


def save(data: Trajectories, path: str | os.PathLike) -> None:
    """Write a NetCDF file with everything there is."""
    write_netcdf(to_xarray(data), path)


def load(path: str | os.PathLike) -> Trajectories:
    """Read a NetCDF file that `save` wrote."""
    file = existing(path)
    content = open_netcdf(file)
    try:
        return from_xarray(content)
    except BadInput:
        raise
    except (KeyError, ValueError, TypeError, IndexError) as error:
        reason = str(error.args[0]).splitlines()[0] if error.args else type(error).__name__
        raise BadInput(
            f"{file.name} holds no trajectories ({reason}): "
            "make such a file with comotion.data.write."
        ) from None


def to_xarray(data: Trajectories) -> "xarray.Dataset":
    import xarray as xr

    variables = {
        "values": (("sequence", "time", "object", "feature"), data.values),
        "object_name": (("sequence", "object"), np.array(data.object_names, dtype=object)),
    }
    coordinates = {
        "t": (("sequence", "time"), data.times),
        "sequence": np.array(data.sequence_names, dtype=object),
        "feature": np.array(data.features, dtype=object),
    }
    if data.graph is not None:
        variables["neighbours"] = (("sequence", "object", "neighbour"), data.graph)
    # NetCDF has no axes of length zero: leave out what there is not.
    if data.static_names:
        variables["static"] = (("sequence", "object", "property"), data.static)
        coordinates["property"] = np.array(data.static_names, dtype=object)
    if data.control_names:
        variables["controls"] = (("sequence", "time", "object", "control"), data.controls)
        coordinates["control"] = np.array(data.control_names, dtype=object)
    return xr.Dataset(variables, coordinates, data.units.attributes)


def from_xarray(dataset: "xarray.Dataset") -> Trajectories:
    """The inverse of `Trajectories.to_xarray`."""

    def names(coordinate: str) -> tuple[str, ...]:
        return tuple(str(name) for name in dataset[coordinate].values)

    return Trajectories.from_arrays(
        dataset["values"].values,
        dataset["t"].values,
        features=names("feature"),
        static=dataset["static"].values if "static" in dataset else None,
        static_names=names("property") if "static" in dataset else None,
        controls=dataset["controls"].values if "controls" in dataset else None,
        control_names=names("control") if "controls" in dataset else None,
        neighbours=dataset["neighbours"].values if "neighbours" in dataset else None,
        sequence_names=names("sequence"),
        object_names=[[str(name) for name in row] for row in dataset["object_name"].values],
        units=Units.among(dataset.attrs),
    )


def existing(path: str | os.PathLike) -> Path:
    file = Path(path)
    if not file.is_file():
        kind = "is a folder, not a file" if file.is_dir() else "does not exist"
        raise BadInput(f"{file} {kind}: check the path.")
    return file


def _format(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix not in FORMATS:
        raise BadInput(
            f"{file.name} ends with {suffix or 'nothing'!r}: use one of {', '.join(FORMATS)}."
        )
    return suffix
