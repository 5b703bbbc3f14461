import jax
import jax.numpy as jnp
import pytest

from comotion.backend.normal import standard_normal


@pytest.mark.parametrize("shape", [(), (7,), (3, 4, 5)])
def test_noise_is_that_of_jax(shape):
    key = jax.random.key(3)
    drawn = standard_normal(shape, jnp.float64, key=key)
    assert drawn.shape == shape
    assert jnp.array_equal(drawn, jax.random.normal(key, shape, jnp.float64))
