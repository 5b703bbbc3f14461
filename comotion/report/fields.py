"""Pictures of the learned functions: what moves an object alone, and what one does to another.

Expected datasets (positions in data units; every function value is a draw from its posterior):

- independent: `f_s` (draw, y, x, component) with coordinates `x` and `y`, an object's position,
  at the velocity in `attrs["velocity"]` (text, optional);
- interaction: `f_b` (draw, dy, dx, component) with coordinates `dx` and `dy`, where the neighbour
  stands relative to the object; and, optionally, `f_b_line` (draw, distance, direction) with the
  coordinate `distance` and directions "radial" (away from the neighbour is positive) and
  "tangential"; and `contact_distance` (draw), where two objects collide, beside `walls` and
  `round_walls`. `attrs["only_contacts"]` says that nothing else acts.

`component` names the outputs: "x", "y" for accelerations (second order), or "x", "y", "vx", "vy"
for the rates of positions and velocities (first order), of which the last two are drawn. Data in
one dimension leave out `y` (or `dy`); data in three give a slice of the same two-dimensional form.
"""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from comotion.data import BadInput
from comotion.data.units import Units, labelled, with_unit
from comotion.predict.quantiles import central_band
from comotion.report import style
from comotion.report.contacts import meeting_figure, walls_figure

MOST_ARROWS = 15


def independent_field_figure(fields: xr.Dataset) -> Figure:
    """Posterior mean of f_s as arrows, and its standard deviation, over positions.

    Of a law that is nothing but hard contacts, the walls.
    """
    if fields.attrs.get("only_contacts"):
        return walls_figure(fields)
    velocity = fields.attrs.get("velocity")
    speed = with_unit(f" at velocity {velocity}", Units.among(fields.attrs).speed)
    title = "Independent kinematics $f_s$" + (speed if velocity else "")
    return _field_figure(fields, "f_s", ("x", "y"), title, ("position x", "position y"))


def interaction_field_figure(fields: xr.Dataset) -> Figure:
    """Posterior mean of f_b as arrows and its standard deviation over relative positions.

    With `f_b_line` a third panel shows the force along and across the line between two objects.
    Of a law that is nothing but hard contacts, where two objects meet.
    """
    if fields.attrs.get("only_contacts"):
        return meeting_figure(fields)
    title = "Interaction $f_b$: what a neighbour does"
    return _field_figure(
        fields, "f_b", ("dx", "dy"), title, ("neighbour's relative x", "neighbour's relative y")
    )


def drawn_components(field: xr.DataArray) -> list[str]:
    """Names of the components to draw: velocities' rates if there are any, else all."""
    names = [str(name) for name in field["component"].values]
    rates = [name for name in names if name.startswith("v")]
    return rates or names


def _field_figure(
    fields: xr.Dataset, name: str, plane: tuple[str, str], title: str, labels: tuple[str, str]
) -> Figure:
    if name not in fields:
        raise BadInput(f"The fields have no variable {name!r}; make them with `predict.fields`.")
    field = fields[name].sel(component=drawn_components(fields[name]))
    in_plane = plane[1] in field.dims
    line, unit = fields.get(f"{name}_line"), Units.among(fields.attrs).length
    count = (2 if in_plane else 1) + (line is not None)
    figure, panels = style.new_figure(1, count, width=0.6 + 4.3 * count, height=4.2)
    if in_plane:
        _mean_panel(panels[0, 0], field, plane)
        _spread_panel(panels[0, 1], field, plane)
        for axes in panels[0, :2]:
            x, y = (labelled(label, unit) for label in labels)
            style.label(axes, x=x, y=y, title=axes.get_title(loc="left"))
    else:
        _line_panel(panels[0, 0], field, plane[0], "component")
        x = labelled(labels[0], unit)
        style.label(panels[0, 0], x=x, y=f"${name}$", title="posterior mean and bands")
    if line is not None:
        _line_panel(panels[0, -1], line, "distance", "direction")
        if "contact_distance" in fields:
            _contact_line(panels[0, -1], fields["contact_distance"].values)
        x = labelled("distance", unit)
        style.label(panels[0, -1], x=x, y=f"${name}$", title="along and across the line")
    style.headline(figure, title)
    return figure


