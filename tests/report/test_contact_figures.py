"""Learned walls and sizes in pictures."""

import dataclasses

import numpy as np
import pytest

from comotion.contacts import Outline, Parts, Plane, Sphere, box, contact_law, outline
from comotion.data import Trajectories
from comotion.report.animation import render
from comotion.report.fields import independent_field_figure, interaction_field_figure
from tests.report.explorer.conftest import tiny_model, walks


def test_walls_of_a_box_end_where_they_meet_and_stand_where_rims_touch():
    law = contact_law(Parts(2, box([-1.0, -2.0], [1.0, 2.0]), radii=[0.25]))
    seen = outline(law, np.array([10.0, 0.0]), 2.0)
    ends = np.concatenate(seen.segments)
    np.testing.assert_allclose(np.abs(ends - [10.0, 0.0]), [[2.5, 4.5]] * 8, rtol=1e-6)
    assert seen.radius == pytest.approx(0.5)


def test_an_open_wall_is_long_and_a_round_one_a_circle():
    wall = Plane(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    law = contact_law(Parts(2, [wall, Sphere(np.array([0.0, 1.0]), 3.0)]))
    seen = outline(law, np.zeros(2), 1.0)
    assert np.ptp(seen.segments[0][:, 1]) > 10
    assert seen.circles == ((0.0, 1.0, 3.0),)
    assert seen.radius is None


def test_an_animation_has_room_for_the_walls():
    data = Trajectories.from_arrays(np.zeros((1, 3, 1, 2)) + np.linspace(0, 1, 3)[:, None, None])
    ends = np.array([[-1.0, 1.2], [2.0, 1.2]])
    around = Outline((ends,), (), 0.1)
    truth, draws = data.values[0], np.repeat(data.values, 4, axis=0)
    plain, walled = (render(truth, draws, data, 0, 1, shown)[0] for shown in (None, around))
    assert np.abs(np.asarray(plain, float) - np.asarray(walled, float)).max() > 50


@pytest.mark.parametrize("only", [True, False])
def test_field_figures_show_the_contact_beside_the_force_or_alone(only):
    fitted = tiny_model(walks(), properties="none")
    law = contact_law(Parts(2, box([-1.0, -1.0], [1.0, 1.0]), [0.3], np.array([[1e-4]]), only=only))
    dynamics = dataclasses.replace(fitted.model.dynamics, contacts=law)
    fitted = dataclasses.replace(fitted, model=dataclasses.replace(fitted.model, dynamics=dynamics))
    fields = fitted.law._typical
    assert (float(np.abs(fields["f_b"]).max()) == 0.0) == only
    length = float(fitted.scaling.scale[0])
    assert float(fields["contact_distance"].mean()) == pytest.approx(0.6 * length, rel=0.05)
    alone, interaction = independent_field_figure(fields), interaction_field_figure(fields)
    lines = [line for axes in interaction.axes for line in axes.lines]
    marks = [line for line in lines if len(set(np.ravel(line.get_xdata()))) == 1]
    assert np.ravel(marks[-1].get_xdata())[0] == pytest.approx(0.6 * length, rel=0.05)
    assert (len(alone.axes) == 1) == only
    assert ("flies straight on" in str(fitted.law)) == only
