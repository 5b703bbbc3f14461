import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from comotion.model import FirstEntries, LearnedDecoder, Observation

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(5, 3, 2))
STATES = RNG.normal(size=(5, 3, 4))
PRESENT = RNG.random((5, 3, 2)) < 0.7
VARIANCE = np.array([0.3, 2.0])
TOLERANCE = np.array([0.1, 0.2])


def observation(*, tolerance=(0.0, 0.0), dtype=jnp.float32):
    return Observation(
        FirstEntries(2), jnp.log(jnp.asarray(VARIANCE, dtype)), jnp.asarray(tolerance, dtype)
    )


def log_likelihood(model, values=VALUES, present=PRESENT):
    as_float = jnp.float32
    return model.log_likelihood(
        jnp.asarray(values, as_float), jnp.asarray(present), jnp.asarray(STATES, as_float)
    )


def test_log_likelihood_is_the_normal_density_of_the_present_values():
    densities = norm.logpdf(VALUES, STATES[..., :2], np.sqrt(VARIANCE))
    np.testing.assert_allclose(log_likelihood(observation()), densities[PRESENT].sum(), rtol=1e-5)


def test_missing_values_can_hold_anything():
    spoiled = np.where(PRESENT, VALUES, 1e30)
    assert log_likelihood(observation(), spoiled) == log_likelihood(observation())


def test_the_tolerance_is_in_the_likelihood_only_and_is_not_learned():
    model = observation(tolerance=TOLERANCE)
    np.testing.assert_allclose(model.noise_variance, VARIANCE, rtol=1e-6)
    densities = norm.logpdf(VALUES, STATES[..., :2], np.sqrt(VARIANCE + TOLERANCE))
    np.testing.assert_allclose(log_likelihood(model), densities[PRESENT].sum(), rtol=1e-5)
    gradient = eqx.filter_grad(log_likelihood)(model)
    np.testing.assert_array_equal(gradient.tolerance, [0.0, 0.0])
    assert jnp.all(gradient.log_noise_variance != 0.0)


def test_draws_scatter_around_the_means_with_the_noise_of_each_feature():
    means = jnp.broadcast_to(jnp.asarray([1.0, -2.0], jnp.float32), (4000, 2))
    draws = np.asarray(observation().draw(means, key=jax.random.key(0)))
    for feature, mean in enumerate([1.0, -2.0]):
        assert kstest(draws[:, feature], norm(mean, np.sqrt(VARIANCE[feature])).cdf).pvalue > 0.01
    correlation = np.corrcoef(draws.T)[0, 1]
    assert abs(correlation) < 4 / np.sqrt(len(draws))


@pytest.mark.parametrize("depth", [0, 1])
def test_a_learned_decoder_acts_on_each_state_by_itself(depth):
    network = eqx.nn.MLP(4, 2, 8, depth=depth, dtype=jnp.float32, key=jax.random.key(0))
    states = jnp.asarray(STATES, jnp.float32)
    decoded = LearnedDecoder(network, (0, 1, 2, 3))(states)
    assert decoded.shape == (5, 3, 2)
    np.testing.assert_allclose(decoded[3, 1], network(states[3, 1]), rtol=1e-6)


def test_without_a_hidden_layer_the_decoder_is_linear():
    network = eqx.nn.MLP(4, 2, 8, depth=0, dtype=jnp.float32, key=jax.random.key(0))
    decode = LearnedDecoder(network, (0, 1, 2, 3))
    a, b = (jnp.asarray(RNG.normal(size=(1, 4)), jnp.float32) for _ in range(2))
    middle = 0.5 * (decode(a) + decode(b))
    np.testing.assert_allclose(decode(0.5 * (a + b)), middle, rtol=1e-5, atol=1e-6)


def test_a_learned_decoder_looks_at_its_entries_only():
    network = eqx.nn.MLP(2, 3, 8, depth=1, dtype=jnp.float32, key=jax.random.key(0))
    states = jnp.asarray(STATES, jnp.float32)
    decoded = LearnedDecoder(network, (0, 3))(states)
    np.testing.assert_allclose(decoded[3, 1], network(states[3, 1, jnp.array([0, 3])]), rtol=1e-6)
