"""The terms of the bound and their gradients, in 64 bits."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from comotion.config import Recipe
from comotion.data import Trajectories
from comotion.data.scaling import identity_scaling
from comotion.data.windows import Excerpt, to_dataset
from comotion.initialise import initialise
from comotion.model import evidence_bound
from comotion.systems import build, data_shape, system

KEY = jax.random.key(0)
SEQUENCES = 6
TERMS = ("log_likelihood", "kl_initial", "kl_properties", "f_s", "f_b")


def some_data():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 1, 2, 4)) + np.cumsum(0.2 * rng.normal(size=(2, 4, 2, 4)), axis=1)
    values[1, 2, 0, 1] = np.nan
    return Trajectories.from_arrays(values, np.array([0.0, 0.5, 1.0, 1.7]))


def tiny_model(data, **parts):
    sizes = {"inducing_alone": 4, "inducing_pair": 4, "fourier_features": 8}
    config = system("I-GPODE/with-globals", **sizes, **parts)
    shape = data_shape(data)
    dataset = to_dataset(data, identity_scaling(4, 0))
    model = initialise(build(config, shape, key=KEY), dataset, Recipe(start_noise=1.0), key=KEY)
    return model, Excerpt(dataset.windows, dataset.windows)


def in_64_bits(tree):
    return jax.tree.map(
        lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree
    )


def named_terms(bound):
    terms = {name: getattr(bound, name) for name in TERMS[:3]} | bound.kl_functions
    return jnp.stack([terms[name] for name in TERMS])


@pytest.fixture(scope="module")
def case():
    model, batch = in_64_bits(tiny_model(some_data(), covariance="full"))
    parameters, rest = eqx.partition(model, eqx.is_inexact_array)

    @jax.jit
    @functools.partial(jax.grad, has_aux=True)
    def slope_and_terms(parameters, chosen):
        model = eqx.combine(parameters, rest)
        bound = evidence_bound(model, batch, SEQUENCES, draws=2, key=jax.random.key(3))
        return named_terms(bound) @ chosen, named_terms(bound)

    return parameters, slope_and_terms


def test_the_gradient_of_every_term_agrees_with_finite_differences(case):
    parameters, slope_and_terms = case
    each = jnp.eye(len(TERMS))
    slopes = [jax.tree.leaves(slope_and_terms(parameters, term)[0]) for term in each]
    leaves, tree = jax.tree.flatten(parameters)
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(parameters)]
    rng = np.random.default_rng(0)
    step = 1e-5
    for number, leaf in enumerate(leaves):
        direction = rng.normal(size=leaf.shape)
        ends = []
        for sign in (1.0, -1.0):
            moved = [*leaves[:number], leaf + sign * step * direction, *leaves[number + 1 :]]
            ends.append(np.asarray(slope_and_terms(jax.tree.unflatten(tree, moved), each[0])[1]))
        measured = (ends[0] - ends[1]) / (2 * step)
        expected = [np.sum(np.asarray(slope[number]) * direction) for slope in slopes]
        if "tolerance" in paths[number]:
            np.testing.assert_array_equal(expected, 0.0)  # a floor is not learned
            continue
        np.testing.assert_allclose(expected, measured, rtol=1e-4, atol=1e-5, err_msg=paths[number])


def test_every_term_is_there(case):
    parameters, slope_and_terms = case
    _, terms = slope_and_terms(parameters, jnp.ones(len(TERMS)))
    values = dict(zip(TERMS, np.asarray(terms), strict=True))
    assert values["log_likelihood"] < 0.0
    for name in TERMS[1:]:
        assert values[name] > 0.0, name


@pytest.fixture(scope="module")
def small():
    return tiny_model(some_data())


@pytest.fixture(scope="module")
def bound():
    return eqx.filter_jit(
        lambda model, batch: evidence_bound(model, batch, SEQUENCES, draws=3, key=KEY)
    )


def test_the_elbo_is_the_likelihood_minus_all_divergences(small, bound):
    model, batch = small
    terms = bound(model, batch)
    expected = (
        terms.log_likelihood
        - terms.kl_initial
        - terms.kl_properties
        - model.dynamics.alone.kl()
        - model.dynamics.pair.kl()
    )
    np.testing.assert_allclose(terms.elbo, expected, rtol=1e-6)


def test_present_values_are_counted_and_scaled_up_to_all_sequences(small, bound):
    model, batch = small
    assert bound(model, batch).observations == SEQUENCES / 2 * (2 * 4 * 2 * 4 - 1)


def test_divergences_are_those_of_the_beliefs_scaled_up_to_all_sequences(small, bound):
    model, batch = small
    encode = eqx.filter_jit(model.encode)
    initial = properties = 0.0
    for p in range(2):
        beliefs = encode(jax.tree.map(lambda leaf, p=p: leaf[p], batch))
        initial += float(beliefs.initial.kl(jnp.ones(2, bool)))
        properties += float(beliefs.properties.kl(jnp.ones(2, bool)))
    terms = bound(model, batch)
    np.testing.assert_allclose(terms.kl_initial, SEQUENCES / 2 * initial, rtol=1e-4)
    np.testing.assert_allclose(terms.kl_properties, SEQUENCES / 2 * properties, rtol=1e-4)
    for name, function in model.dynamics.functions().items():
        np.testing.assert_allclose(terms.kl_functions[name], function.kl(), rtol=1e-6)


def test_the_likelihood_is_a_mean_over_draws_scaled_up_to_all_sequences(small, bound):
    """With everything certain every draw gives the same: that of the states by hand."""
    model, batch = small
    last_layers = lambda m: [head.layers[-1] for head in m.encoder.heads]
    certain = eqx.tree_at(last_layers, model, replace_fn=_certain_of_zero)
    still = eqx.tree_at(
        lambda m: (m.dynamics.alone.log_output_scale, m.dynamics.pair.log_output_scale),
        certain,
        replace_fn=lambda leaf: leaf - 40.0,
    )
    terms = bound(still, batch)
    sd = np.sqrt(np.asarray(model.observation.noise_variance))
    values = np.where(batch.window.present, batch.window.values, np.nan)
    expected = np.nansum(norm.logpdf(values, 0.0, sd))
    np.testing.assert_allclose(terms.log_likelihood, SEQUENCES / 2 * expected, rtol=2e-3)


def _certain_of_zero(layer):
    weight, bias = jnp.zeros_like(layer.weight), jnp.zeros_like(layer.bias)
    deviations = slice(bias.shape[0] // 2, None)
    return eqx.tree_at(
        lambda one: (one.weight, one.bias), layer, (weight, bias.at[deviations].set(-30.0))
    )


def test_padding_changes_nothing_in_the_bound(small, bound):
    model, batch = small
    data = some_data()
    padded = Trajectories.from_arrays(
        np.pad(data.values, ((0, 0), (0, 3), (0, 0), (0, 0)), constant_values=np.nan),
        np.pad(data.times, ((0, 0), (0, 3)), constant_values=np.nan),
    )
    windows = to_dataset(padded, identity_scaling(4, 0)).windows
    one, other = bound(model, batch), bound(model, Excerpt(windows, windows))
    np.testing.assert_allclose(named_terms(other), named_terms(one), rtol=1e-5)
    assert other.observations == one.observations
