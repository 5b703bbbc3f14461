"""Other ways than a sum to make one rate of many messages."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.dynamics import Nonlinear, Weighted
from comotion.functions import MLP, BayesianMLP, SparseGP

LAYOUT = Layout(2, properties=1)
call = eqx.filter_jit(lambda field, *arguments: field(*arguments))
draw = eqx.filter_jit(lambda dynamics: dynamics.draw(key=jax.random.key(0)))
independent = eqx.filter_jit(lambda field, actors: field.independent(actors))
interaction = eqx.filter_jit(lambda field, actors, others: field.interaction(actors, others))


def function(kind, in_size, out_size):
    key = jax.random.key(7)
    if kind == "gp":
        return SparseGP.init(in_size, out_size=out_size, num_inducing=8, num_features=16, key=key)
    sizes = {"in_size": in_size, "out_size": out_size, "hidden": 8}
    if kind == "mlp":
        return MLP.init(**sizes, key=key)
    return BayesianMLP.init(**sizes, kl_scale_dim=4, key=key)


def pieces(field, states, scene, a):
    """The object's own message and those it hears, in the order of the graph."""
    actors = scene.actors(states)
    own = independent(field, actors)[a]
    others = [b % len(states) for b in range(a + 1, a + len(states))]
    pick = lambda rows: jax.tree.map(lambda leaf: leaf[jnp.asarray(rows)], actors)
    received = interaction(field, pick([a] * len(others)), pick(others))
    heard = np.asarray(scene.neighbours)[a, others]
    return np.asarray(own), np.asarray(received), heard, others


@pytest.fixture
def scene_of_three(make_scene):
    states, scene = make_scene(3, LAYOUT)
    return states, eqx.tree_at(lambda s: s.neighbours, scene, scene.neighbours.at[1, 0].set(False))


@pytest.mark.parametrize("kind", ["gp", "mlp", "bnn"])
def test_nonlinear_feeds_all_messages_to_f_c_with_zeros_for_those_not_heard(
    make_dynamics, scene_of_three, kind
):
    states, scene = scene_of_three
    f_c = function(kind, 3 * 4, 4)
    field = draw(make_dynamics(LAYOUT, accumulation=Nonlinear(f_c)))
    rates = call(field, states, scene)
    for a in range(3):
        own, received, heard, _ = pieces(field, states, scene, a)
        everything = np.concatenate([own, *(received * heard[:, None])])
        expected = call(field.accumulation.function, jnp.asarray(everything)[None])[0]
        np.testing.assert_allclose(rates[a], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["gp", "mlp", "bnn"])
def test_weighted_is_a_softmax_over_the_object_itself_and_those_it_hears(
    make_dynamics, scene_of_three, kind
):
    states, scene = scene_of_three
    f_w = function(kind, 2 * (4 + 1), 1)
    field = draw(make_dynamics(LAYOUT, accumulation=Weighted(f_w)))
    rates = call(field, states, scene)
    for a in range(3):
        own, received, heard, others = pieces(field, states, scene, a)
        heard_objects = [a, *(b for b, h in zip(others, heard, strict=True) if h)]
        inputs = [
            jnp.concatenate([states[a], states[b], scene.properties[a], scene.properties[b]])
            for b in heard_objects
        ]
        scores = np.exp(np.asarray(call(field.accumulation.function, jnp.stack(inputs)))[:, 0])
        messages = np.stack([own, *received[heard]])
        expected = (scores / scores.sum()) @ messages
        np.testing.assert_allclose(rates[a], expected, rtol=1e-3, atol=1e-4)


def test_weighted_does_not_mind_the_order_and_number_of_objects(make_dynamics, make_scene):
    weighted = Weighted(function("mlp", 10, 1))
    field = make_dynamics(LAYOUT, accumulation=weighted).draw(key=jax.random.key(0))
    states, scene = make_scene(5, LAYOUT)
    order = jnp.asarray([3, 0, 4, 2, 1])
    permuted_scene = eqx.tree_at(lambda s: s.properties, scene, scene.properties[order])
    permuted = call(field, states[order], permuted_scene)
    np.testing.assert_allclose(permuted, call(field, states, scene)[order], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rule", "name"), [(Nonlinear, "f_c"), (Weighted, "f_w")])
def test_the_extra_function_has_a_kl_of_its_own(make_dynamics, rule, name):
    extra = function("bnn", 12 if rule is Nonlinear else 10, 4 if rule is Nonlinear else 1)
    dynamics = make_dynamics(LAYOUT, accumulation=rule(extra))
    assert dynamics.kl().keys() == {"f_s", "f_b", name}
    assert dynamics.kl()[name] == extra.kl() > 0
