import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.backend.fast_math import cosine, decay, softplus

WIDE = np.linspace(-1000, 1000, 400_001).astype(np.float32)


def test_cosine_is_accurate_in_32_bits_over_a_wide_range():
    exact = np.cos(WIDE.astype(np.float64))
    np.testing.assert_allclose(jax.jit(cosine)(jnp.asarray(WIDE)), exact, atol=1e-6)


def test_cosine_in_64_bits_is_as_good_as_the_built_in_one():
    x = np.linspace(-1e5, 1e5, 400_001)
    np.testing.assert_allclose(jax.jit(cosine)(jnp.asarray(x)), np.cos(x), atol=4e-15)


def test_derivatives_of_cosine_are_sine_and_cosine():
    exact = WIDE.astype(np.float64)
    slope = jax.vmap(jax.grad(cosine))
    curvature = jax.vmap(jax.grad(jax.grad(cosine)))
    np.testing.assert_allclose(slope(jnp.asarray(WIDE)), -np.sin(exact), atol=2e-6)
    np.testing.assert_allclose(curvature(jnp.asarray(WIDE)), -np.cos(exact), atol=2e-6)


def test_cosine_stays_a_cosine_where_its_turns_cannot_be_counted():
    huge = jnp.asarray(np.logspace(3, 30, 10_001), jnp.float32)
    assert jnp.all(jnp.abs(cosine(huge)) <= 1)
    assert jnp.isnan(cosine(jnp.asarray([jnp.inf, jnp.nan], jnp.float32))).all()


def test_decay_is_accurate_relative_to_its_value():
    """Rounding the exponent x to 24 bits already changes exp(-x) by 6e-8 x of its value."""
    x = np.linspace(0, 80, 400_001).astype(np.float32)
    exact = np.exp(-x.astype(np.float64))
    found = np.asarray(jax.jit(decay)(jnp.asarray(x)), np.float64)
    assert np.max(np.abs(found / exact - 1) / (1 + x)) < 1.2e-7
    np.testing.assert_allclose(jax.vmap(jax.grad(decay))(jnp.asarray(x)), -found, rtol=1e-6)


def test_decay_ends_at_next_to_nothing_and_keeps_what_is_not_a_number():
    far, lost = decay(jnp.asarray([[1e3, 1e30, jnp.inf], 3 * [jnp.nan]], jnp.float32))
    assert jnp.all((far >= 0) & (far < 2e-38))
    assert jnp.isnan(lost).all()


def test_softplus_and_its_slope_are_accurate_relative_to_their_values():
    x = np.linspace(-80, 80, 400_001).astype(np.float32)
    exact = np.logaddexp(0, x.astype(np.float64))
    sigmoid = np.exp(x - exact)
    rounding = 3e-7 * (1 + np.maximum(-x, 0))
    for found, wanted in ((softplus, exact), (jax.vmap(jax.grad(softplus)), sigmoid)):
        value = np.asarray(jax.jit(found)(jnp.asarray(x)), np.float64)
        assert np.all(np.abs(value / wanted - 1) < rounding)


def test_softplus_keeps_what_is_infinite_or_not_a_number():
    none, endless, lost = softplus(jnp.asarray([-jnp.inf, jnp.inf, jnp.nan], jnp.float32))
    assert none < 2e-38
    assert endless == jnp.inf
    assert jnp.isnan(lost)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_cosine_keeps_dtype_and_works_inside_scan_vmap_and_checkpoint(dtype):
    def trajectory(x):
        step = jax.checkpoint(lambda state, _: (cosine(state), state))
        return jnp.sum(jax.lax.scan(step, x, length=3)[1])

    x = jnp.linspace(-2, 2, 5, dtype=dtype)
    value, slope = jax.jit(jax.vmap(jax.value_and_grad(trajectory)))(x)
    assert value.dtype == slope.dtype == dtype
    np.testing.assert_allclose(value, x + np.cos(x) + np.cos(np.cos(x)), rtol=1e-6)
    np.testing.assert_allclose(
        slope, 1 - np.sin(x) + np.sin(np.cos(x)) * np.sin(x), rtol=1e-5, atol=1e-6
    )
