"""Pictures of a forecast by itself: the frames seen, then what may come."""

from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from comotion.data import Trajectories
from comotion.data.units import labelled
from comotion.errors import BadInput
from comotion.predict.forecast import Forecast
from comotion.predict.quantiles import central_band
from comotion.report import style
from comotion.report.animation import MOST_DRAWS, in_plane, render, write_gif
from comotion.report.figures import BAND_SHADES, MOST_OBJECTS, SEEN_MARK, forecast_legend

POSITIONS = ("x", "y", "z")
MOST_SEEN = 30
ON_FRAME = 1e-3
FRAMES_PER_SECOND = 12.0


def future_figure(forecast: Forecast, sequence: int = 0) -> Figure:
    """Median and bands over time: a row of panels for each object, a column for each coordinate."""
    coordinates = _coordinates(forecast)
    draws = _of_sequence(forecast, "observation", sequence)
    there = np.flatnonzero(np.isfinite(draws[0]).any(axis=(0, 2)))[:MOST_OBJECTS].tolist()
    figure, panels = style.object_panels(len(there), len(coordinates), sharey="col")
    times = forecast.times[sequence]
    for row, a in zip(panels, there, strict=True):
        for axes, coordinate in zip(row, coordinates, strict=True):
            k = list(forecast["feature"].values).index(coordinate)
            ordered = np.sort(draws[:, :, a, k], axis=0)
            for level, shade in BAND_SHADES.items():
                low, high = central_band(ordered, level)
                axes.fill_between(times, low, high, color=style.MODEL, alpha=shade, linewidth=0)
            axes.plot(times, np.median(ordered, axis=0), color=style.MODEL, linewidth=1.3)
            if forecast.seen is not None:
                known, values = _known(forecast, sequence, a, coordinate)
                axes.plot(known, values, **SEEN_MARK)
            axes.margins(x=0.01)
        style.label(row[0], y=f"object {style.plain(str(forecast.names[sequence, a]))}")
    unit = forecast.units.length
    for axes, coordinate in zip(panels[0], coordinates, strict=True):
        style.label(axes, y=axes.get_ylabel(), title=labelled(f"position {coordinate}", unit))
    for axes in panels[-1]:
        axes.set_xlabel(labelled("time", forecast.units.time), fontsize=9, color=style.INK)
    style.headline(figure, repr(forecast))
    style.legend_below(figure, forecast_legend()[1:])
    return figure


def animate_future(forecast: Forecast, path: str | Path, sequence: int = 0) -> Path:
    """Objects where they were seen, then clouds of draws; a .gif file."""
    _coordinates(forecast)
    if forecast.seen is None:
        raise BadInput("This forecast does not know the frames it was made from: make it again.")
    seen, path = forecast.seen, Path(path)
    p = seen.sequence_names.index(str(forecast["sequence"].values[sequence]))
    slots = [seen.object_names[p].index(str(name)) for name in forecast.names[sequence] if name]
    times, draws = forecast.times[sequence], _of_sequence(forecast, "trajectory", sequence)
    before = seen.times[p][seen.times[p] < times[0]][-MOST_SEEN:]
    clock = np.concatenate([before, times])
    truth = _at(clock, seen.times[p, : seen.lengths[p]], seen.values[p][:, slots])
    blank = np.full((len(draws), len(before), *draws.shape[2:]), np.nan)
    clouds = np.concatenate([blank, draws], axis=1)[:MOST_DRAWS, :, : len(slots)]
    data = Trajectories.from_arrays(
        truth[None], clock, features=seen.features, units=forecast.units
    )
    paths, cloud = in_plane(truth, data.spatial), in_plane(clouds, data.spatial)
    write_gif(render(paths, cloud, data, 0, len(before)), path, FRAMES_PER_SECOND)
    return path


def _at(
    clock: Float[np.ndarray, " K"],
    times: Float[np.ndarray, " N"],
    values: Float[np.ndarray, "M A O"],
) -> Float[np.ndarray, "K A O"]:
    """The frame seen at each time, NaN where there was none."""
    nearest = np.abs(clock[:, None] - times[None]).argmin(axis=1)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    hit = np.abs(clock - times[nearest]) < ON_FRAME * step
    return np.where(hit[:, None, None], values[nearest], np.nan)


def _known(
    forecast: Forecast, sequence: int, a: int, feature: str
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Times and values of the frames that were given."""
    seen = forecast.seen
    assert seen is not None
    name = str(forecast["sequence"].values[sequence])
    p = seen.sequence_names.index(name)
    slot = seen.object_names[p].index(str(forecast.names[sequence, a]))
    values = seen.values[p, :, slot, seen.features.index(feature)]
    kept = np.isfinite(values)
    return seen.times[p][kept], values[kept]


def _coordinates(forecast: Forecast) -> list[str]:
    found = [str(name) for name in forecast["feature"].values if name in POSITIONS]
    if not found:
        raise BadInput("The forecast has no positions to draw; use picture_figure for pixels.")
    return found


def _of_sequence(forecast: Forecast, variable: str, sequence: int) -> Float[np.ndarray, "L T A O"]:
    chosen = forecast[variable].isel(sequence=sequence)
    return chosen.transpose("draw", "time", "object", "feature").values
