"""Kernels from rates given with the states, against kernels that are known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from comotion.errors import BadInput
from comotion.initialise import distance_kernels
from comotion.initialise.distance_kernels import SMOOTHNESS, Term, learn_kernels

KINDS = (0, 0, 0, 1)
TERMS = [Term("gap", (1, 0)), Term("alignment", (0, 0))]
NOISE = 0.05


def kernel(term, r):
    """The first kind evens out velocities; the second hunts the first, and feels nothing else."""
    return 0.3 * np.exp(-r) if term.what == "alignment" else 0.5 / (1.0 + r)


def moments(count=60, noise=NOISE):
    stream = np.random.default_rng(0)
    x, v = stream.uniform(-2, 2, size=(2, count, 4, 2))
    rates, kinds = noise * stream.normal(size=x.shape), np.array(KINDS)
    gaps, turns = (values[:, None] - values[:, :, None] for values in (x, v))
    r = np.linalg.norm(gaps, axis=-1)
    for term in TERMS:
        felt = (kinds[:, None] == term.kinds[0]) & (kinds[None] == term.kinds[1])
        pushes = gaps if term.what == "gap" else turns
        phi = np.where(felt & ~np.eye(4, dtype=bool), kernel(term, r), 0.0)
        rates += (phi[..., None] * pushes).sum(axis=2)
    return x, v, rates


def test_kernels_of_two_kinds_are_found_and_the_noise_of_rates():
    learned = learn_kernels(*moments(), KINDS, TERMS)
    r = np.linspace(0.5, 3.5, 30)
    for term in TERMS:
        truth = kernel(term, r)
        off = learned.at(term, r)[0] - truth
        assert np.sqrt(np.mean(off**2) / np.mean(truth**2)) < 0.1, term
    assert np.exp(learned.log_sizes[-1]) == pytest.approx(NOISE, rel=0.15)


def test_evidence_and_posterior_are_those_of_dense_gaussians():
    """Of two objects and one kernel, with the sizes that were found."""
    x, v, _ = moments(count=12)
    x, v = x[:, :2], v[:, :2]
    gaps = x[:, None] - x[:, :, None]
    r = np.linalg.norm(gaps, axis=-1)
    rates = (np.cos(r)[..., None] * gaps).sum(axis=2)
    rates += 0.1 * np.random.default_rng(1).normal(size=rates.shape)
    term = Term("gap", (0, 0))
    learned = learn_kernels(x, v, rates, (0, 0), [term])
    places = learned.places[term]
    u = distance_kernels.INPUTS[learned.input](places)
    scale, length, noise = np.exp(learned.log_sizes)
    shape = SMOOTHNESS[learned.smoothness](np.abs(u[:, None] - u[None]) / length)
    K = scale**2 * (distance_kernels.LEVEL + shape + distance_kernels.JITTER * np.eye(len(u)))
    hats = np.stack([np.interp(r[:, [0, 1], [1, 0]], places, hat) for hat in np.eye(len(u))], -1)
    D = (hats[:, :, None] * gaps[:, [0, 1], [1, 0], :, None]).reshape(-1, len(u))
    covariance = D @ K @ D.T + noise**2 * np.eye(len(D))
    expected = multivariate_normal(np.zeros(len(D)), covariance).logpdf(rates.reshape(-1))
    assert learned.log_evidence == pytest.approx(expected, abs=1e-4)
    mean = K @ D.T @ np.linalg.solve(covariance, rates.reshape(-1))
    found = learned.at(term, places)
    np.testing.assert_allclose(found[0], mean, rtol=1e-5, atol=1e-7)
    variance = np.diagonal(K - K @ D.T @ np.linalg.solve(covariance, D @ K))
    np.testing.assert_allclose(found[1], np.sqrt(variance), rtol=1e-3)


def test_a_kernel_between_kinds_that_are_not_there_is_refused():
    with pytest.raises(BadInput, match=r"no pair is of kinds \(1, 1\); leave that kernel out"):
        learn_kernels(*moments(), KINDS, [Term("gap", (1, 1))])
