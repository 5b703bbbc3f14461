import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.dynamics.graph import (
    EmptyGraph,
    GivenGraph,
    NearestGraph,
    Neighbours,
    from_both_sides,
    sum_over_neighbours,
)

RNG = np.random.default_rng(0)
POSITIONS = jnp.asarray(RNG.normal(size=(7, 2)), jnp.float32)
COMPLETE = ~np.eye(7, dtype=bool)
ALL = jnp.ones(7, bool)
SPARSE = COMPLETE & (RNG.random((7, 7)) < 0.6)


def heard_sets(neighbours: Neighbours) -> list[set[int]]:
    rows = zip(np.asarray(neighbours.index), np.asarray(neighbours.heard), strict=True)
    return [set(index[heard].tolist()) for index, heard in rows]


def brute_force(allowed, count, radius) -> list[set[int]]:
    positions = np.asarray(POSITIONS, np.float64)
    sets = []
    for a in range(len(positions)):
        near = [
            (np.linalg.norm(positions[a] - positions[b]), b)
            for b in range(len(positions))
            if allowed[a, b] and np.linalg.norm(positions[a] - positions[b]) <= radius
        ]
        sets.append({b for _, b in sorted(near)[:count]})
    return sets


@pytest.mark.parametrize("allowed", [COMPLETE, SPARSE], ids=["complete", "sparse"])
def test_given_graph_hears_exactly_whom_the_data_allow(allowed):
    neighbours = GivenGraph()(POSITIONS, jnp.asarray(allowed), ALL)
    assert heard_sets(neighbours) == [set(np.flatnonzero(row).tolist()) for row in allowed]


@pytest.mark.parametrize("allowed", [COMPLETE, SPARSE], ids=["complete", "sparse"])
@pytest.mark.parametrize(("count", "radius"), [(2, np.inf), (3, 1.0), (None, 1.0), (10, np.inf)])
def test_nearest_graph_agrees_with_brute_force(allowed, count, radius):
    neighbours = NearestGraph(count, radius)(POSITIONS, jnp.asarray(allowed), ALL)
    assert heard_sets(neighbours) == brute_force(allowed, count, radius)


def test_nobody_hears_anybody_twice():
    for graph in (GivenGraph(), NearestGraph(4)):
        for row in np.asarray(graph(POSITIONS, jnp.asarray(COMPLETE), ALL).index):
            assert len(set(row.tolist())) == len(row)


def test_the_cost_follows_the_edges():
    allowed = jnp.asarray(COMPLETE)
    assert GivenGraph()(POSITIONS, allowed, ALL).index.shape == (7, 6)
    assert NearestGraph(2)(POSITIONS, allowed, ALL).index.shape == (7, 2)
    assert EmptyGraph()(POSITIONS, allowed, ALL).index.shape == (7, 0)


def test_an_object_alone_hears_nobody():
    for graph in (GivenGraph(), NearestGraph(2), EmptyGraph()):
        neighbours = graph(POSITIONS[:1], jnp.zeros((1, 1), bool), ALL[:1])
        assert neighbours.index.shape == (1, 0)
        total = sum_over_neighbours(jnp.zeros((1, 0, 3), jnp.float32), neighbours.heard)
        np.testing.assert_array_equal(total, np.zeros((1, 3)))


def test_sum_over_neighbours_counts_only_messages_that_are_heard():
    messages, heard = RNG.normal(size=(4, 3, 2)), RNG.random((4, 3)) < 0.5
    expected = [messages[a, heard[a]].sum(axis=0) for a in range(4)]
    total = sum_over_neighbours(jnp.asarray(messages), jnp.asarray(heard))
    np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_a_message_that_is_not_heard_cannot_spoil_the_sum_or_its_gradient():
    messages = jnp.asarray([[[jnp.nan], [2.0]]], jnp.float32)
    heard = jnp.asarray([[False, True]])
    total, gradient = jax.value_and_grad(lambda m: sum_over_neighbours(m, heard).sum())(messages)
    assert total == 2.0
    np.testing.assert_array_equal(gradient, [[[0.0], [1.0]]])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_half_the_messages_tell_all_where_those_of_a_pair_are_opposite(count):
    positions = jnp.asarray(RNG.normal(size=(count, 2)))
    index = GivenGraph()(positions, ~jnp.eye(count, dtype=bool), jnp.ones(count, bool)).index
    messages = positions[:, None] - positions[index]
    np.testing.assert_allclose(from_both_sides(messages[:, : count // 2]), messages)
