"""A forecast: draws of the future by the names of objects and times, and what is asked of it."""

import dataclasses
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comotion.config.parts import VIEWS
from comotion.data.cells import DataTable
from comotion.data.frames import as_frame
from comotion.data.reading import read
from comotion.data.trajectories import Trajectories
from comotion.data.units import Units, counted, with_unit
from comotion.errors import BadInput
from comotion.predict.blocks import over_draws
from comotion.predict.quantiles import quantile

if TYPE_CHECKING:
    import xarray as xr

    from comotion.predict.effect import Effect

DIMENSIONS = ("draw", "sequence", "time", "object", "feature")


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """Draws of `trajectory` and, with observation noise, of `observation`.

    `dataset` is an xarray with dimensions draw, sequence, time, object and feature; what is not
    defined here is asked of it, so that `forecast["observation"]` and `forecast.sizes` work.
    `object` and `time` are indices of it where all sequences share them; `object_name`, `t` and
    `origin` (the last time seen) are those of each sequence in any case.
    `seen` is the data the forecast was made from, with these `settings` of `predict`.

    >>> low, high = future.sel(object="1", feature="x").interval(0.9)
    >>> bool((low.array <= high.array).all())
    True
    >>> future.mean().to_frame().columns.tolist()
    ['sequence', 'object', 'time', 'x', 'y', 'vx', 'vy']
    """

    dataset: "xr.Dataset"
    seen: Trajectories | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "dataset" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.dataset, name)

    def __getitem__(self, name: Any) -> Any:
        return self.dataset[name]

    def __contains__(self, name: str) -> bool:
        return name in self.dataset

    @property
    def frame_kind(self) -> str:
        """The kind of frame the data came in, if they came in one."""
        return "" if self.seen is None else self.seen.frame_kind

    @cached_property
    def names(self) -> np.ndarray:
        """The name of the object in each slot of each sequence."""
        return self.dataset["object_name"].transpose("sequence", "object").values

    @property
    def times(self) -> np.ndarray:
        """The times forecast, of each sequence."""
        return self.dataset["t"].transpose("sequence", "time").values

    @property
    def units(self) -> Units:
        """Of lengths and times, as the data have them."""
        return Units.among(self.dataset.attrs)

    def mean(self) -> "Summary":
        """Of the draws, for each sequence, time, object and feature."""
        return self._summary("mean", lambda draws: draws.mean("draw"))

    def median(self) -> "Summary":
        """The value that half of the draws are below."""
        return self._summary("median", lambda draws: draws.median("draw", skipna=False))

    def sd(self) -> "Summary":
        """The spread of the draws, observation noise included."""
        return self._summary("sd", lambda draws: draws.std("draw"))

    def quantile(self, level: float) -> "Summary":
        """The value below which a share `level` of the draws is, observation noise included."""
        _check_level(level)
        return self._summary(f"q{level:g}", lambda draws: quantile(draws, level))

    def interval(self, level: float = 0.9) -> "tuple[Summary, Summary]":
        """Lower and upper end of the central band that holds a share `level` of the draws."""
        _check_level(level)
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def sel(
        self,
        *,
        object: str | int | Sequence[str | int] | None = None,
        sequence: str | int | Sequence[str | int] | None = None,
        time: float | int | slice | None = None,
        feature: str | Sequence[str] | None = None,
    ) -> "Forecast":
        """Some objects, sequences, times (the nearest one, or those in a slice) or features."""
        chosen = self.dataset
        if sequence is not None:
            wanted = _listed(sequence)
            chosen = chosen.sel(
                sequence=_known(wanted, list(chosen["sequence"].values), "sequence")
            )
        if object is not None:
            chosen = _with_objects(chosen, _listed(object))
        if time is not None:
            chosen = chosen.isel(time=_moments(chosen, time))
        if feature is not None:
            chosen = chosen.sel(
                feature=_known(_listed(feature), list(chosen["feature"].values), "feature")
            )
        return dataclasses.replace(self, dataset=indexed(chosen))

    def to_frame(self, kind: str | None = None) -> Any:
        """One row for each value: mean, sd and quantiles of its draws, noise included.

        A frame of the kind the data came in, by default of pandas, or `kind`: "pandas", "polars"
        or "pyarrow".
        """
        from comotion.predict.files import summary_table

        return as_frame(summary_table(self.dataset), kind or self.frame_kind)

    def save(self, path: str | Path) -> None:
        """A .nc file keeps every draw; .csv and .parquet hold what `to_frame` gives."""
        from comotion.predict.files import write_dataset

        write_dataset(self.dataset, Path(path))

    to_csv = save

    def score(self, truth: Any, *, train: Any = None) -> Any:
        """How good was it? Beside forecasts without a model, fitted to `train` if it is given.

        `truth` is whatever `read` takes; it holds the frames that were seen, too.
        """
        return VIEWS["evaluate"](self, read(truth), train=None if train is None else read(train))

    def plot(self, sequence: int = 0) -> Any:
        """Median and bands over time beside the frames that were seen."""
        return VIEWS["future_figure"](self, sequence)

    def animate(self, path: str | Path = "forecast.gif", sequence: int = 0) -> Path:
        """A moving picture: the frames seen, then a cloud of draws for each object."""
        return VIEWS["animate_future"](self, path, sequence)

    def __sub__(self, other: "Forecast") -> "Effect":
        """The difference of paired draws: what a change does, with its uncertainty."""
        from comotion.predict.effect import effect

        return effect(self, other)

    def __repr__(self) -> str:
        sizes, times = self.dataset.sizes, self.times
        until = with_unit(f"{np.nanmax(times):.4g}", self.units.time)
        return (
            f"Forecast({sizes['draw']} draws of {counted(sizes['sequence'], 'sequence')}, "
            f"{counted(len(np.unique(self.names[self.names != ''])), 'object')}, "
            f"{counted(sizes['time'], 'time')} from {np.nanmin(times):.4g} to "
            f"{until}; {self.dataset.attrs.get('system', 'unknown')})"
        )

    def _repr_html_(self) -> str:
        return f"<b>{self!r}</b>{self.dataset._repr_html_()}"

    def _summary(self, name: str, reduce: Callable[["xr.DataArray"], "xr.DataArray"]) -> "Summary":
        found = over_draws(self.dataset["observation"].transpose(*DIMENSIONS), reduce)
        return Summary(found.rename(name), self.frame_kind)


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """One number for each sequence, time, object and feature; the rest is asked of its `array`."""

    array: "xr.DataArray"
    frame_kind: str = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "array" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.array, name)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.asarray(self.array.values, *args, **kwargs)

    def to_frame(self, kind: str | None = None) -> Any:
        """A row for each sequence, object and time, a column for each feature."""
        array = self.array
        p, n, a = np.nonzero(np.isfinite(array.values).any(axis=-1))
        names = array["object_name"].transpose("sequence", "object").values
        columns = [
            ("sequence", array["sequence"].values[p].astype(str)),
            ("object", names[p, a].astype(str)),
            ("time", tidy(array["t"].transpose("sequence", "time").values)[p, n]),
        ]
        features = map(str, array["feature"].values)
        columns += zip(features, array.values[p, n, a].T, strict=True)
        return as_frame(DataTable(columns), kind or self.frame_kind)

    def __repr__(self) -> str:
        sizes = ", ".join(counted(size, str(name)) for name, size in self.array.sizes.items())
        return f"Summary({self.array.name} of {sizes})"


