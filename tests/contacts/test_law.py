"""A contact law is drawn whole, and its KL and spread are those of its Gaussians."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.contacts import (
    Gaussian,
    Parts,
    Plane,
    Restitution,
    Sphere,
    box,
    contact_law,
    gaussian,
    polygon,
)
from comotion.errors import BadInput

DRAWS = 4000


def draws(law):
    return jax.vmap(lambda key: law.draw(key=key))(jax.random.split(jax.random.key(1), DRAWS))


def test_draws_have_the_mean_and_covariance_of_the_posterior():
    covariance = np.array([[0.04, 0.01], [0.01, 0.09]])
    drawn = np.asarray(draws(gaussian([1.0, 2.0], covariance)))
    np.testing.assert_allclose(drawn.mean(axis=0), [1.0, 2.0], atol=4 * 0.3 / DRAWS**0.5)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=4 * 0.13 / DRAWS**0.5)


def test_kl_is_that_of_gaussians_and_given_numbers_cost_nothing():
    covariance = np.array([[0.04, 0.01], [0.01, 0.09]])
    inverse = np.eye(2) / 9.0
    wanted = 0.5 * (
        np.trace(inverse @ covariance)
        + np.array([1.0, 2.0]) @ inverse @ np.array([1.0, 2.0])
        - 2
        + np.log(81.0 / np.linalg.det(covariance))
    )
    assert float(gaussian([1.0, 2.0], covariance).kl(0.0, 3.0)) == pytest.approx(wanted, rel=1e-5)
    assert float(gaussian([1.0, 2.0]).kl(0.0, 3.0)) == 0


def test_a_wall_is_drawn_shifted_along_its_normal_and_tilted_about_its_anchor():
    plane = Plane(np.array([2.0, 0.5]), np.array([1.0, 0.0]), np.diag([0.01, 0.04]) ** 2)
    planes = draws(contact_law(Parts(2, [plane]))).planes
    np.testing.assert_allclose(np.linalg.norm(planes.normals[:, 0], axis=1), 1.0, atol=1e-6)
    assert np.std(planes.anchors[:, 0, 0]) == pytest.approx(0.01, rel=0.06)
    assert np.std(np.arctan(planes.normals[:, 0, 1])) == pytest.approx(0.04, rel=0.06)
    np.testing.assert_allclose(planes.anchors[:, 0, 1], 0.5, atol=1e-6)


@pytest.mark.parametrize("axis", np.eye(3))
def test_tilts_in_space_keep_normals_near_their_own(axis):
    plane = Plane(np.zeros(3), axis, np.diag([0.01, 0.04, 0.04]) ** 2)
    normals = np.asarray(draws(contact_law(Parts(3, [plane]))).planes.normals)[:, 0]
    across = normals[:, axis == 0]
    np.testing.assert_allclose(across.std(axis=0), 0.04, rtol=0.06)


def test_restitution_is_a_function_of_closing_speed_between_its_values():
    law = contact_law(Parts(2, pair=Restitution((0.9, 0.5), (1.0, 3.0))))
    bounce = law.draw(key=jax.random.key(0)).pair
    speeds = jnp.asarray([0.5, 2.0, 9.0], FAST)
    found = bounce.restitution(speeds, jnp.zeros((3, 2), FAST))
    np.testing.assert_allclose(found, [0.9, 0.7, 0.5], rtol=1e-6)


def test_scatter_has_its_size_and_is_the_same_for_the_same_event():
    law = contact_law(Parts(2, wall=Restitution((0.5,), scatter=0.05)))
    bounce = law.draw(key=jax.random.key(0)).wall
    places = jax.random.normal(jax.random.key(1), (DRAWS, 2), FAST)
    found = bounce.restitution(jnp.ones(DRAWS, FAST), places)
    assert float(jnp.std(found)) == pytest.approx(0.05, rel=0.06)
    np.testing.assert_array_equal(found, bounce.restitution(jnp.ones(DRAWS, FAST), places))


def test_a_box_is_four_planes_and_a_polygon_has_its_sides():
    assert len(box([-1, -1], [1, 1])) == 4
    square = polygon([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    normals = {tuple(np.round(wall.normal, 6) + 0.0) for wall in square if isinstance(wall, Plane)}
    assert normals == {(0, -1), (1, 0), (0, 1), (-1, 0)}
    outside = polygon([(-1, -1), (1, -1), (1, 1), (-1, 1)], inside=False)
    assert sum(isinstance(wall, Sphere) for wall in outside) == 4


def test_a_law_of_other_objects_is_refused():
    contacts = contact_law(Parts(2, radii=[1.0, 2.0])).draw(key=jax.random.key(0))
    with pytest.raises(BadInput, match="radii for 2 objects, but there are 3"):
        contacts.reach(3)


def test_the_whole_kl_is_the_sum_of_its_parts():
    law = contact_law(Parts(2, radii=[1.0], radii_covariance=np.array([[0.01]])))
    assert float(law.kl()) == pytest.approx(float(law.radii.kl(0.0, 3.0)))
    assert isinstance(law.radii, Gaussian)
