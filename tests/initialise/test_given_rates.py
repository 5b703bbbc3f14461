"""Laws from rates given with the states, against kernels that are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.config import SystemConfig, replace
from comotion.errors import BadInput
from comotion.initialise.given_rates import learn_from_rates

KINDS = np.array([0.0, 0.0, 0.0, 1.0])
LAW = replace(
    SystemConfig(), alone="none", pair="aligning", covariance="full", inducing_pair=24, order=1
)


def kernel(feels, felt, r):
    """Above zero it repels; the second kind is hunted by nobody, and hunts the first."""
    return np.where(feels == felt, 1.0 / (1.0 + r**2), np.where(feels == 1, -0.5, 2.0) / (1.0 + r))


def moments(count=40, noise=0.01):
    stream = np.random.default_rng(0)
    x = stream.uniform(-2, 2, size=(count, 4, 2))
    gaps = x[:, :, None] - x[:, None]
    phi = kernel(KINDS[:, None], KINDS[None], np.linalg.norm(gaps, axis=-1))
    rates = (phi[..., None] * gaps).sum(axis=2)
    return x, rates + noise * stream.normal(size=rates.shape)


def learned(configs):
    x, rates = moments()
    kinds = np.broadcast_to(KINDS[None, :, None], (*x.shape[:2], 1))
    return learn_from_rates(
        jnp.asarray(x),
        jnp.asarray(rates),
        configs,
        spatial=2,
        properties=jnp.asarray(kinds),
        key=jax.random.key(0),
    )


def test_kernels_of_two_kinds_are_found_with_bands_that_hold():
    pair = learned([LAW]).laws.pair
    r = np.linspace(0.5, 3.5, 30)
    for feels, felt in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)):
        inputs = np.stack([r, np.full_like(r, feels), np.full_like(r, felt)], axis=-1)
        mean, covariance = pair.posterior(jnp.asarray(inputs))
        sd = np.sqrt(np.diagonal(np.asarray(covariance)[0]))
        truth = kernel(feels, felt, r)
        off = np.asarray(mean)[:, 0] - truth
        assert np.sqrt(np.mean(off**2) / np.mean(truth**2)) < 0.03, (feels, felt)
        assert np.mean(np.abs(off) < 3 * sd + 1e-3) > 0.9, (feels, felt, off / sd)


def test_without_a_config_there_is_nothing_to_choose():
    with pytest.raises(BadInput, match="no config to choose"):
        learned([])