def indexed(dataset: "xr.Dataset") -> "xr.Dataset":
    """Names and times as indices where they are those of every sequence, else none."""
    dataset = dataset.drop_vars(["object", "time"], errors="ignore")
    names = dataset["object_name"].transpose("sequence", "object").values
    times = dataset["t"].transpose("sequence", "time").values
    shared = {}
    if (names == names[:1]).all() and len(set(names[0])) == names.shape[1]:
        shared["object"] = names[0].astype(str)
    if np.array_equal(times, np.broadcast_to(times[:1], times.shape)):
        shared["time"] = times[0]
    return dataset.assign_coords(shared)


def last_seen(dataset: "xr.Dataset") -> np.ndarray:
    """The last time seen, of each sequence."""
    if "origin" in dataset.coords:
        return dataset["origin"].values
    return dataset["t"].transpose("sequence", "time").values[:, dataset.attrs["frames_seen"] - 1]


def tidy(times: np.ndarray) -> np.ndarray:
    """For tables: without the last bits of sums of steps, 99.98 instead of 99.97999999999999."""
    steps = np.diff(times, axis=-1)
    steps = steps[steps > 0]
    if not steps.size:
        return times
    return np.round(times, 9 - int(np.floor(np.log10(np.median(steps)))))


def _with_objects(dataset: "xr.Dataset", wanted: list[str]) -> "xr.Dataset":
    """Sequences that have all of the named objects, with these alone."""
    import xarray as xr

    names = dataset["object_name"].transpose("sequence", "object").values
    _known(wanted, sorted({str(name) for name in names.ravel() if name}), "object")
    has = np.array([[name in row for name in wanted] for row in names]).all(axis=1)
    kept = np.flatnonzero(has)
    if not kept.size:
        raise BadInput(f"No sequence has all of the objects {', '.join(wanted)}: ask for fewer.")
    dataset = dataset.drop_vars("object", errors="ignore")
    slots = [[list(names[p]).index(name) for name in wanted] for p in kept]
    return dataset.isel(
        sequence=xr.DataArray(kept, dims="sequence"),
        object=xr.DataArray(np.array(slots), dims=("sequence", "object")),
    )


def _moments(dataset: "xr.Dataset", time: float | int | slice) -> list[int]:
    times = dataset["t"].transpose("sequence", "time").values
    if not np.array_equal(times, np.broadcast_to(times[:1], times.shape), equal_nan=True):
        raise BadInput("The sequences have different times: choose one sequence first.")
    row = times[0]
    if not isinstance(time, slice):
        return [int(np.nanargmin(np.abs(row - time)))]
    low = -np.inf if time.start is None else time.start
    high = np.inf if time.stop is None else time.stop
    chosen = np.flatnonzero((row >= low) & (row <= high)).tolist()
    if not chosen:
        raise BadInput(
            f"No time is from {low:g} to {high:g}: the forecast is from {np.nanmin(row):g} to "
            f"{np.nanmax(row):g}."
        )
    return chosen


def _listed(wanted: Any) -> list[str]:
    return [str(wanted)] if isinstance(wanted, str | int) else [str(name) for name in wanted]


def _known(wanted: list[str], there: list[str], what: str) -> list[str]:
    for name in wanted:
        if name not in there:
            close = difflib.get_close_matches(name, there, n=1)
            guess = f" (did you mean {close[0]!r}?)" if close else ""
            listed = ", ".join(there[:10]) + (", …" if len(there) > 10 else "")
            raise BadInput(f"The forecast has no {what} {name!r}{guess}; it has {listed}.")
    return wanted


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise BadInput(f"{level:g} is no share of the draws: give a number between 0 and 1.")


def dataset_of(forecast: "Forecast | xr.Dataset") -> "xr.Dataset":
    """The draws of a forecast, whether or not it is wrapped."""
    return forecast.dataset if isinstance(forecast, Forecast) else forecast
