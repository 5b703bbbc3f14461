"""The look of every figure, in one place.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart. Styles are set on
each figure rather than in matplotlib's global settings, so that threads do not disturb another.
"""

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

INK = "#1f2933"
MUTED = "#6b7785"
FAINT = "#e4e8ec"
SEEN = "#f1f3f5"
MODEL = "#0072B2"
REFERENCES = {"climatology": "#8a949e", "constant velocity": "#D55E00"}
OBJECTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MAGNITUDE = LinearSegmentedColormap.from_list("magnitude", ["#dcebf5", "#56a3d0", "#00416a"])
UNSURE = LinearSegmentedColormap.from_list("unsure", ["#fdf3e3", "#e9a23b", "#7a3b00"])
DPI = 144


def new_figure(
    rows: int, columns: int, *, width: float, height: float, **layout: Any
) -> tuple[Figure, np.ndarray]:
    """A figure and its panels (rows, columns), size in inches."""
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False, **layout)
    for axes in panels.flat:
        tidy(axes)
    return figure, panels


def object_panels(
    objects: int, columns: int, *, sharey: bool | Literal["col"]
) -> tuple[Figure, np.ndarray]:
    """Courses in time: a row for each object."""
    width, height = 1.2 + 4.3 * columns, 1.1 + 1.45 * objects
    return new_figure(objects, columns, width=width, height=height, sharex=True, sharey=sharey)


def tidy(axes: Axes) -> None:
    """Thin grey frame on two sides, small ticks, faint horizontal lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=MUTED, linewidth=0.6)
    axes.tick_params(colors=MUTED, labelcolor=INK, labelsize=8, width=0.6, length=3)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)


def label(axes: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Axis labels and a title flush left."""
    axes.set_xlabel(x, fontsize=9, color=INK)
    axes.set_ylabel(y, fontsize=9, color=INK)
    if title:
        axes.set_title(title, fontsize=9.5, color=INK, loc="left", fontweight="bold")


def plain(name: str) -> str:
    """A name as it is: dollars of a user are no formula."""
    return name.replace("$", r"\$")


def headline(figure: Figure, title: str) -> None:
    figure.suptitle(title, fontsize=11, color=INK, fontweight="bold", x=0.01, ha="left")


def legend_below(figure: Figure, handles: list, columns: int = 6) -> None:
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handlelength=1.8,
        columnspacing=1.6,
    )
