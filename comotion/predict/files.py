"""Forecasts as files: NetCDF with every draw, or a long table that sums the draws up."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from comotion.data.cells import DataTable
from comotion.data.netcdf import open_netcdf, write_netcdf
from comotion.data.store import write_table
from comotion.errors import BadInput
from comotion.predict.blocks import blocks
from comotion.predict.forecast import DIMENSIONS, last_seen, tidy
from comotion.predict.quantiles import RULE

if TYPE_CHECKING:
    import xarray as xr

QUANTILES = {"q025": 0.025, "q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
QUANTILES |= {"q975": 0.975}


def write_dataset(draws: "xr.Dataset", path: Path, name: str = "observation") -> None:
    """Whole or not at all; the ending of the file's name chooses the format, a table sums up the
    draws called `name`."""
    if path.suffix.lower() == ".nc":
        write_netcdf(draws, path)
    else:
        write_table(summary_table(draws, name), path)


def read_forecast(path: Path) -> "xr.Dataset":
    """A file that `write_dataset` made from a forecast: every draw, or quantiles of them."""

    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; check the path")
    if path.suffix.lower() in (".csv", ".parquet"):
        from comotion.predict.forecast_tables import read_table

        return read_table(path)
    forecast = open_netcdf(path)
    if "trajectory" not in forecast:
        raise BadInput(f"{path}: there is no forecast in this file; make one with `predict`")
    return forecast


def summary_table(forecast: "xr.Dataset", name: str = "observation") -> DataTable:
    """One row for every value forecast: mean, sd and quantiles of its draws, by default with
    observation noise."""
    draws = forecast[name].transpose(*DIMENSIONS)
    alive = forecast["alive"].transpose(*DIMENSIONS[1:4]).values
    features = forecast["feature"].values.astype(str)
    p, n, a = (np.repeat(index, len(features)) for index in np.nonzero(alive))
    times = forecast["t"].transpose("sequence", "time").values
    names = forecast["object_name"].transpose("sequence", "object").values
    lead = times - last_seen(forecast)[:, None]
    parts = [_summaries(draws[:, p, n].values[:, alive[p, n]]) for p, n in blocks(draws.shape)]
    return DataTable(
        [
            ("sequence", forecast["sequence"].values.astype(str)[p]),
            ("object", names.astype(str)[p, a]),
            ("time", tidy(times)[p, n]),
            ("lead", tidy(lead)[p, n]),
            ("feature", np.tile(features, len(p) // len(features))),
            *((sum_, np.concatenate([part[sum_].ravel() for part in parts])) for sum_ in parts[0]),
        ]
    )


def _summaries(
    values: Float[np.ndarray, "L rows O"],
) -> dict[str, Float[np.ndarray, "rows O"]]:
    levels = np.quantile(values, list(QUANTILES.values()), axis=0, method=RULE)
    sums = {"mean": values.mean(axis=0), "sd": values.std(axis=0)}
    return sums | dict(zip(QUANTILES, levels, strict=True))
