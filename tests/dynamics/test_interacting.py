"""f_s plus messages f_b, and who hears them."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ortho_group

from comotion.contacts import Parts, contact_law
from comotion.coordinates import PAIR, Actor
from comotion.coordinates.layout import Layout
from comotion.dynamics import Scene
from comotion.dynamics.graph import GivenGraph, NearestGraph
from comotion.functions import Diagonal, Nothing, SparseGP
from comotion.integrate import FixedSteps, Interval, OnceAnInterval
from comotion.model import Motion

FULL = Layout(2, properties=1, controls=1)
call = eqx.filter_jit(lambda field, states, scene: field(states, scene))


def one(actors, a):
    return jax.tree.map(lambda leaf: leaf[a : a + 1], actors)


def by_loops(field, states, scene):
    """Eq. (4) of the paper, object by object and neighbour by neighbour."""
    actors = scene.actors(states)
    independent, interaction = eqx.filter_jit(field.independent), eqx.filter_jit(field.interaction)
    rows = []
    for a in range(states.shape[0]):
        rate = np.asarray(independent(one(actors, a))[0], np.float64)
        for b in range(states.shape[0]):
            if scene.neighbours[a, b] and scene.active[a] and scene.active[b]:
                rate = rate + np.asarray(interaction(one(actors, a), one(actors, b))[0])
        rows.append(rate if scene.active[a] else 0.0 * rate)
    return np.stack(rows)


def select(scene, order):
    return Scene(
        scene.properties[order],
        scene.controls[order],
        scene.neighbours[jnp.ix_(order, order)],
        scene.active[order],
    )


def test_rates_are_the_paper_s_sum(make_dynamics, make_scene):
    field = make_dynamics(FULL).draw(key=jax.random.key(0))
    states, scene = make_scene(4, FULL)
    scene = eqx.tree_at(lambda s: s.neighbours, scene, scene.neighbours.at[0, 2].set(False))
    np.testing.assert_allclose(
        call(field, states, scene), by_loops(field, states, scene), rtol=1e-4, atol=1e-5
    )


def test_second_order_rates_of_position_are_the_velocities(make_dynamics, make_scene):
    field = make_dynamics(FULL, order=2).draw(key=jax.random.key(0))
    states, scene = make_scene(3, FULL)
    rates = call(field, states, scene)
    np.testing.assert_array_equal(rates[:, :2], states[:, 2:])
    np.testing.assert_allclose(rates[:, 2:], by_loops(field, states, scene), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("graph", [GivenGraph(), NearestGraph(2)], ids=["given", "nearest"])
def test_permuting_the_objects_permutes_their_rates(make_dynamics, make_scene, graph):
    field = make_dynamics(FULL, graph=graph).draw(key=jax.random.key(0))
    states, scene = make_scene(5, FULL)
    order = jnp.asarray([3, 0, 4, 2, 1])
    permuted = call(field, states[order], select(scene, order))
    np.testing.assert_allclose(permuted, call(field, states, scene)[order], rtol=1e-4, atol=1e-5)


def test_an_object_outside_the_scene_stands_still_and_is_not_heard(make_dynamics, make_scene):
    field = make_dynamics(FULL).draw(key=jax.random.key(0))
    states, scene = make_scene(4, FULL)
    without = jnp.asarray([0, 1, 3])
    absent = eqx.tree_at(lambda s: s.active, scene, scene.active.at[2].set(False))
    rates = call(field, states, absent)
    np.testing.assert_array_equal(rates[2], np.zeros(4))
    expected = call(field, states[without], select(scene, without))
    np.testing.assert_allclose(rates[without], expected, rtol=1e-4, atol=1e-5)
    assert not np.allclose(rates[without], call(field, states, scene)[without], atol=1e-3)


def test_a_single_object_follows_f_s(make_dynamics, make_scene):
    field = make_dynamics(FULL).draw(key=jax.random.key(0))
    states, scene = make_scene(1, FULL)
    np.testing.assert_allclose(
        call(field, states, scene), field.independent(scene.actors(states)), rtol=1e-5
    )


def test_a_gaussian_process_may_be_asked_about_no_pairs_at_all(make_dynamics, make_scene):
    functions = tuple(gaussian_process(size, 4, key) for key, size in enumerate((4, 6)))
    dynamics = make_dynamics(functions=functions)
    states, scene = make_scene(1)
    rates = eqx.filter_eval_shape(lambda d: d.draw(key=jax.random.key(0))(states, scene), dynamics)
    assert rates.shape == (1, 4)


def test_the_number_of_messages_follows_the_graph(make_dynamics, make_scene):
    states, scene = make_scene(6)
    for graph, count in ((GivenGraph(), 5), (NearestGraph(2), 2)):
        field = make_dynamics(graph=graph).draw(key=jax.random.key(0))
        neighbours = field.neighbours(states, scene)
        messages = field._messages(
            field.independent(scene.actors(states)), scene.actors(states), neighbours
        )
        assert messages.received.shape == (6, count, 4)


def test_objects_farther_than_the_radius_do_not_matter(make_dynamics, make_scene):
    field = make_dynamics(graph=NearestGraph(None, 10.0)).draw(key=jax.random.key(0))
    states, scene = make_scene(3)
    far = states.at[2, 0].add(100.0)
    farther = states.at[2, 0].add(200.0)
    np.testing.assert_array_equal(call(field, far, scene)[:2], call(field, farther, scene)[:2])
    assert not np.allclose(call(field, far, scene)[:2], call(field, states, scene)[:2], atol=1e-3)


@pytest.mark.parametrize("pair", ["radial", "central"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_asking_once_for_each_pair_gives_the_same_rates(make_dynamics, make_scene, pair, count):
    states, scene = make_scene(count)
    once, twice = (make_dynamics(pair=pair, graph=g) for g in (GivenGraph(), NearestGraph(None)))
    key = jax.random.key(0)
    expected = twice.draw(key=key)(states, scene)
    np.testing.assert_allclose(once.draw(key=key)(states, scene), expected, rtol=1e-4, atol=1e-5)


def test_interactions_through_central_coordinates_keep_the_total_momentum(
    make_dynamics, make_scene
):
    layout = Layout(2, properties=1)
    field = make_dynamics(layout, pair="central", order=2).draw(key=jax.random.key(0))
    states, scene = make_scene(5, layout)
    own = field.independent(scene.actors(states))
    forces = call(field, states, scene)[:, 2:] - own
    assert jnp.abs(forces).max() > 0.1
    np.testing.assert_allclose(forces.sum(axis=0), np.zeros(2), atol=1e-5)


@pytest.mark.parametrize("spatial", [2, 3])
def test_turning_the_scene_turns_interactions_through_radial_coordinates(
    make_dynamics, make_scene, spatial
):
    layout = Layout(spatial)
    field = make_dynamics(layout, pair="radial").draw(key=jax.random.key(0))
    states, scene = make_scene(4, layout)
    turn = jnp.asarray(ortho_group.rvs(spatial, random_state=0), jnp.float32)

    def interactions(states):
        return call(field, states, scene) - field.independent(scene.actors(states))

    def turned(vectors):
        return (vectors.reshape(4, 2, spatial) @ turn.T[None]).reshape(4, -1)

    np.testing.assert_allclose(
        interactions(turned(states)), turned(interactions(states)), atol=1e-4
    )


def test_the_summed_interaction_has_the_double_sum_as_its_covariance(make_dynamics, make_scene):
    """The induced kernel of the paper's supplement, within 4/√S of many prior draws."""
    S = 8000
    f_b = gaussian_process(6, 2, 0)
    f_b = eqx.tree_at(lambda f: f.covariance, f_b, Diagonal(jnp.zeros((5, 2), jnp.float32)))
    states, scene = make_scene(3)
    coordinates = PAIR["relative"](Layout(2), 1)
    actors = scene.actors(states)
    dynamics = make_dynamics(order=2, functions=(gaussian_process(4, 2, 1), f_b))

    @jax.jit
    def summed(key):
        field = dynamics.draw(key=key)
        return field(states, scene)[:, 2:] - field.independent(actors)

    draws = np.asarray(jax.lax.map(summed, jax.random.split(jax.random.key(0), S), batch_size=500))
    inputs = {
        (p, q): np.asarray(coordinates.inputs(_at(actors, p), _at(actors, q)))
        for p in range(3)
        for q in range(3)
        if p != q
    }
    kernel = np.zeros((3, 3))
    for (p, _), one_input in inputs.items():
        for (r, _), other_input in inputs.items():
            pair = (jnp.asarray(x[None], jnp.float32) for x in (one_input, other_input))
            kernel[p, r] += float(f_b.kernel(*pair)[0, 0])
    scale = np.exp(2 * np.asarray(f_b.log_output_scale))
    for output in range(2):
        expected = scale[output] * kernel
        sd = np.sqrt(np.diag(expected))
        error = np.abs(draws[:, :, output].T @ draws[:, :, output] / S - expected)
        # Fourier features make heavier tails than a Gaussian's: fourth moments from the draws.
        spread = np.einsum("sp,sr->prs", draws[:, :, output], draws[:, :, output]).std(axis=2)
        assert np.all(error < 4 * spread / np.sqrt(S)), f"seed 0: {error / np.outer(sd, sd)}"
        assert np.all(spread / np.outer(sd, sd) < 3)


