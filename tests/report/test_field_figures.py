from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.quiver import Quiver

from comotion.data import BadInput
from comotion.report import figure_png, independent_field_figure, interaction_field_figure
from comotion.report.fields import drawn_components


def _only(axes: Axes, kind: type) -> Any:
    (artist,) = [child for child in axes.get_children() if isinstance(child, kind)]
    return artist


def test_arrows_are_the_posterior_mean_and_colours_its_length_and_spread(fields):
    figure = independent_field_figure(fields)
    mean, spread = figure.axes[:2]
    arrows, places = _only(mean, Quiver), fields["x"].values
    np.testing.assert_allclose(arrows.U.reshape(9, 9)[2], places, atol=1e-12)
    np.testing.assert_allclose(arrows.V.reshape(9, 9)[:, 2], places, atol=1e-12)
    lengths = _only(mean, QuadMesh).get_array().reshape(9, 9)
    np.testing.assert_allclose(lengths[0, 0], np.hypot(2, 2))
    shift_variance = np.linspace(-1, 1, 21).var()
    np.testing.assert_allclose(_only(spread, QuadMesh).get_array(), np.sqrt(2 * shift_variance))


def test_interaction_has_a_third_panel_with_curves_along_and_across_the_line(fields):
    figure = interaction_field_figure(fields)
    (panel,) = [axes for axes in figure.axes if axes.get_xlabel() == "distance"]
    _, radial, tangential = [np.asarray(line.get_ydata(), dtype=float) for line in panel.lines]
    np.testing.assert_allclose(radial, fields["distance"] ** -2.0)
    np.testing.assert_allclose(tangential, 0, atol=1e-12)
    assert figure_png(figure).startswith(b"\x89PNG")


def test_one_dimension_is_drawn_as_a_line(fields):
    flat = fields.drop_vars("f_b_line").isel(y=4, dy=4, drop=True).sel(component=["x"])
    for draw in (independent_field_figure, interaction_field_figure):
        figure = draw(flat)
        assert len(figure.axes) == 1
        assert figure_png(figure).startswith(b"\x89PNG")


def test_first_order_functions_are_drawn_by_the_rates_of_velocities(fields):
    both = np.concatenate([0 * fields["f_s"].values, fields["f_s"].values], axis=-1)
    first_order = fields[["x", "y"]].assign_coords(component=["x", "y", "vx", "vy"])
    first_order["f_s"] = (("draw", "y", "x", "component"), both)
    assert drawn_components(first_order["f_s"]) == ["vx", "vy"]
    arrows = _only(independent_field_figure(first_order).axes[0], Quiver)
    np.testing.assert_allclose(arrows.U.reshape(9, 9)[2], fields["x"], atol=1e-12)


def test_a_function_that_is_nowhere_active_can_be_drawn(fields):
    figure = independent_field_figure(fields * 0)
    assert figure_png(figure).startswith(b"\x89PNG")


def test_missing_functions_are_refused_in_one_sentence(fields):
    with pytest.raises(BadInput, match=r"no variable 'f_b'; make them with `predict\.fields`"):
        interaction_field_figure(fields[["f_s"]])
