"""The paper's figures: bands of two systems, one ball moved by f_s alone, and the overview."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from comotion.data import Trajectories
from comotion.report import style
from comotion.report.figures import forecast_legend, forecast_panel, objects_in_scene
from comotion.report.style import MODEL

SINGLE_SEQUENCES = 3
OVERVIEW_DRAWS = 3
BELIEF_DRAWS = 60
PACE = 3
"""Every so many frames a circle."""


def bands_figure(
    title: str, forecasts: Mapping[str, xr.Dataset], data: Trajectories, sequence: int = 0
) -> Figure:
    """Truth and bands of the first coordinate: one row an object, one column a system."""
    objects = objects_in_scene(data, sequence)
    figure, panels = style.object_panels(len(objects), len(forecasts), sharey=True)
    coordinate = data.features[0]
    low, high = np.nanmin(data.values[..., 0]), np.nanmax(data.values[..., 0])
    for column, (name, forecast) in zip(panels.T, forecasts.items(), strict=True):
        for axes, a in zip(column, objects, strict=True):
            forecast_panel(axes, forecast, data, sequence, a, coordinate)
            axes.set_ylim(1.4 * low, 1.4 * high)
        style.label(column[0], title=name)
        column[-1].set_xlabel("time", fontsize=9, color=style.INK)
    for axes, a in zip(panels[:, 0], objects, strict=True):
        axes.set_ylabel(
            f"{coordinate} of {style.plain(data.object_names[sequence][a])}", fontsize=9
        )
    style.headline(figure, title)
    style.legend_below(figure, forecast_legend())
    return figure


def single_ball_figure(forecasts: Mapping[str, xr.Dataset], data: Trajectories) -> Figure:
    """Mean forecasts of one ball by f_s alone, one column a system, darker as time goes by."""
    rows = min(SINGLE_SEQUENCES, len(data))
    columns = len(forecasts) + 1
    figure, panels = style.new_figure(rows, columns, width=2.3 * columns, height=2.3 * rows + 0.6)
    limit = 1.15 * float(np.nanmax(np.abs(data.values[..., :2])))
    for p in range(rows):
        truth = data.values[p, :, 0, :2]
        _circles(panels[p, 0], truth, limit)
        for axes, forecast in zip(panels[p, 1:], forecasts.values(), strict=True):
            mean = forecast["trajectory"].isel(sequence=p, object=0).mean("draw")
            axes.plot(*truth.T, color=style.FAINT, linewidth=2)
            _circles(axes, mean.transpose("time", "feature").values[:, :2], limit)
    for axes, name in zip(panels[0], ["truth", *forecasts], strict=True):
        style.label(axes, title=name)
    style.headline(figure, "One ball, moved by f_s that was learned from three")
    return figure


def overview_figure(
    forecast: xr.Dataset, fields: xr.Dataset, data: Trajectories, sequence: int = 0
) -> Figure:
    """One sequence on its way: frames and beliefs, drawn functions, drawn futures, forecast."""
    figure, panels = style.new_figure(2, 3, width=11.0, height=6.4)
    _beliefs(panels[0, 0], forecast, data, sequence)
    _drawn_alone(panels[1, 0], fields)
    _drawn_pair(panels[1, 1], fields)
    _futures(panels[0, 1], forecast, data, sequence)
    for axes, a in zip(panels[:, 2], objects_in_scene(data, sequence, most=2), strict=False):
        forecast_panel(axes, forecast, data, sequence, a, data.features[0])
        style.label(axes, x="time", title=f"forecast of {data.features[0]}, object {a + 1}")
    system = forecast.attrs.get("system", "the model")
    style.headline(figure, f"{system}: frames → beliefs → drawn functions → futures → forecast")
    style.legend_below(figure, forecast_legend())
    return figure


def _beliefs(axes: Axes, forecast: xr.Dataset, data: Trajectories, sequence: int) -> None:
    seen = int(forecast.attrs["frames_seen"])
    drawn = _paths(forecast, sequence, BELIEF_DRAWS)[:, 0]
    for a in objects_in_scene(data, sequence):
        colour = style.OBJECTS[a % len(style.OBJECTS)]
        axes.plot(*data.values[sequence, :seen, a, :2].T, "o-", color=colour, markersize=3)
        axes.plot(*drawn[:, a].T, ".", color=colour, alpha=0.25, markersize=3)
    axes.set_aspect("equal", adjustable="datalim")
    style.label(axes, title=f"{seen} frames, and where they may have begun")


def _drawn_alone(axes: Axes, fields: xr.Dataset) -> None:
    """One drawn f_s: arrows of what it does to velocity over positions."""
    names = [str(name) for name in fields["component"].values]
    rates = [name for name in names if name.startswith("v")] or names
    field = fields["f_s"].isel(draw=0).sel(component=rates).transpose("y", "x", "component")
    x, y = np.meshgrid(fields["x"].values, fields["y"].values)
    step = max(1, len(x) // 11)
    thin = (slice(None, None, step), slice(None, None, step))
    axes.quiver(x[thin], y[thin], *np.moveaxis(field.values[thin], -1, 0)[:2], color=MODEL)
    axes.set_aspect("equal", adjustable="datalim")
    style.label(axes, title="one drawn f_s, for an object moving right")


def _drawn_pair(axes: Axes, fields: xr.Dataset) -> None:
    line = fields["f_b_line"].sel(direction="radial").transpose("draw", "distance").values
    for draw in line[:20]:
        axes.plot(fields["distance"].values, draw, color=MODEL, alpha=0.35, linewidth=1)
    style.label(axes, x="distance", title="drawn f_b: push away from a neighbour")


def _futures(axes: Axes, forecast: xr.Dataset, data: Trajectories, sequence: int) -> None:
    paths = _paths(forecast, sequence, OVERVIEW_DRAWS)
    for a in objects_in_scene(data, sequence):
        colour = style.OBJECTS[a % len(style.OBJECTS)]
        axes.plot(*data.values[sequence, :, a, :2].T, color=colour, linewidth=2.2, alpha=0.35)
        for path in paths:
            axes.plot(*path[:, a].T, color=colour, linewidth=0.8)
    axes.set_aspect("equal", adjustable="box")
    low, high = np.nanmin(data.values[..., :2]), np.nanmax(data.values[..., :2])
    axes.set(xlim=(1.2 * low, 1.2 * high), ylim=(1.2 * low, 1.2 * high))
    style.label(axes, title=f"{OVERVIEW_DRAWS} drawn futures (broad: truth)")
    handles = [Line2D([], [], color=style.MUTED, linewidth=0.8, label="drawn")]
    axes.legend(handles=handles, frameon=False, fontsize=7.5, loc="upper right")


def _paths(forecast: xr.Dataset, sequence: int, draws: int) -> np.ndarray:
    chosen = forecast["trajectory"].isel(sequence=sequence, draw=slice(draws))
    return chosen.transpose("draw", "time", "object", "feature").values[..., :2]


def _circles(axes: Axes, path: np.ndarray, limit: float) -> None:
    shown = path[::PACE]
    shades = np.linspace(0.15, 1.0, len(shown))
    axes.scatter(*shown.T, c=style.MAGNITUDE(shades), s=26)
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xticks=[], yticks=[])
