import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

from comotion.functions import ACTIVATIONS, MLP, BayesianMLP

X = jnp.asarray(np.random.default_rng(0).normal(size=(5, 3)), jnp.float32)
ORACLES = {
    "elu": lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1),
    "relu": lambda x: np.maximum(x, 0),
    "softplus": lambda x: np.logaddexp(0, x),
    "tanh": np.tanh,
    "swish": lambda x: x * expit(x),
    "lip-swish": lambda x: x * expit(x) / 1.1,
}


def forward(network, x, activation):
    x = np.asarray(x)
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        x = ORACLES[activation](x @ np.asarray(weight) + np.asarray(bias))
    return x @ np.asarray(network.weights[-1]) + np.asarray(network.biases[-1])


def bayesian_mlp(*, hidden=4, sd=0.3):
    return BayesianMLP.init(
        in_size=3, out_size=2, kl_scale_dim=6, hidden=hidden, posterior_sd=sd, key=jax.random.key(0)
    )


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_network_equals_a_plain_forward_pass(activation):
    mlp = MLP.init(in_size=3, out_size=2, hidden=7, activation=activation, key=jax.random.key(0))
    draw = mlp.draw(key=jax.random.key(1))
    assert draw(X).dtype == jnp.float32
    assert [weight.shape for weight in draw.weights] == [(3, 7), (7, 7), (7, 2)]
    np.testing.assert_allclose(draw(X), forward(draw, X, activation), rtol=1e-4, atol=1e-5)


def test_lip_swish_is_nowhere_steeper_than_one():
    slopes = jax.vmap(jax.grad(ACTIVATIONS["lip-swish"]))(jnp.linspace(-10, 10, 10_001))
    assert 0.99 < jnp.abs(slopes).max() <= 1


def test_every_draw_of_an_mlp_is_the_same_and_its_kl_is_zero():
    mlp = MLP.init(in_size=3, out_size=2, key=jax.random.key(0))
    first, second = mlp.draw(key=jax.random.key(1)), mlp.draw(key=jax.random.key(2))
    np.testing.assert_array_equal(first(X), second(X))
    assert mlp.kl() == 0


def test_network_starts_with_outputs_of_order_one():
    mlp = MLP.init(in_size=3, out_size=200, hidden=200, activation="tanh", key=jax.random.key(0))
    assert 0.2 < jnp.std(mlp.draw(key=jax.random.key(0))(X)) < 2


def test_unknown_activation_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="no activation 'sin': choose one of elu, relu, softplus"):
        MLP.init(in_size=1, out_size=1, activation="sin", key=jax.random.key(0))


def test_draw_of_a_bayesian_mlp_fixes_its_weights():
    mlp = bayesian_mlp()
    draw, other = mlp.draw(key=jax.random.key(1)), mlp.draw(key=jax.random.key(2))
    np.testing.assert_array_equal(draw(X), draw(X))
    np.testing.assert_allclose(draw(X), forward(draw, X, "softplus"), rtol=1e-4, atol=1e-5)
    assert jnp.abs(draw(X) - other(X)).max() > 1e-3
    assert draw(X.reshape(5, 1, 3)).shape == (5, 1, 2)


def test_weights_of_draws_have_the_posterior_moments():
    mlp = bayesian_mlp(sd=0.3)
    keys = jax.random.split(jax.random.key(0), 2000)
    draws = jax.jit(jax.vmap(lambda key: mlp.draw(key=key)))(keys)
    for drawn, mean in zip(jax.tree.leaves(draws), jax.tree.leaves(mlp.mean), strict=True):
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=4 * 0.3 / np.sqrt(2000))
        np.testing.assert_allclose(drawn.std(axis=0), 0.3, rtol=4 / np.sqrt(2 * 2000))


def test_kl_of_a_bayesian_mlp_is_the_scaled_sum_over_its_weights():
    mlp = bayesian_mlp()
    mean = np.concatenate([np.asarray(leaf).ravel() for leaf in jax.tree.leaves(mlp.mean)])
    count = 3 * 4 + 4 + 4 * 4 + 4 + 4 * 2 + 2
    noise = np.random.default_rng(0).normal(size=(20_000, count))
    weights = mean + 0.3 * noise
    log_ratio = 0.5 * (weights**2 - noise**2).sum(axis=1) - count * np.log(0.3)
    error_bar = 4 * log_ratio.std() / np.sqrt(len(noise)) * 6 / count
    assert abs(float(mlp.kl()) - log_ratio.mean() * 6 / count) < error_bar
    np.testing.assert_allclose(
        mlp.kl(), 6 / count * 0.5 * np.sum(0.3**2 + mean**2 - 1 - 2 * np.log(0.3)), rtol=1e-5
    )


@pytest.mark.parametrize(
    "function", [MLP.init(in_size=3, out_size=2, hidden=4, key=jax.random.key(0)), bayesian_mlp()]
)
def test_networks_are_float32_and_know_their_sizes(function):
    assert (function.in_size, function.out_size) == (3, 2)
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(function))
    assert function.kl().dtype == jnp.float32
