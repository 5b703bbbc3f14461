"""The sizes coordinates announce are those of what they return, for every layout."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates import ALONE, PAIR, Actor
from comotion.coordinates.layout import Layout

LAYOUTS = [
    (Layout(spatial, has_velocity, extra, properties, controls), vectors)
    for spatial, has_velocity, extra, properties, controls in itertools.product(
        [1, 2, 3], [True, False], [0, 2], [0, 2], [0, 1]
    )
    for vectors in ([1, 2] if has_velocity else [1])
]


def welcome_layouts(part):
    """Coordinates that speak of positions and velocities only need no other layouts."""
    return [
        (layout, vectors)
        for layout, vectors in LAYOUTS
        if layout.extra == 0 or part(layout, vectors).takes_extra
    ]


def some_actor(layout, seed):
    rng = np.random.default_rng(seed)
    sizes = (layout.state, layout.properties, layout.controls)
    return Actor(*(jnp.asarray(rng.normal(size=size), jnp.float32) for size in sizes))


def check_sizes(coordinates, layout, vectors, *actors):
    inputs = jax.eval_shape(coordinates.inputs, *actors)
    assert inputs.shape[-1] == coordinates.in_size, layout
    outputs = jax.ShapeDtypeStruct((*inputs.shape[:-1], coordinates.out_size), jnp.float32)
    rates = jax.eval_shape(coordinates.rates, outputs, *actors)
    assert rates.shape == (vectors * layout.spatial + layout.extra,), layout
    assert inputs.dtype == rates.dtype == jnp.float32


@pytest.mark.parametrize("name", ALONE)
def test_sizes_of_alone_coordinates(name):
    for layout, vectors in welcome_layouts(ALONE[name]):
        alone, actor = ALONE[name](layout, vectors), some_actor(layout, 0)
        check_sizes(alone, layout, vectors, actor)


@pytest.mark.parametrize("name", PAIR)
def test_sizes_of_pair_coordinates(name):
    for layout, vectors in welcome_layouts(PAIR[name]):
        pair = PAIR[name](layout, vectors)
        check_sizes(pair, layout, vectors, some_actor(layout, 0), some_actor(layout, 1))


def test_the_papers_pair_inputs_are_the_difference_of_positions_then_velocities_then_properties():
    layout = Layout(2, properties=1)
    actor, other = some_actor(layout, 0), some_actor(layout, 1)
    expected = np.concatenate(
        [
            actor.state[:2] - other.state[:2],
            actor.state[2:],
            other.state[2:],
            actor.properties,
            other.properties,
        ]
    )
    np.testing.assert_array_equal(PAIR["relative"](layout, 1).inputs(actor, other), expected)


@pytest.mark.parametrize(
    ("name", "paper"), [("raw", 10), ("relative", 8), ("galilean", 6), ("radial", 5)]
)
def test_inputs_get_fewer_as_more_symmetry_is_built_in(name, paper):
    assert PAIR[name](Layout(2, properties=1), 1).in_size == paper
