"""Pictures of a law that is nothing but hard contacts: its walls, and where two objects meet."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from comotion.data.units import Units, labelled
from comotion.report import style

SIDE = 4.2


def walls_figure(fields: xr.Dataset) -> Figure:
    """What an object by itself meets."""
    figure, panels = style.new_figure(1, 1, width=SIDE + 1.2, height=SIDE + 0.6)
    axes = panels[0, 0]
    draw_walls(axes, fields["walls"].values, fields["round_walls"].values)
    axes.set_aspect("equal")
    axes.margins(0.08)
    unit = Units.among(fields.attrs).length
    style.label(axes, x=labelled("x", unit), y=labelled("y", unit))
    style.headline(figure, "Alone: straight flight between walls")
    return figure


def meeting_figure(fields: xr.Dataset) -> Figure:
    """Draws of the distance at which two objects collide, with their mean."""
    figure, panels = style.new_figure(1, 1, width=SIDE + 1.6, height=SIDE)
    axes = panels[0, 0]
    if "contact_distance" in fields:
        distances = fields["contact_distance"].values
        axes.hist(distances, bins=20, color=style.MODEL, alpha=0.35)
        axes.axvline(float(distances.mean()), color=style.INK, linewidth=1.6)
        axes.ticklabel_format(useOffset=False)
    distance = labelled("distance of contact", Units.among(fields.attrs).length)
    style.label(axes, x=distance, y="draws of the law")
    style.headline(figure, "Two objects: " + fields.attrs["contacts"].split(";")[0])
    return figure


def draw_walls(axes: Axes, segments: np.ndarray, circles: np.ndarray) -> None:
    for ends in segments:
        axes.plot(*ends.T, color=style.MUTED, linewidth=2.0, solid_capstyle="round")
    for x, y, radius in circles:
        around = Circle((x, y), radius, facecolor="none", edgecolor=style.MUTED, linewidth=2.0)
        axes.add_patch(around)
