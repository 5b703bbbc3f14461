import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from comotion.data import BadInput
from comotion.simulate import AGENT_SCENES, advance_agents, agents
from comotion.simulate.agent_laws import EVERYONE, influence, lennard_jones, morse

# Where a law jumps, both solvers step over the jump; kinks and fast starts cost some digits.
TOLERANCES = {
    "opinion": 2e-3,
    "stubborn-opinion": 2e-3,
    "lennard-jones": 1e-5,
    "swarm": 1e-5,
    "fish-milling": 1e-5,
    "cucker-smale": 3e-6,
    "predator-prey": 1e-6,
    "anticipation": 1e-7,
}


@pytest.mark.parametrize("name", AGENT_SCENES)
def test_motion_agrees_with_a_tight_solver(name):
    scene = AGENT_SCENES[name]
    data = agents(name, sequences=2, objects=6, frames=4, seed=3)
    d, kinds = scene.dimension, scene.kinds(6)
    rate = jax.jit(lambda x, v: scene.law.rate(x, v, kinds))

    def slope(_t: float, state: np.ndarray) -> np.ndarray:
        x, v = jnp.asarray(state).reshape(2, 6, d)
        if scene.law.order == 1:
            return np.concatenate([np.ravel(rate(x, jnp.zeros_like(v))), np.zeros(6 * d)])
        return np.concatenate([np.ravel(v), np.ravel(rate(x, v))])

    for values in data.values:
        start = np.concatenate([values[0, :, :d].ravel(), values[0, :, d:].ravel()])
        times = data.times[0]
        tight = solve_ivp(
            slope, times[[0, -1]], start, t_eval=times, method="DOP853", rtol=1e-10, atol=1e-12
        ).y.T
        expected = tight[:, : 6 * d].reshape(4, 6, d)
        np.testing.assert_allclose(values[..., :d], expected, rtol=0, atol=TOLERANCES[name])


@pytest.mark.parametrize(
    ("kernel", "potential"),
    [
        (
            lambda r: morse(r, 4.0, 4.0, 0.5, 0.5),
            lambda r: 0.5 * jnp.exp(-r / 0.5) - 4.0 * jnp.exp(-r / 4.0),
        ),
        (lennard_jones, lambda r: 10 * (r**-12 - 2 * r**-6)),
    ],
)
def test_kernels_are_slopes_of_their_potentials_over_the_distance(kernel, potential):
    r = jnp.linspace(0.7, 3.0, 20)
    np.testing.assert_allclose(kernel(r) * r, jax.vmap(jax.grad(potential))(r), rtol=1e-9)


def test_the_law_is_the_mean_of_kernels_times_gaps():
    law = AGENT_SCENES["anticipation"].law
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(2, 4, 2))
    expected = np.zeros((4, 2))
    for i in range(4):
        for j in set(range(4)) - {i}:
            r = jnp.linalg.norm(jnp.asarray(x[j] - x[i]))
            expected[i] += float(law.gap[EVERYONE](r)) * (x[j] - x[i]) / 4
            expected[i] += float(law.alignment[EVERYONE](r)) * (v[j] - v[i]) / 4
    found = law.rate(jnp.asarray(x), jnp.asarray(v), (0,) * 4)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_rates_of_first_order_laws_are_the_slopes_of_their_paths():
    data = agents("predator-prey", sequences=2, frames=50, step=0.002)
    slopes = (data.values[:, 2:, :, :2] - data.values[:, :-2, :, :2]) / 0.004
    np.testing.assert_allclose(data.values[:, 1:-1, :, 2:], slopes, atol=0.02)


def test_the_stubborn_stay_and_the_others_listen():
    data = agents("stubborn-opinion", seed=1)
    moved = np.abs(np.diff(data.values[..., 0], axis=1)).max(axis=1)
    stubborn = data.static[..., 0] == 1
    assert stubborn.sum(axis=1).tolist() == [3] * 3
    assert moved[stubborn].max() == 0
    assert moved[~stubborn].min() > 0


def test_influence_jumps_where_the_literature_says():
    near = 2**-0.5
    r = jnp.asarray([0.1, near - 1e-9, near + 1e-9, 1 - 1e-9, 1 + 1e-9])
    np.testing.assert_array_equal(influence(r), [1.0, 1.0, 0.1, 0.1, 0.0])


def test_a_lone_agent_finds_its_own_speed():
    scene = AGENT_SCENES["fish-milling"]
    x, v = np.zeros((1, 1, 2)), np.array([[[0.1, 0.0]]])
    _, speeds = advance_agents(scene.law, x, v, (0,), np.array([50.0]))
    assert np.linalg.norm(speeds[0, 0, 0]) == pytest.approx(3**0.5)


def test_a_swarm_stays_together():
    data = agents("swarm", sequences=20, seed=2)
    away = data.values[..., :2] - data.values[..., :2].mean(axis=2, keepdims=True)
    assert np.linalg.norm(away, axis=-1)[:, -1].max() < 10


def test_unknown_agents_are_refused():
    with pytest.raises(BadInput, match="there are no agents 'ants': choose one of swarm"):
        agents("ants")
