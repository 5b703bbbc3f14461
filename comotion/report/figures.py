"""Figures of a forecast and of its scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from comotion.data import BadInput, Trajectories
from comotion.predict.forecast import Forecast, dataset_of
from comotion.report import style
from comotion.reproduce.conventions import METRICS, Scores
from comotion.scoring import central_band

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
    figure, panels = style.new_figure(
        len(objects),
        len(coordinates),
        width=1.2 + 4.3 * len(coordinates),
        height=1.1 + 1.45 * len(objects),
        sharex=True,
        sharey="col",
    )
    for row, a in zip(panels, objects, strict=True):
        for axes, coordinate in zip(row, coordinates, strict=True):
            forecast_panel(axes, forecast, data, sequence, a, coordinate)
        name = data.object_names[sequence][a]
        style.label(row[0], y=f"object {name}")
    for axes, coordinate in zip(panels[0], coordinates, strict=True):
        style.label(axes, y=axes.get_ylabel(), title=f"position {coordinate}")
    for axes in panels[-1]:
        axes.set_xlabel("time", fontsize=9, color=style.INK)
    style.headline(figure, _forecast_title(forecast, data, sequence, len(objects)))
    style.legend_below(figure, forecast_legend())
    return figure


def calibration_figure(calibration: xr.Dataset) -> Figure:
    """Observed against nominal coverage (from `calibration_curve`), overall and by lead range."""
    figure, panels = style.new_figure(1, 1, width=4.8, height=4.9)
    axes = panels[0, 0]
    levels = calibration["level"].values
    axes.plot([0, 1], [0, 1], color=style.MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.fill_between([0, 1], [0, 1], 0, color=style.SEEN, linewidth=0)
    shades = style.MAGNITUDE(np.linspace(0.3, 0.95, calibration.sizes["range"]))
    for shade, name in zip(shades, calibration["range"].values, strict=True):
        coverage = calibration["coverage_by_range"].sel(range=name).values
        axes.plot(levels, coverage, color=shade, linewidth=1.2, label=str(name))
    axes.plot(
        levels,
        calibration["coverage"].values,
        color=style.INK,
        linewidth=2,
        marker="o",
        markersize=3.5,
        label="all frames",
    )
    axes.text(0.97, 0.05, "overconfident", ha="right", fontsize=8.5, color=style.MUTED)
    axes.text(0.03, 0.93, "too cautious", ha="left", fontsize=8.5, color=style.MUTED)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    style.label(axes, x="nominal level of the band", y="share of truth inside")
    style.headline(figure, "Calibration of the bands")
    style.legend_below(figure, axes.get_legend_handles_labels()[0], columns=2)
    return figure


def lead_figure(scores: Scores) -> Figure:
    """Error, log likelihood and skill over lead time, beside the references."""
    if scores.by_lead is None:
        raise BadInput(
            "The scores have no lead times; make them with paper_scores(…, by_lead=True)."
        )
    figure, panels = style.new_figure(1, 3, width=11.0, height=3.6)
    for axes, metric in zip(
        panels[0], ("mse_mean_table", "ell_table_all_draws", "skill_crps"), strict=True
    ):
        _lead_panel(axes, scores.by_lead, metric)
    _skill_limits(panels[0, 2], scores.by_lead)
    style.headline(figure, f"{scores.system} by lead time")
    style.legend_below(
        figure,
        [
            Line2D([], [], label=title, **_row_line(row))
            for row, title in zip(scores.rows, scores.titles, strict=True)
        ],
    )
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
    return f"{system}: sequence {data.sequence_names[sequence]}{part}"


def forecast_legend() -> list:
    return [
        Line2D([], [], color=style.INK, linewidth=1.1, label="truth"),
        Line2D([], [], label="frames the forecast saw", **SEEN_MARK),
        Line2D([], [], color=style.MODEL, linewidth=1.3, label="median"),
        Patch(color=style.MODEL, alpha=0.45, linewidth=0, label="50 % band"),
        Patch(color=style.MODEL, alpha=BAND_SHADES[0.95], linewidth=0, label="95 % band"),
    ]


def _row_line(row: str) -> dict[str, Any]:
    if row in style.REFERENCES:
        dashes = (0, (4, 2)) if row == "climatology" else (0, (1, 1))
        return {"color": style.REFERENCES[row], "linewidth": 1.4, "linestyle": dashes}
    return {"color": style.MODEL, "linewidth": 1.9}


def _lead_panel(axes: Axes, by_lead: xr.Dataset, metric: str) -> None:
    lead = by_lead["lead"].values
    axes.axvspan(min(lead[0], 0.0), 0.0, color=style.SEEN, linewidth=0, zorder=0)
    for row in by_lead["row"].values.tolist():
        axes.plot(lead, by_lead[metric].sel(row=row).values, **_row_line(row))
    axes.margins(x=0.01)
    described = METRICS[metric]
    style.label(axes, x="time since the last frame seen", title=described.label)
    _robust_limits(axes, [by_lead[metric].sel(row=row).values for row in ("model", "climatology")])


def _robust_limits(axes: Axes, curves: Sequence[np.ndarray]) -> None:
    """Limits set by the model and climatology: constant velocity may leave the panel.

    An error starts at zero.
    """
    values = np.concatenate(curves)
    values = values[np.isfinite(values)]
    if len(values):
        low, high = values.min(), values.max()
        room = 0.08 * (high - low or 1.0)
        axes.set_ylim(0.0 if low >= 0 else low - room, high + room)


def _skill_limits(axes: Axes, by_lead: xr.Dataset) -> None:
    low = np.nanmin(by_lead["skill_crps"].sel(row="model").values, initial=-0.2)
    axes.set_ylim(max(low - 0.05, -1.0), 1.03)
