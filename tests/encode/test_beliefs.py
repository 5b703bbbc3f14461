import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import multivariate_normal

from comotion.encode import Belief

RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=(3, 4))
FACTOR = np.tril(RNG.normal(size=(3, 4, 4)) * 0.3) + 0.5 * np.eye(4)
BELIEF = Belief(jnp.asarray(MEAN), jnp.asarray(FACTOR))
EVERYONE = jnp.ones(3, bool)


def test_kl_is_the_closed_form_between_dense_gaussians():
    covariance = FACTOR @ FACTOR.swapaxes(1, 2)
    expected = 0.5 * (
        np.trace(covariance, axis1=1, axis2=2)
        + (MEAN**2).sum(axis=1)
        - 4
        - np.linalg.slogdet(covariance)[1]
    )
    np.testing.assert_allclose(BELIEF.kl(EVERYONE), expected.sum(), rtol=1e-12)


def test_kl_is_the_mean_log_ratio_of_many_draws():
    S = 20_000
    draws = np.asarray(
        jax.vmap(lambda k: BELIEF.draw(key=k))(jax.random.split(jax.random.key(0), S))
    )
    ratios = np.zeros(S)
    for a in range(3):
        q = multivariate_normal(MEAN[a], FACTOR[a] @ FACTOR[a].T)
        p = multivariate_normal(np.zeros(4))
        ratios += q.logpdf(draws[:, a]) - p.logpdf(draws[:, a])
    error_bar = 4 * ratios.std() / np.sqrt(S)
    assert abs(float(BELIEF.kl(EVERYONE)) - ratios.mean()) < error_bar


def test_kl_counts_only_objects_that_exist():
    parts = [float(BELIEF.kl(jnp.arange(3) == a)) for a in range(3)]
    np.testing.assert_allclose(sum(parts), BELIEF.kl(EVERYONE), rtol=1e-12)
    np.testing.assert_allclose(
        BELIEF.kl(jnp.asarray([True, False, True])), parts[0] + parts[2], rtol=1e-12
    )


def test_kl_of_the_prior_from_itself_is_zero():
    prior = Belief(jnp.zeros((2, 3)), jnp.broadcast_to(jnp.eye(3), (2, 3, 3)))
    assert prior.kl(jnp.ones(2, bool)) == 0.0


def test_draws_have_the_mean_and_covariance_of_the_belief():
    S = 20_000
    draws = np.asarray(
        jax.vmap(lambda k: BELIEF.draw(key=k))(jax.random.split(jax.random.key(1), S))
    )
    for a in range(3):
        covariance = FACTOR[a] @ FACTOR[a].T
        sd = np.sqrt(np.diag(covariance))
        assert np.all(np.abs(draws[:, a].mean(axis=0) - MEAN[a]) < 4 * sd / np.sqrt(S))
        error = np.abs(np.cov(draws[:, a].T) - covariance) / np.outer(sd, sd)
        assert np.all(error < 4 * np.sqrt(2 / S))