def _mean_panel(axes: Axes, field: xr.DataArray, plane: tuple[str, str]) -> None:
    """Colour for the length of the mean vector, arrows for its direction and length."""
    x, y = plane
    mean = field.mean("draw").transpose("component", y, x)
    size = np.linalg.norm(mean.values, axis=0)
    _coloured(axes, mean[x].values, mean[y].values, size, style.MAGNITUDE)
    every = {dim: -(-mean.sizes[dim] // MOST_ARROWS) for dim in plane}
    sparse = mean.isel({dim: slice(step // 2, None, step) for dim, step in every.items()})
    u, v = _first_two(sparse.values)
    lengths = np.hypot(u, v)
    longest = lengths.max()
    visible = lengths > 0.03 * longest
    spacing = np.ptp(sparse[x].values) / max(sparse.sizes[x] - 1, 1)
    axes.quiver(
        sparse[x].values,
        sparse[y].values,
        np.where(visible, u, np.nan),
        np.where(visible, v, np.nan),
        color=style.INK,
        angles="xy",
        scale_units="xy",
        scale=(longest or 1.0) / (1.3 * spacing or 1.0),
        width=0.0045,
        pivot="mid",
    )
    style.label(axes, title="posterior mean")


def _spread_panel(axes: Axes, field: xr.DataArray, plane: tuple[str, str]) -> None:
    x, y = plane
    variance = field.var("draw").transpose("component", y, x).values
    _coloured(axes, field[x].values, field[y].values, np.sqrt(variance.sum(axis=0)), style.UNSURE)
    style.label(axes, title="posterior standard deviation")


def _coloured(axes: Axes, x: np.ndarray, y: np.ndarray, values: np.ndarray, colours) -> None:
    image = axes.pcolormesh(x, y, values, cmap=colours, vmin=0, shading="gouraud", rasterized=True)
    axes.set_aspect("equal")
    axes.grid(visible=False)
    figure = axes.get_figure()
    assert figure is not None
    bar = figure.colorbar(image, ax=axes, shrink=0.72, aspect=24, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7.5, colors=style.MUTED, labelcolor=style.INK, length=2)


def _line_panel(axes: Axes, field: xr.DataArray, along: str, kinds: str) -> None:
    """Mean and 50 % and 95 % bands of each curve."""
    axes.axhline(0, color=style.MUTED, linewidth=0.8)
    places = field[along].values
    for colour, kind in zip(style.OBJECTS, field[kinds].values, strict=False):
        draws = np.sort(field.sel({kinds: kind}).transpose("draw", along).values, axis=0)
        for level, shade in ((0.95, 0.14), (0.5, 0.3)):
            low, high = central_band(draws, level)
            axes.fill_between(places, low, high, color=colour, alpha=shade, linewidth=0)
        axes.plot(places, draws.mean(axis=0), color=colour, linewidth=1.6, label=str(kind))
    axes.margins(x=0)
    axes.legend(frameon=False, fontsize=8.5, labelcolor=style.INK)


def _contact_line(axes: Axes, distances: np.ndarray) -> None:
    """Where two objects collide, with its 95 % band."""
    low, high = central_band(np.sort(distances)[:, None], 0.95)
    axes.axvspan(float(low[0]), float(high[0]), color=style.INK, alpha=0.2, linewidth=0)
    axes.axvline(float(distances.mean()), color=style.INK, linewidth=1.6, label="hard contact")
    axes.legend(frameon=False, fontsize=8.5, labelcolor=style.INK)


def _first_two(components: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u = components[0]
    return u, components[1] if len(components) > 1 else np.zeros_like(u)