def gaussian_process(in_size, out_size, seed):
    rng, key = np.random.default_rng(seed), jax.random.key(seed)
    gp = SparseGP.init(in_size, out_size=out_size, num_inducing=5, num_features=32, key=key)
    inputs, scale = rng.normal(size=(50, in_size)), rng.uniform(0.5, 2.0, size=out_size)
    return gp.adapted_to(inputs, scale, key=key)


def _at(actors, a) -> Actor:
    return jax.tree.map(lambda leaf: leaf[a], actors)


def test_neighbours_are_found_at_the_start_of_an_interval_and_kept_to_its_end(make_dynamics):
    field = make_dynamics(order=2, graph=NearestGraph(1)).draw(key=jax.random.key(0))
    # The middle one is passed by: whom it hears would change on the way.
    states = jnp.asarray([[0, 0, 0, 0], [1, 0, 5, 0], [-1.1, 0, 0, 0]], jnp.float32)
    nothing = jnp.zeros((3, 0), jnp.float32)
    motion = Motion(field, nothing, ~jnp.eye(3, dtype=bool))
    known = (jnp.ones(3, bool), nothing, nothing)
    interval = Interval(jnp.float32(0), jnp.float32(0.5), known)
    once = OnceAnInterval(FixedSteps(2), Motion.looking)
    kept = eqx.tree_at(
        lambda m: m.found,
        motion,
        motion.looking(states, interval).found,
        is_leaf=lambda x: x is None,
    )
    led = eqx.filter_jit(once.advance)(motion, states, interval)
    anew = eqx.filter_jit(FixedSteps(2).advance)(motion, states, interval)
    np.testing.assert_allclose(led, FixedSteps(2).advance(kept, states, interval), rtol=1e-5)
    assert np.abs(led - anew).max() > 1e-4


def test_where_only_contacts_act_no_function_is_drawn_and_nothing_is_felt(
    make_dynamics, make_scene
):
    def functions_in(dynamics):
        drawn = jax.eval_shape(lambda key: dynamics.draw(key=key), jax.random.key(0))
        return [type(drawn.alone), type(drawn.pair)]

    smooth = make_dynamics(FULL, order=2)
    parts = {name: contact_law(Parts(2, radii=[0.3], only=name)) for name in (True, False)}
    only, beside = (dataclasses.replace(smooth, contacts=parts[name]) for name in (True, False))
    assert functions_in(only) == [Nothing, Nothing]
    assert functions_in(beside) == functions_in(smooth) != functions_in(only)
    field = only.draw(key=jax.random.key(0))
    states, scene = make_scene(3, FULL)
    actors = scene.actors(states)
    assert not np.asarray(field.independent(actors)).any()
    assert not np.asarray(field.interaction(one(actors, 0), one(actors, 1))).any()
    rates = np.asarray(call(field, states, scene))
    np.testing.assert_array_equal(rates[:, FULL.velocity], 0.0)
    np.testing.assert_array_equal(rates[:, FULL.position], states[:, FULL.velocity])
