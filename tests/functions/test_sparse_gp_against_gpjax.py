"""GPJax has the same whitened posterior and decoupled sampler, for one output."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.functions import Full, SparseGP
from comotion.gp import Matern32, SquaredExponential

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    gpx = pytest.importorskip("gpjax")

# GPJax's own arithmetic relies on implicit promotion.
pytestmark = pytest.mark.filterwarnings("ignore")
SCALES = [0.8, 1.2]
KERNELS = {
    "se": (SquaredExponential.init(SCALES), "RBF"),
    "matern32": (Matern32.init(SCALES), "Matern32"),
}


def ours(kernel, M=6):
    random = np.random.default_rng(0)
    lower = 0.2 * np.tril(random.normal(size=(1, M, M)), -1) + 0.4 * np.eye(M)[None]
    return SparseGP(
        kernel=jax.tree.map(lambda leaf: leaf.astype(jnp.float64), kernel),
        inducing_inputs=jnp.asarray(random.normal(size=(M, 2))),
        log_output_scale=jnp.log(jnp.asarray([1.7])),
        mean=jnp.asarray(random.normal(size=(M, 1))),
        covariance=Full.from_lower(jnp.asarray(lower)),
        num_features=64,
    )


def theirs(gp, name):
    kernel = getattr(gpx.kernels, name)(lengthscale=jnp.asarray(SCALES), variance=1.7**2)
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel)
    return gpx.variational_families.WhitenedVariationalGaussian(
        prior * gpx.likelihoods.Gaussian(),
        inducing_inputs=gp.inducing_inputs,
        variational_mean=gp.mean,
        variational_root_covariance=gp.covariance.lower()[0],
    )


@pytest.fixture
def pair(kernel):
    ours_kernel, name = KERNELS[kernel]
    gp = ours(ours_kernel)
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield gp, theirs(gp, name)


X = jnp.asarray(np.random.default_rng(1).normal(size=(5, 2)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_posterior_and_kl_agree(pair):
    gp, family = pair
    mean, covariance = gp.posterior(X)

    @eqx.filter_jit
    def predict(family):
        prediction = family.predict(X)
        return jnp.ravel(prediction.mean), prediction.covariance(), family.prior_kl()

    their_mean, their_covariance, their_kl = predict(family)
    np.testing.assert_allclose(mean[:, 0], their_mean, atol=1e-4)
    np.testing.assert_allclose(covariance[0], their_covariance, atol=1e-4)
    np.testing.assert_allclose(gp.kl(), their_kl, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["se"])
def test_moments_of_draws_agree(pair):
    gp, family = pair
    L = 3000

    @eqx.filter_jit
    def sample(family, *, key):
        return family.condition(None).sample_approx(L, key, num_features=1000)(X).T

    their_draws = np.asarray(sample(family, key=jax.random.key(0)))
    keys = jax.random.split(jax.random.key(1), L)
    our_draws = eqx.filter_jit(eqx.filter_vmap(lambda key: gp.draw(key=key)(X)[:, 0]))(keys)
    sd = np.sqrt(np.diagonal(gp.posterior(X)[1][0]))
    # Both sides are estimates, hence the factor √2; theirs share one set of features.
    np.testing.assert_array_less(
        np.abs(np.mean(our_draws, 0) - their_draws.mean(0)), 4 * sd * np.sqrt(2 / L)
    )
    gap = np.abs(np.cov(np.asarray(our_draws).T) - np.cov(their_draws.T))
    np.testing.assert_array_less(gap, 4 * np.outer(sd, sd) * np.sqrt(2 * 2 / L))
