"""What an object is told of the walls around it, by geometry done by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ortho_group

from comotion.contacts import Parts, Plane, Sphere, box, contact_law, polygon
from comotion.coordinates import ALONE, Actor
from comotion.coordinates.base import AT_REST
from comotion.coordinates.layout import Layout
from comotion.coordinates.wall import FAR

KEY = jax.random.key(0)


def among(walls, spatial=2):
    law = contact_law(Parts(spatial, walls, radii=np.zeros(0), log_masses=np.zeros(1)))
    return ALONE["wall"](Layout(spatial), 1).among(law.draw(key=KEY))


def actor(place, velocity):
    nothing = jnp.zeros(0, jnp.float32)
    return Actor(jnp.asarray([*place, *velocity], jnp.float32), nothing, nothing)


def told(coordinates, place, velocity):
    """Speed, distance, and how much of the way out is ahead and to the left."""
    speed, distance, ahead, left = np.asarray(coordinates.inputs(actor(place, velocity)), float)
    near = 1 - distance / FAR
    return speed, distance, ahead / near, left / near


def test_inside_a_circle_the_wall_is_outwards():
    circle = among([Sphere(np.array([1.0, 0.0]), 2.0)])
    speed, distance, ahead, left = told(circle, (2.4, 0.0), (0.0, 3.0))
    assert speed == pytest.approx(np.hypot(3.0, AT_REST), rel=1e-5)
    assert distance == pytest.approx(0.6, rel=1e-4)
    assert (ahead, left) == pytest.approx((0.0, -1.0), abs=1e-3)  # the wall is to the right


@pytest.mark.parametrize("walls", [box((0, 0), (4, 3)), polygon([(0, 0), (4, 0), (4, 3), (0, 3)])])
def test_of_several_walls_the_nearest_counts(walls):
    coordinates = among(walls)
    _, distance, ahead, left = told(coordinates, (0.3, 1.0), (-1.0, 0.0))
    assert distance == pytest.approx(0.3, rel=1e-4)
    assert (ahead, left) == pytest.approx((1.0, 0.0), abs=3e-3)
    _, distance, ahead, left = told(coordinates, (2.0, 2.9), (1.0, 0.0))
    assert distance == pytest.approx(0.1, rel=1e-3)
    assert (ahead, left) == pytest.approx((0.0, 1.0), abs=3e-3)


def test_far_from_walls_and_without_any_only_speed_counts():
    circle, none = among([Sphere(np.zeros(2), 9.0)]), ALONE["wall"](Layout(2), 1)
    for coordinates in (circle, none):
        inputs = np.asarray(coordinates.inputs(actor((0.1, 0.2), (0.0, 1.0))), float)
        np.testing.assert_allclose(inputs, [np.hypot(1.0, AT_REST), FAR, 0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("spatial", [2, 3])
def test_the_rate_turns_with_the_scene(spatial):
    rng = np.random.default_rng(0)
    turn = ortho_group.rvs(spatial, random_state=0)
    turn[0] *= np.linalg.det(turn)  # a rotation: mirrored, left would be right
    place, velocity, anchor, normal = rng.normal(size=(4, spatial))
    normal /= np.linalg.norm(normal)
    anchor = place + 0.4 * normal
    rates = []
    for R in (np.eye(spatial), turn):
        coordinates = among([Plane(R @ anchor, R @ normal)], spatial)
        one = actor(R @ place, R @ velocity)
        outputs = jnp.sin(jnp.arange(2, dtype=jnp.float32) + jnp.sum(coordinates.inputs(one)))
        rates.append(np.asarray(coordinates.rates(outputs, one)))
    np.testing.assert_allclose(rates[1], turn @ rates[0], atol=1e-4)
    assert np.linalg.norm(rates[0]) > 0.1
