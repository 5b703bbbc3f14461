"""What the coordinates promise holds for every function seen through them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ortho_group

from comotion.coordinates import ALONE, PAIR, Actor
from comotion.coordinates.layout import Layout
from comotion.functions import MLP

RNG = np.random.default_rng(0)
KEY = jax.random.key(0)


def some_function(in_size, out_size, seed=0):
    """An arbitrary smooth function; the coordinates must not care which."""
    rng = np.random.default_rng(seed)
    first = jnp.asarray(rng.normal(size=(in_size, 16)))
    second = jnp.asarray(rng.normal(size=(16, out_size)))
    phase = jnp.asarray(rng.normal(size=16))

    def function(x):
        phases = phase.reshape((1,) * (x.ndim - 1) + (16,))
        return jnp.sin(x @ first + phases) @ second

    return function


def some_actor(layout, seed):
    rng = np.random.default_rng(seed)
    return Actor(
        jnp.asarray(rng.normal(size=layout.state)),
        jnp.asarray(rng.normal(size=layout.properties)),
        jnp.asarray(rng.normal(size=layout.controls)),
    )


def message(name, layout, vectors, actor, other):
    pair = PAIR[name](layout, vectors)
    function = some_function(pair.in_size, pair.out_size)
    return pair.rates(function(pair.inputs(actor, other)), actor, other)


def own_rate(name, layout, vectors, actor):
    alone = ALONE[name](layout, vectors)
    return alone.rates(some_function(alone.in_size, alone.out_size)(alone.inputs(actor)), actor)


def turned(rates_or_state, turn):
    return (rates_or_state.reshape(-1, len(turn)) @ turn.T).reshape(-1)


def moved(actor, layout, turn=None, shift=0.0, boost=0.0):
    state = actor.state if turn is None else turned(actor.state, turn)
    state = state.at[layout.position].add(shift).at[layout.velocity].add(boost)
    return Actor(state, actor.properties, actor.controls)


def turns(spatial):
    rotation = ortho_group.rvs(spatial, random_state=1)
    mirror = np.diag([-1.0] + [1.0] * (spatial - 1))
    return {"turn": jnp.asarray(rotation), "mirror and turn": jnp.asarray(rotation @ mirror)}


@pytest.mark.parametrize("name", ["radial", "central", "multiplying"])
@pytest.mark.parametrize("spatial", [2, 3])
@pytest.mark.parametrize("has_velocity", [True, False])
def test_turning_mirroring_and_shifting_the_scene_does_the_same_to_radial_messages(
    name, spatial, has_velocity
):
    layout = Layout(spatial, has_velocity, properties=2)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    before = message(name, layout, layout.vectors, actor, other)
    assert jnp.linalg.norm(before) > 0.1
    for what, turn in turns(spatial).items():
        scene = [moved(a, layout, turn, shift=3.0) for a in (actor, other)]
        after = message(name, layout, layout.vectors, *scene)
        np.testing.assert_allclose(after, turned(before, turn), atol=1e-9, err_msg=what)


@pytest.mark.parametrize(
    "name", ["relative", "galilean", "radial", "central", "distance", "log-distance", "aligning"]
)
def test_messages_do_not_depend_on_where_the_pair_is(name):
    layout = Layout(2, properties=1)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    before = message(name, layout, 1, actor, other)
    after = message(name, layout, 1, *(moved(a, layout, shift=5.0) for a in (actor, other)))
    np.testing.assert_allclose(after, before, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "invariant"),
    [
        ("raw", False),
        ("relative", False),
        ("galilean", True),
        ("radial", True),
        ("central", True),
        ("distance", True),
        ("log-distance", True),
        ("aligning", True),
    ],
)
def test_only_galilean_and_radial_messages_are_the_same_in_a_moving_frame(name, invariant):
    layout = Layout(2)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    before = message(name, layout, 1, actor, other)
    after = message(name, layout, 1, *(moved(a, layout, boost=2.0) for a in (actor, other)))
    assert np.allclose(after, before, atol=1e-9) == invariant


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("vectors", [1, 2])
@pytest.mark.parametrize(
    "name", [name for name, make in PAIR.items() if make(Layout(2), 1).opposite]
)
def test_messages_said_to_be_opposite_are(name, spatial, vectors):
    layout = Layout(spatial, properties=2)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    there = message(name, layout, vectors, actor, other)
    back = message(name, layout, vectors, other, actor)
    assert jnp.linalg.norm(there) > 0.01
    np.testing.assert_allclose(there + back, np.zeros(len(there)), atol=1e-12)


@pytest.mark.parametrize("name", ["distance", "log-distance", "aligning"])
def test_messages_of_distance_alone_turn_with_the_scene_and_need_no_opposite(name):
    layout = Layout(2, properties=1)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    before = message(name, layout, 1, actor, other)
    for what, turn in turns(2).items():
        scene = [moved(a, layout, turn, shift=3.0) for a in (actor, other)]
        after = message(name, layout, 1, *scene)
        np.testing.assert_allclose(after, turned(before, turn), atol=1e-9, err_msg=what)
    back = message(name, layout, 1, other, actor)
    assert jnp.linalg.norm(before + back) > 0.01  # two kinds may feel each other differently


def test_aligning_messages_are_a_share_of_the_gap_and_of_the_difference_of_velocities():
    layout = Layout(2)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    pair = PAIR["aligning"](layout, 1)
    rates = pair.rates(jnp.array([2.0, 3.0]), actor, other)
    gap, velocity = (actor.state - other.state).reshape(2, 2)
    np.testing.assert_allclose(rates, 2.0 * gap - 3.0 * velocity, rtol=1e-12)


def test_multiplying_messages_are_pushes_times_both_properties_and_one_beside_them():
    layout = Layout(2, properties=2)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    pair = PAIR["multiplying"](layout, 1)
    rates = pair.rates(jnp.array([0.5, 2.0, -3.0]), actor, other)
    gap = actor.state[:2] - other.state[:2]
    both = actor.properties * other.properties
    push = 0.5 + 2.0 * both[0] - 3.0 * both[1]
    np.testing.assert_allclose(rates, push * gap / jnp.sum(gap**2), rtol=1e-9)


def test_central_messages_point_along_the_line_between_the_objects():
    layout = Layout(3)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    force = message("central", layout, 1, actor, other)
    line = actor.state[:3] - other.state[:3]
    np.testing.assert_allclose(jnp.cross(force, line), np.zeros(3), atol=1e-12)


def test_radial_messages_stay_in_the_plane_of_line_and_relative_velocity():
    layout = Layout(3)
    actor, other = some_actor(layout, 1), some_actor(layout, 2)
    force = message("radial", layout, 1, actor, other)
    line, slide = (actor.state - other.state).reshape(2, 3)
    np.testing.assert_allclose(jnp.dot(force, jnp.cross(line, slide)), 0.0, atol=1e-9)
    assert jnp.linalg.norm(jnp.cross(force, line)) > 0.01  # and not along the line alone


def test_messages_of_objects_on_top_of_each_other_have_finite_gradients():
    layout = Layout(2)
    actor = some_actor(layout, 1)
    gradient = jax.grad(
        lambda state: message("radial", layout, 1, Actor(state, *_rest(actor)), actor).sum()
    )(actor.state)
    assert jnp.all(jnp.isfinite(gradient))


def test_a_mirrored_object_gets_the_mirrored_rate():
    layout = Layout(2, properties=1)
    actor = some_actor(layout, 1)
    rate = own_rate("mirror", layout, 2, actor)
    opposite = own_rate("mirror", layout, 2, Actor(-actor.state, *_rest(actor)))
    np.testing.assert_allclose(opposite, -rate, atol=1e-12)
    flip_x = jnp.asarray([-1.0, 1.0, -1.0, 1.0])
    flipped = own_rate("mirror", layout, 2, Actor(actor.state * flip_x, *_rest(actor)))
    np.testing.assert_allclose(flipped, rate * flip_x, atol=1e-12)


def test_mirror_symmetric_axes_obey_the_same_law():
    layout = Layout(2)
    actor = some_actor(layout, 1)
    swapped = actor.state.reshape(2, 2)[:, ::-1].reshape(-1)
    rate = own_rate("mirror", layout, 2, actor).reshape(2, 2)
    other = own_rate("mirror", layout, 2, Actor(swapped, *_rest(actor))).reshape(2, 2)
    np.testing.assert_allclose(other, rate[:, ::-1], atol=1e-12)


@pytest.mark.parametrize("name", ["axis", "mirror"])
@pytest.mark.parametrize("vectors", [1, 2])
def test_each_axis_depends_on_its_own_position_and_velocity_only(name, vectors):
    layout = Layout(3, properties=1)
    actor = some_actor(layout, 1)
    slopes = jax.jacobian(lambda s: own_rate(name, layout, vectors, Actor(s, *_rest(actor))))(
        actor.state
    )
    axis_of_rate = np.arange(3 * vectors) % 3
    axis_of_input = np.arange(6) % 3
    own = axis_of_rate[:, None] == axis_of_input[None, :]
    assert (np.asarray(slopes) != 0.0).tolist() == own.tolist()


def test_axes_have_laws_of_their_own_unless_mirrored():
    layout = Layout(2)
    actor = some_actor(layout, 1)
    swapped = actor.state.reshape(2, 2)[:, ::-1].reshape(-1)
    rate = own_rate("axis", layout, 1, actor)
    other = own_rate("axis", layout, 1, Actor(swapped, *_rest(actor)))
    assert not np.allclose(other[::-1], rate)


def _rest(actor):
    return actor.properties, actor.controls


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("properties", [0, 1])
def test_asking_for_many_actors_gives_the_rates_of_each(name, properties):
    layout = Layout(2, properties=properties)
    alone = ALONE[name](layout, layout.vectors)
    network = MLP.init(
        in_size=alone.in_size, out_size=alone.out_size, hidden=8, activation="tanh", key=KEY
    )
    function = network.draw(key=KEY)
    actors = [jax.tree.map(single, some_actor(layout, seed)) for seed in range(3)]
    together = alone.ask(function, jax.tree.map(lambda *leaves: jnp.stack(leaves), *actors))
    one_by_one = [alone.rates(function(alone.inputs(actor)), actor) for actor in actors]
    np.testing.assert_allclose(together, one_by_one, atol=1e-6)


def single(leaf):
    return leaf.astype(jnp.float32)
