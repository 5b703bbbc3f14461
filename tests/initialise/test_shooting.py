"""Gauss-Newton through the solver, against finite differences and a law that is known."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import EXACT
from comotion.data import Trajectories
from comotion.initialise import shooting
from comotion.initialise.linear_rates import unknown_scales, whitener
from comotion.initialise.regression import laws_of
from comotion.train import recipe
from comotion.train.fit import prepare, run_config

PARTS = {
    "alone": "none",
    "pair": "distance",
    "inducing_pair": 6,
    "scaling": "none",
    "contacts": "off",
    "encoder": "smoother",
    "covariance": "full",
}
NOISE = 0.003
STIFFNESS, REST = 2.0, 1.5


def springs(sequences=6, frames=20, step=0.1):
    """Pairs on springs of length `REST`: their distance swings at √(2 STIFFNESS)."""
    rng = np.random.default_rng(0)
    t = step * np.arange(frames)
    x = np.zeros((sequences, frames, 2, 2))
    for p in range(sequences):
        stretch, phase, drift = rng.uniform(0.3, 0.8), rng.uniform(0, 6), rng.normal(size=2)
        half = 0.5 * (REST + stretch * np.sin((2 * STIFFNESS) ** 0.5 * t + phase))
        turn = rng.uniform(0, 6)
        along = np.outer(half, [np.cos(turn), np.sin(turn)])
        x[p, :, 0], x[p, :, 1] = t[:, None] * drift + along, t[:, None] * drift - along
    values = x + NOISE * rng.standard_normal(x.shape)
    return Trajectories.from_arrays(values, np.tile(t, (sequences, 1)))


@pytest.fixture(scope="module")
def shot():
    config = run_config("comotion", "short", 0, PARTS)
    plan = dataclasses.replace(recipe("short", config.system), pretrain=0, shooting=3)
    return prepare(springs(), dataclasses.replace(config, recipe=plan), key=jax.random.key(0))


def test_noise_and_a_law_of_distance_are_found_from_positions_alone(shot):
    fitted, _ = shot
    noise = np.exp(0.5 * np.asarray(fitted.model.observation.log_noise_variance))
    np.testing.assert_allclose(noise, NOISE, rtol=0.2)  # 480 numbers: the error bar is 5 %
    r = np.linspace(0.9, 2.1, 13)
    mean, covariance = fitted.model.dynamics.pair.posterior(jnp.asarray(r)[:, None])
    sd = np.sqrt(np.diagonal(np.asarray(covariance)[0]))
    truth = -STIFFNESS * (r - REST)
    off = np.asarray(mean)[:, 0] - truth
    assert np.sqrt(np.mean(off**2) / np.mean(truth**2)) < 0.05
    assert np.all(np.abs(off) < 4 * sd + 0.01), (off, sd)


def test_derivatives_of_paths_are_those_of_finite_differences(shot):
    fitted, dataset = shot
    laws = laws_of(fitted.model.dynamics)
    window = jax.tree.map(lambda leaf: leaf[0], dataset.windows)
    whiten = whitener(laws.alone), whitener(laws.pair)
    scales = jnp.concatenate([unknown_scales(laws.alone), unknown_scales(laws.pair)])
    rng = np.random.default_rng(1)
    start, weights = jnp.asarray(rng.normal(size=(2, 4))), jnp.asarray(rng.normal(size=6))

    @eqx.filter_jit
    def flow(start, weights):
        return shooting._flow(laws, whiten, scales, weights, window, start, 1)

    states, slopes = flow(start, weights)
    h = 1e-5
    for k, nudge in enumerate(np.eye(14) * h):
        by_start, by_weights = jnp.asarray(nudge[:8]).reshape(2, 4), jnp.asarray(nudge[8:])
        there, back = (flow(start + s * by_start, weights + s * by_weights)[0] for s in (1, -1))
        # The path's derivative is integrated beside it, so both have errors of RK4 of their own.
        np.testing.assert_allclose((there - back) / (2 * h), slopes[..., k], atol=1e-6, rtol=1e-5)
    assert states.dtype == EXACT
