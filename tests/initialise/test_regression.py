"""The regression behind a warm start, against dense algebra and a law that is known."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from comotion._types import FAST
from comotion.coordinates import Actor
from comotion.dynamics.graph import GivenGraph, NearestGraph
from comotion.initialise import lengthscales, linear_rates
from comotion.initialise.rates import MOST_TOGETHER, given_paths, heard_by, observed_paths
from comotion.initialise.regression import laws_of, some_paths
from comotion.simulate import bouncing_balls
from comotion.systems import system
from comotion.train import recipe
from comotion.train.fit import prepare, run_config


def cold_start(data, **parts):
    parts = {"scaling": "units", "encoder": "smoother", **parts}
    short = recipe("short", system("I-GPODE-S"))
    config = run_config(
        "I-GPODE-S", dataclasses.replace(short, regression=False, pretrain=0), 0, parts
    )
    fitted, dataset = prepare(data, config, key=jax.random.key(0))
    model, key = fitted.model, jax.random.key(1)
    paths = observed_paths(model, dataset.windows, properties_known=True, key=key)
    return laws_of(model.dynamics), some_paths(paths, key=key)


COORDINATES = [("raw", "relative"), ("mirror", "radial"), ("axis", "central")]


@pytest.fixture(scope="module", params=COORDINATES, ids="-".join)
def problem(request):
    alone, pair = request.param
    data = bouncing_balls(sequences=4, frames=15, noise="low", seed=0)
    sizes = {"inducing_alone": 5, "inducing_pair": 6}
    laws, paths = cold_start(data, alone=alone, pair=pair, **sizes)
    return laws, jax.tree.map(lambda leaf: leaf[:2], paths)


def dense_problem(laws, paths):
    """Design and rates by brute force: object by object, pair by pair, node by node."""
    size = np.sqrt(np.mean(np.asarray(paths.rates) ** 2, axis=(0, 1)))
    alone = jax.jit(lambda actor: unit_rates(laws.alone, laws.alone_coordinates, actor))
    pair = jax.jit(lambda actor, other: unit_rates(laws.pair, laws.pair_coordinates, actor, other))
    rows = []
    for frame, known in enumerate(np.asarray(paths.known)):
        for a in range(len(known)):
            total = 0.0
            for fraction, weight in linear_rates.SIMPSON:
                actors = [actor_at(paths, frame, b, fraction) for b in range(len(known))]
                others = actors[:a] + actors[a + 1 :]
                heard = sum(np.asarray(pair(actors[a], other)) for other in others)
                own = np.asarray(alone(actors[a]))
                total = total + weight * np.concatenate([own, heard], axis=1)
            rows.append(total / size[:, None])
    return np.concatenate(rows), (np.asarray(paths.rates) / size).reshape(-1)


def actor_at(paths, frame, a, fraction):
    state = (1 - fraction) * paths.actors.state[frame, a] + fraction * paths.after[frame, a]
    return Actor(state, paths.actors.properties[frame, a], paths.actors.controls[frame, a])


def unit_rates(function, coordinates, *actors):
    """The rates of each inducing value set to one in turn, outputs first: R by n."""
    inputs = coordinates.inputs(*actors)
    basis = function.whitened_kernel(inputs.reshape(-1, inputs.shape[-1])).astype(FAST)  # (k, M)
    columns = []
    for q in range(function.out_size):
        for m in range(basis.shape[1]):
            outputs = jnp.zeros((basis.shape[0], function.out_size), FAST)
            outputs = outputs.at[:, q].set(jnp.exp(function.log_output_scale[q]) * basis[:, m])
            columns.append(coordinates.rates(outputs.reshape(*inputs.shape[:-1], -1), *actors))
    return jnp.stack(columns, axis=1)


def test_evidence_and_posterior_equal_dense_bayesian_regression(problem):
    laws, paths = problem
    design, rates = dense_problem(laws, paths)
    residual = float(jnp.exp(2 * laws.log_residual))
    covariance = design @ design.T + residual * np.eye(len(rates))
    dense = scipy.stats.multivariate_normal.logpdf(rates, np.zeros(len(rates)), covariance)  # pyright: ignore[reportArgumentType]
    assert float(linear_rates.log_evidence(laws, paths)) == pytest.approx(dense, rel=2e-3)
    precision = np.eye(design.shape[1]) + design.T @ design / residual
    mean = np.linalg.solve(precision, design.T @ rates / residual)
    alone, pair = linear_rates.regress(laws, paths)
    got = np.concatenate([np.asarray(alone.mean).T.ravel(), np.asarray(pair.mean).T.ravel()])
    np.testing.assert_allclose(got, mean, atol=2e-2 * np.abs(mean).max())
    sd = np.concatenate([np.exp(np.asarray(f.covariance.log_sd)).T.ravel() for f in (alone, pair)])
    np.testing.assert_allclose(sd, 1 / np.sqrt(np.diag(precision)), rtol=2e-2)


@pytest.mark.parametrize("problem", [("mirror", "radial")], indirect=True, ids="-".join)
def test_climbing_raises_the_evidence(problem):
    laws, paths = problem
    better, _ = lengthscales.choose_by_evidence(laws, paths, step=0.05)
    assert linear_rates.log_evidence(better, paths) > linear_rates.log_evidence(laws, paths)


def test_no_lengthscale_is_shorter_than_the_way_of_one_step(problem):
    """Pushed by one output scale for a step h, velocities move by σh and positions by σh²/2."""
    laws, paths = problem
    steep = jax.tree.map(lambda scales: jnp.full_like(scales, -20.0), laws.alone.kernel)
    laws = eqx.tree_at(lambda both: both.alone.kernel, laws, steep)
    step = 0.05
    limited = lengthscales.within_reach(laws, paths, step)
    scale = np.exp(np.asarray(laws.alone.log_output_scale))
    if laws.alone.in_size == 4:  # the whole state
        expected = np.concatenate([scale * step**2 / 2, scale * step])
    else:  # position and velocity along one axis, the rate of each axis by itself
        expected = scale.max() * np.array([step**2 / 2, step])
    found = limited.alone.kernel.lengthscales()
    np.testing.assert_allclose(found, lengthscales.REACH * expected, rtol=1e-3)


def test_lengthscales_that_are_long_enough_stay(problem):
    laws, paths = problem
    limited = lengthscales.within_reach(laws, paths, step=1e-6)
    assert eqx.tree_equal(limited, laws, rtol=1e-6)


def test_chance_does_not_decide_what_f_b_depends_on():
    """Of 300 of these frames, this choice gave the tangential velocity a lengthscale of 0.4, where
    others gave it 3: draws of such a law left the scene, and no training brought them back."""
    data = bouncing_balls(sequences=300, objects=3, noise="high", seed=11)[:100]
    regressed = dataclasses.replace(recipe("short", system("comotion")), pretrain=0)
    config = run_config("comotion", regressed, 11, {"alone": "mirror", "contacts": "off"})
    key = jax.random.split(jax.random.key(11))[0]
    laws = laws_of(prepare(data, config, key=key)[0].model.dynamics)
    *_, tangential = np.asarray(laws.pair.kernel.lengthscales())
    assert 1.5 < tangential < 6.0


def test_marginal_posteriors_have_the_variances_of_all_unknowns_together(problem):
    laws, _ = problem
    n = laws.alone.mean.size + laws.pair.mean.size
    factor = np.random.default_rng(0).normal(size=(n, 2 * n))
    precision = jnp.asarray(factor @ factor.T / n)
    mean = jnp.zeros(n)
    wide = linear_rates.with_posterior(laws, mean, precision, marginal=True)
    narrow = linear_rates.with_posterior(laws, mean, precision, marginal=False)
    for functions, variances in (
        (wide, np.diag(np.linalg.inv(precision))),
        (narrow, 1 / np.diag(precision)),
    ):
        found = [jnp.diagonal(f.covariance.dense(), axis1=1, axis2=2).ravel() for f in functions]
        np.testing.assert_allclose(np.concatenate(found), variances, rtol=1e-5)


def test_of_a_crowd_those_around_one_are_looked_at_and_hear_their_nearest():
    """Beside the distances themselves."""
    rng = np.random.default_rng(0)
    states = rng.normal(size=(6, 30, 4))
    paths = given_paths(jnp.asarray(states, FAST), jnp.zeros((6, 30, 2), FAST))
    few = heard_by(NearestGraph(3), paths, 2, key=jax.random.key(0))
    assert few.known.shape == (6, MOST_TOGETHER)
    for places, heard in zip(np.asarray(few.actors.state)[..., :2], few.neighbours, strict=True):
        apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
        np.fill_diagonal(apart, np.inf)
        nearest = np.argsort(apart, axis=1)[:, :3]
        expected = np.zeros_like(apart, dtype=bool)
        np.put_along_axis(expected, nearest, True, axis=1)
        np.testing.assert_array_equal(heard, expected)


def test_whoever_everyone_hears_stays_as_it_is():
    paths = given_paths(jnp.zeros((2, 3, 4), FAST), jnp.zeros((2, 3, 2), FAST))
    assert heard_by(GivenGraph(), paths, 2, key=jax.random.key(0)) is paths
