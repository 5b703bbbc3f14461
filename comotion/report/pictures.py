"""Forecasts of what was seen as pictures."""

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.figure import Figure

from comotion.data import BadInput, Trajectories
from comotion.predict.forecast import Forecast, dataset_of
from comotion.report import style

MOST_COLUMNS = 10


def picture_figure(
    forecast: Forecast | xr.Dataset, data: Trajectories, sequence: int = 0
) -> Figure:
    """Truth, mean of the draws and their standard deviation over time, all objects in one scene.

    The features of `data` must be the pixels of square pictures, row after row.
    """
    forecast = dataset_of(forecast)
    side = round(len(data.features) ** 0.5)
    if data.spatial or side**2 != len(data.features):
        raise BadInput(
            f"{len(data.features)} features from {data.features[0]!r} on are not the pixels of "
            "square pictures; use forecast_figure for positions"
        )
    chosen = forecast["trajectory"].isel(sequence=sequence)
    draws = _scene(chosen.transpose("draw", "time", "object", "feature").values, side)
    rows = {
        "truth": (_scene(data.values[sequence], side), style.MAGNITUDE),
        "mean of draws": (draws.mean(axis=0), style.MAGNITUDE),
        "sd of draws": (draws.std(axis=0), style.UNSURE),
    }
    last = int(data.lengths[sequence]) - 1
    frames = np.unique(np.linspace(0, last, MOST_COLUMNS).round().astype(int)).tolist()
    figure, panels = style.new_figure(3, len(frames), width=1.1 * len(frames) + 0.6, height=4.2)
    for line, (name, (pictures, colours)) in zip(panels, rows.items(), strict=True):
        brightest = max(1.0 if colours is style.MAGNITUDE else float(pictures.max()), 1e-6)
        for axes, frame in zip(line, frames, strict=True):
            axes.imshow(pictures[frame], cmap=colours, vmin=0.0, vmax=brightest)
            axes.set(xticks=[], yticks=[])
            axes.grid(visible=False)
        style.label(line[0], y=name)
    seen = int(forecast.attrs["frames_seen"])
    for axes, frame in zip(panels[0], frames, strict=True):
        state = " (seen)" if frame < seen else ""
        axes.set_title(f"frame {frame + 1}{state}", fontsize=8, color=style.INK)
    style.headline(figure, f"{forecast.attrs['system']}: pictures forecast from the first {seen}")
    return figure


def _scene(layers: Float[np.ndarray, "*b A O"], side: int) -> Float[np.ndarray, "*b side side"]:
    """Every pixel as bright as in the brightest layer; an object that is absent has no layer."""
    pictures = np.nan_to_num(layers).max(axis=-2)
    return pictures.reshape(*pictures.shape[:-1], side, side)
