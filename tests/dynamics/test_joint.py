"""One function of all objects at once."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from comotion.coordinates.layout import Layout
from comotion.dynamics import JointDynamics
from comotion.functions import MLP

LAYOUT = Layout(2, properties=1, controls=1)


def test_joint_rates_are_one_call_of_the_function_of_everything(make_scene):
    for order, learned in ((1, 4), (2, 2)):
        function = MLP.init(in_size=3 * 6, out_size=3 * learned, hidden=8, key=jax.random.key(0))
        states, scene = make_scene(3, LAYOUT)
        field = JointDynamics(function=function, layout=LAYOUT, order=order).draw(
            key=jax.random.key(1)
        )
        everything = np.concatenate([states, scene.properties, scene.controls], axis=1)
        outputs = function.network(jnp.asarray(everything.reshape(1, -1))).reshape(3, learned)
        rates = field(states, scene)
        np.testing.assert_allclose(rates[:, 4 - learned :], outputs, rtol=1e-5)
        if order == 2:
            np.testing.assert_array_equal(rates[:, :2], states[:, 2:])


def test_an_object_outside_the_scene_stands_still(make_scene):
    function = MLP.init(in_size=3 * 6, out_size=12, hidden=8, key=jax.random.key(0))
    states, scene = make_scene(3, LAYOUT)
    scene = eqx.tree_at(lambda s: s.active, scene, jnp.asarray([True, False, True]))
    dynamics = JointDynamics(function=function, layout=LAYOUT, order=1)
    rates = dynamics.draw(key=jax.random.key(1))(states, scene)
    np.testing.assert_array_equal(rates[1], np.zeros(4))
    assert jnp.all(rates[0] != 0.0)
