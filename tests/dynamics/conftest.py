from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates import ALONE, PAIR
from comotion.coordinates.layout import Layout
from comotion.dynamics import InteractingDynamics, Scene, Sum
from comotion.dynamics.graph import GivenGraph
from comotion.functions import MLP


@pytest.fixture(scope="session")
def make_dynamics() -> Callable[..., InteractingDynamics]:
    """Interacting dynamics of two small networks, or of the functions given."""
    return _make_dynamics


@pytest.fixture(scope="session")
def make_scene() -> Callable[..., tuple[jax.Array, Scene]]:
    """Random states of so many objects that all hear each other."""
    return _make_scene


def _make_dynamics(
    layout=None,
    *,
    alone="raw",
    pair="relative",
    order=1,
    accumulation=None,
    graph=None,
    functions=None,
) -> InteractingDynamics:
    layout = layout or Layout(2)
    vectors = layout.vectors if order == 1 else 1
    alone_coordinates = ALONE[alone](layout, vectors)
    pair_coordinates = PAIR[pair](layout, vectors)
    f_s, f_b = functions or (
        MLP.init(
            in_size=part.in_size,
            out_size=part.out_size,
            hidden=8,
            activation="tanh",
            key=jax.random.key(number),
        )
        for number, part in enumerate((alone_coordinates, pair_coordinates))
    )
    return InteractingDynamics(
        alone=f_s,
        pair=f_b,
        accumulation=accumulation or Sum(),
        alone_coordinates=alone_coordinates,
        pair_coordinates=pair_coordinates,
        graph=graph or GivenGraph(),
        layout=layout,
        order=order,
    )


def _make_scene(count, layout=None, seed=0) -> tuple[jax.Array, Scene]:
    layout = layout or Layout(2)
    rng = np.random.default_rng(seed)
    states, properties, controls = (
        jnp.asarray(rng.normal(size=(count, size)), jnp.float32)
        for size in (layout.state, layout.properties, layout.controls)
    )
    scene = Scene(properties, controls, ~jnp.eye(count, dtype=bool), jnp.ones(count, bool))
    return states, scene
