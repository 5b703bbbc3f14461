"""Figures of a forecast."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from comotion.data import BadInput, Trajectories
from comotion.predict.forecast import Forecast, dataset_of
from comotion.predict.quantiles import central_band
from comotion.report import style

MOST_OBJECTS = 6
BAND_SHADES = {0.95: 0.16, 0.5: 0.34}
SEEN_MARK: dict[str, Any] = {
    "color": style.INK,
    "marker": "o",
    "markersize": 2.6,
    "linestyle": "none",
}


def forecast_figure(
    forecast: Forecast | xr.Dataset, data: Trajectories, sequence: int = 0
) -> Figure:
    """Truth, median and bands over time: one row of panels per object, one column per coordinate.

    Bands are of observations, noise included. At most six objects are drawn.
    """
    forecast = dataset_of(forecast)
    check_positions(data)
    coordinates = data.features[: data.spatial]
    objects = objects_in_scene(data, sequence)
    figure, panels = style.object_panels(len(objects), len(coordinates), sharey="col")
    for row, a in zip(panels, objects, strict=True):
        for axes, coordinate in zip(row, coordinates, strict=True):
            forecast_panel(axes, forecast, data, sequence, a, coordinate)
        name = style.plain(data.object_names[sequence][a])
        style.label(row[0], y=f"object {name}")
    for axes, coordinate in zip(panels[0], coordinates, strict=True):
        style.label(axes, y=axes.get_ylabel(), title=f"position {coordinate}")
    for axes in panels[-1]:
        axes.set_xlabel("time", fontsize=9, color=style.INK)
    style.headline(figure, _forecast_title(forecast, data, sequence, len(objects)))
    style.legend_below(figure, forecast_legend())
    return figure


def check_positions(data: Trajectories) -> None:
    if data.spatial == 0:
        raise BadInput(
            "The data have no positions to draw; if the features are pixels, use picture_figure."
        )


def objects_in_scene(data: Trajectories, sequence: int, most: int = MOST_OBJECTS) -> list[int]:
    """Indices of the first objects that take part in a sequence."""
    if not -len(data) <= sequence < len(data):
        raise BadInput(
            f"There is no sequence {sequence}: the data have {len(data)}, counted from 0."
        )
    return np.flatnonzero(data.alive[sequence].any(axis=0))[:most].tolist()


def forecast_panel(
    axes: Axes,
    forecast: xr.Dataset,
    data: Trajectories,
    sequence: int,
    a: int,
    coordinate: str,
) -> None:
    times = data.times[sequence]
    truth = data.values[sequence, :, a, data.features.index(coordinate)]
    draws = (
        forecast["observation"]
        .isel(sequence=sequence, object=a)
        .sel(feature=coordinate)
        .transpose("draw", "time")
        .values
    )
    ordered = np.sort(draws, axis=0)
    seen = int(forecast.attrs["frames_seen"])
    axes.axvspan(times[0], times[seen - 1], color=style.SEEN, linewidth=0, zorder=0)
    for level, shade in BAND_SHADES.items():
        low, high = central_band(ordered, level)
        axes.fill_between(times, low, high, color=style.MODEL, alpha=shade, linewidth=0)
    axes.plot(times, np.median(draws, axis=0), color=style.MODEL, linewidth=1.3)
    axes.plot(times, truth, color=style.INK, linewidth=1.1)
    axes.plot(times[:seen], truth[:seen], **SEEN_MARK)
    axes.margins(x=0.01)


def _forecast_title(forecast: xr.Dataset, data: Trajectories, sequence: int, shown: int) -> str:
    total = len(objects_in_scene(data, sequence, most=data.values.shape[2]))
    part = "" if shown == total else f", {shown} of {total} objects"
    system = forecast.attrs.get("system", "forecast")
    return f"{system}: sequence {style.plain(data.sequence_names[sequence])}{part}"


def forecast_legend() -> list:
    return [
        Line2D([], [], color=style.INK, linewidth=1.1, label="truth"),
        Line2D([], [], label="frames the forecast saw", **SEEN_MARK),
        Line2D([], [], color=style.MODEL, linewidth=1.3, label="median"),
        Patch(color=style.MODEL, alpha=0.45, linewidth=0, label="50 % band"),
        Patch(color=style.MODEL, alpha=BAND_SHADES[0.95], linewidth=0, label="95 % band"),
    ]
