"""Neighbours found by boxes are those a tree of another library finds, however points lie."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial import KDTree

from comotion.dynamics.graph import NearestGraph
from comotion.dynamics.nearest import by_boxes

POINTS, COUNT = 400, 6
RNG = np.random.default_rng(0)
CROWDS = {
    "uniform": RNG.uniform(size=(POINTS, 2)),
    "with outliers": RNG.standard_cauchy(size=(POINTS, 2)),
    "on a line": RNG.normal(size=(POINTS, 2)) * (1, 1e-6),
    "two far heaps": RNG.normal(size=(POINTS, 2)) + 1e3 * (np.arange(POINTS) % 2)[:, None],
    "all but at one place": 5 + 1e-3 * RNG.normal(size=(POINTS, 2)),
}
COMPLETE = jnp.asarray(~np.eye(POINTS, dtype=bool))
search = jax.jit(by_boxes, static_argnums=(1, 4))


def by_tree(places, active, radius=np.inf):
    """Distances to the nearest, infinite where there are too few."""
    far, _ = KDTree(places[active]).query(places[active], COUNT + 1)
    return np.where(far[:, 1:] <= radius, far[:, 1:], np.inf)


@pytest.mark.parametrize("crowd", CROWDS)
def test_the_nearest_are_those_of_a_tree(crowd):
    places = CROWDS[crowd].astype(np.float32)
    active = np.ones(POINTS, bool)
    found = search(places, COUNT, COMPLETE, active, np.inf)
    away = np.linalg.norm(places[:, None].astype(float) - places[found.who], axis=-1)
    np.testing.assert_allclose(away, by_tree(places.astype(float), active), rtol=1e-5)
    assert all(len(set(row)) == COUNT for row in np.asarray(found.who).tolist())


def test_who_is_not_there_is_not_found_and_a_radius_ends_the_search():
    places = CROWDS["uniform"].astype(np.float32)
    active = RNG.random(POINTS) < 0.1
    found = search(places, COUNT, COMPLETE, active, 0.2)
    away = np.sqrt(np.asarray(found.squared))[active]
    expected = by_tree(places.astype(float), active)
    near = expected <= 0.2
    np.testing.assert_allclose(away[near], expected[near], rtol=1e-5)
    assert (away[~near] > 0.2).all()


def test_in_three_dimensions_with_a_graph_of_their_own_and_few_to_hear():
    places = RNG.normal(size=(POINTS, 3)).astype(np.float32)
    hears = RNG.random((POINTS, POINTS)) < 0.02
    found = search(places, COUNT, hears, np.ones(POINTS, bool), np.inf)
    gaps = np.where(hears, np.linalg.norm(places[:, None] - places[None], axis=-1), np.inf)
    expected = np.sort(gaps, axis=1)[:, :COUNT]
    np.testing.assert_allclose(np.sqrt(found.squared), expected, rtol=1e-5)


def test_a_large_crowd_hears_the_same_in_a_batch_and_alone():
    graph = NearestGraph(COUNT)
    places = jnp.asarray(np.stack([CROWDS["uniform"], CROWDS["with outliers"]]), jnp.float32)
    call = eqx.filter_jit(lambda x: graph(x, COMPLETE, jnp.ones(POINTS, bool)))
    together = eqx.filter_jit(jax.vmap(lambda x: graph(x, COMPLETE, jnp.ones(POINTS, bool))))
    for one, row in zip(map(call, places), together(places).index, strict=True):
        np.testing.assert_array_equal(one.index, row)
