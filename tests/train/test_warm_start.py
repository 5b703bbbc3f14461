"""The regression behind a warm start, against dense algebra and a law that is known."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from comotion._types import FAST
from comotion.simulate import bouncing_balls, charged_particles
from comotion.systems import system
from comotion.train import recipe, warm_start
from comotion.train.fit import prepare, run_config


def cold_start(data, **parts):
    parts = {"scaling": "units", "encoder": "smoother", **parts}
    short = recipe("short", system("I-GPODE-S"))
    config = run_config("I-GPODE-S", dataclasses.replace(short, warm_start=False), 0, parts)
    fitted, dataset = prepare(data, config, key=jax.random.key(0))
    dynamics = fitted.model.dynamics
    laws = warm_start.Laws(
        dynamics.alone,
        dynamics.pair,
        dynamics.alone_coordinates,
        dynamics.pair_coordinates,
        jnp.asarray(-0.5, FAST),
    )
    paths = warm_start._observed_paths(fitted.model, config, dataset, key=jax.random.key(1))
    return laws, paths


COORDINATES = [("raw", "relative"), ("mirror", "radial"), ("axis", "central")]


@pytest.fixture(scope="module", params=COORDINATES, ids="-".join)
def problem(request):
    alone, pair = request.param
    data = bouncing_balls(sequences=4, frames=15, seed=0)
    sizes = {"inducing_alone": 5, "inducing_pair": 6}
    laws, paths = cold_start(data, alone=alone, pair=pair, **sizes)
    return laws, jax.tree.map(lambda leaf: leaf[:20], paths)


def dense_problem(laws, paths):
    """Design matrix by brute force: the rates of each unit inducing value in turn."""
    size = np.sqrt(np.mean(np.asarray(paths.rates) ** 2, axis=(0, 1)))
    columns = []
    for name in ("alone", "pair"):
        function = getattr(laws, name)
        M, Q = function.mean.shape
        for q in range(Q):
            for m in range(M):
                columns.append(rates_of(laws, name, (m, q), paths) / size)
    design = np.stack([column.reshape(-1) for column in columns], axis=1)
    return design, (np.asarray(paths.rates) / size).reshape(-1)


def rates_of(laws, name, unit, paths):
    from comotion.coordinates import Actor

    function = getattr(laws, name)
    unit_mean = jnp.zeros(function.mean.shape, FAST).at[unit].set(1.0)
    function = eqx.tree_at(lambda f: f.mean, function, unit_mean)
    total = np.zeros(paths.rates.shape)
    for fraction, weight in warm_start.SIMPSON:
        state = (1 - fraction) * paths.actors.state + fraction * paths.after
        for f in range(state.shape[0]):
            actors = [
                Actor(state[f, a], paths.actors.properties[f, a], paths.actors.controls[f, a])
                for a in range(state.shape[1])
            ]
            for a, actor in enumerate(actors):
                if name == "alone":
                    total[f, a] += weight * mean_rates(function, laws.alone_coordinates, actor)
                    continue
                for other in actors[:a] + actors[a + 1 :]:
                    rates = mean_rates(function, laws.pair_coordinates, actor, other)
                    total[f, a] += weight * rates
    return total


def mean_rates(function, coordinates, *actors):
    inputs = coordinates.inputs(*actors)
    mean, _ = function.posterior(inputs.reshape(-1, inputs.shape[-1]))
    outputs = mean.astype(FAST).reshape(*inputs.shape[:-1], -1)
    return np.asarray(coordinates.rates(outputs, *actors))


def test_evidence_and_posterior_equal_dense_bayesian_regression(problem):
    laws, paths = problem
    design, rates = dense_problem(laws, jax.tree.map(lambda leaf: leaf[:3], paths))
    few = jax.tree.map(lambda leaf: leaf[:3], paths)
    residual = float(jnp.exp(2 * laws.log_residual))
    covariance = design @ design.T + residual * np.eye(len(rates))
    dense = scipy.stats.multivariate_normal(np.zeros(len(rates)), covariance).logpdf(rates)
    assert float(warm_start.log_evidence(laws, few)) == pytest.approx(dense, rel=2e-3)
    precision = np.eye(design.shape[1]) + design.T @ design / residual
    mean = np.linalg.solve(precision, design.T @ rates / residual)
    alone, pair = warm_start.regress(laws, few)
    got = np.concatenate([np.asarray(alone.mean).T.ravel(), np.asarray(pair.mean).T.ravel()])
    np.testing.assert_allclose(got, mean, atol=2e-2 * np.abs(mean).max())
    sd = np.concatenate([np.exp(np.asarray(f.covariance.log_sd)).T.ravel() for f in (alone, pair)])
    np.testing.assert_allclose(sd, 1 / np.sqrt(np.diag(precision)), rtol=2e-2)


def test_climbing_raises_the_evidence(problem):
    laws, paths = problem
    better = warm_start.choose_by_evidence(laws, paths)
    assert warm_start.log_evidence(better, paths) > warm_start.log_evidence(laws, paths)


def test_a_warm_start_finds_the_inverse_square_law_of_charges():
    data = charged_particles(sequences=30, frames=40, inner_steps=100, seed=0)
    config = run_config(
        "I-GPODE-S",
        "short",
        0,
        {
            "scaling": "units",
            "encoder": "smoother",
            "pair": "central",
            "alone": "mirror",
            "inducing_alone": 20,
            "inducing_pair": 60,
        },
    )
    fitted, _ = prepare(data, config, key=jax.random.key(0))
    length, unit = float(fitted.scaling.scale[0]), float(fitted.scaling.time)
    distance = np.linspace(0.8, 2.0, 7)
    speeds = np.zeros_like(distance)
    for sign in (1.0, -1.0):
        total, product = np.full_like(distance, 1.0 + sign), np.full_like(distance, sign)
        inputs = np.stack([distance / length, speeds, speeds + 0.1, total, product], axis=1)
        mean, _ = fitted.model.dynamics.pair.posterior(jnp.asarray(inputs, FAST))
        force = np.asarray(mean)[:, 0] * length / unit**2
        np.testing.assert_allclose(force, sign / distance**2, atol=0.35)
