import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from comotion.train.adam import adam_init, adam_update

PARAMETERS = {"matrix": jnp.ones((2, 3), jnp.float32), "none": None, "one": jnp.float32(2.0)}
GRADIENT = {"matrix": jnp.arange(6.0, dtype=jnp.float32).reshape(2, 3), "none": None}
GRADIENT["one"] = jnp.float32(-3.0)
RATES = {"matrix": 0.1, "none": None, "one": 0.01}


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_all_in_a_row_is_what_optax_does_leaf_by_leaf(clip):
    clipping = optax.clip_by_global_norm(clip) if clip else optax.identity()
    ways = {
        rate: optax.chain(clipping, optax.scale_by_adam(), optax.scale(-rate))
        for rate in (0.1, 0.01)
    }
    states = {rate: way.init(PARAMETERS) for rate, way in ways.items()}
    state = adam_init(PARAMETERS)
    for _ in range(3):
        updates, state = adam_update(GRADIENT, state, RATES, clip)
        expected = {}
        for rate, way in ways.items():
            with jax.numpy_dtype_promotion("standard"):
                expected[rate], states[rate] = way.update(GRADIENT, states[rate])
        np.testing.assert_allclose(updates["matrix"], expected[0.1]["matrix"], rtol=1e-5)
        np.testing.assert_allclose(updates["one"], expected[0.01]["one"], rtol=1e-5)


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf])
def test_a_gradient_that_is_not_finite_changes_nothing(bad):
    _, before = adam_update(GRADIENT, adam_init(PARAMETERS), RATES)
    broken = GRADIENT | {"one": jnp.float32(bad)}
    updates, after = adam_update(broken, before, RATES, clip=1.0)
    assert all(not jnp.any(leaf) for leaf in jax.tree.leaves(updates))
    assert all(map(jnp.array_equal, jax.tree.leaves(after), jax.tree.leaves(before)))
