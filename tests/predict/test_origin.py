"""Initial states chosen by where they lead."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.contacts import Contacts, Parts, Plane, contact_law
from comotion.data import Trajectories
from comotion.data.scaling import identity_scaling
from comotion.data.windows import Excerpt, to_dataset
from comotion.dynamics import AbstractField
from comotion.encode import Belief
from comotion.model import Beliefs, Model
from comotion.predict.origin import Search
from comotion.systems import build, data_shape, system

KEY = jax.random.key(0)
DRAWS, CANDIDATES, FRAMES, NOISE = 1500, 100, 5, 0.3
TIMES = np.array([0.0, 0.4, 1.0, 1.3, 2.0, 2.4])


class StraightOn(AbstractField):
    def __call__(self, states, scene):
        rates = jnp.concatenate([states[:, 2:], jnp.zeros_like(states[:, 2:])], axis=1)
        return jnp.where(scene.active[:, None], rates, 0.0)


@pytest.fixture(scope="module")
def data() -> Trajectories:
    rng = np.random.default_rng(0)
    start = rng.normal(size=(1, 1, 2, 4))
    flight = np.concatenate([start[..., 2:], np.zeros((1, 1, 2, 2))], axis=-1)
    values = start + TIMES[None, :, None, None] * flight
    return Trajectories.from_arrays(values + NOISE * rng.normal(size=values.shape), TIMES)


@pytest.fixture(scope="module")
def model(data) -> Model:
    config = system("I-NODE-S", hidden_alone=2, hidden_pair=2, encoder="smoother")
    shape = data_shape(data)
    built = build(config, shape, key=KEY)
    noise = jnp.full(4, 2 * np.log(NOISE), jnp.float32)
    return eqx.tree_at(lambda m: m.observation.log_noise_variance, built, noise)


def excerpt_of(data: Trajectories) -> Excerpt:
    windows = to_dataset(data, identity_scaling(4, 0)).windows
    window = jax.tree.map(lambda leaf: leaf[0], windows)
    return Excerpt(window, window)


def posterior(data: Trajectories) -> tuple[np.ndarray, np.ndarray]:
    """Of [p, v] along each axis, in closed form: a straight line, a standard normal prior."""
    t = TIMES[:FRAMES]
    design = np.concatenate([np.stack([np.ones_like(t), t], 1), np.stack([0 * t, 0 * t + 1], 1)])
    covariance = np.linalg.inv(np.eye(2) + design.T @ design / NOISE**2)
    seen = data.values[0, :FRAMES].reshape(FRAMES, 2, 2, 2)  # frame, object, kind, axis
    stacked = np.concatenate([seen[:, :, 0], seen[:, :, 1]])
    mean = np.einsum("ij,fj,fax->aix", covariance / NOISE**2, design, stacked)
    return mean.reshape(2, 4), covariance


def drawn(
    model: Model, excerpt: Excerpt, belief: Belief, candidates: int, moves: int = 0
) -> np.ndarray:
    search = Search(candidates, FRAMES, moves)

    @eqx.filter_jit
    @jax.vmap
    def draw(key):
        beliefs = Beliefs(belief, None, model.observation.noise_variance)
        return search.draw_start(model, StraightOn(), beliefs, excerpt, key=key).initial

    return np.asarray(draw(jax.random.split(KEY, DRAWS)))


def wrong_belief(mean: np.ndarray, covariance: np.ndarray) -> Belief:
    """Half a standard deviation off, and wider than it should be."""
    sd = np.sqrt(np.repeat(np.diag(covariance), 2))
    factor = np.kron(1.4 * np.linalg.cholesky(covariance), np.eye(2))
    factors = np.broadcast_to(factor, (2, 4, 4))
    return Belief(jnp.asarray(mean + 0.5 * sd, jnp.float32), jnp.asarray(factors, jnp.float32))


def test_candidates_turn_a_wrong_belief_into_the_exact_posterior(model, data):
    """Within four standard errors, and two hundredths for the finite number of candidates."""
    mean, covariance = posterior(data)
    sd = np.sqrt(np.repeat(np.diag(covariance), 2))
    chosen = drawn(model, excerpt_of(data), wrong_belief(mean, covariance), CANDIDATES)
    tolerance = 4 / np.sqrt(DRAWS) + 0.02
    np.testing.assert_allclose((chosen.mean(0) - mean) / sd, 0.0, atol=tolerance)
    np.testing.assert_allclose(chosen.std(0) / sd, 1.0, atol=tolerance)
    as_believed = drawn(model, excerpt_of(data), wrong_belief(mean, covariance), 1)
    assert np.all((as_believed.mean(0) - mean) / sd > 0.3)


def test_chains_end_in_the_exact_posterior_wherever_they_begin(model, data):
    mean, covariance = posterior(data)
    sd = np.sqrt(np.repeat(np.diag(covariance), 2))
    moved = drawn(model, excerpt_of(data), wrong_belief(mean, covariance), 1, moves=60)
    tolerance = 4 / np.sqrt(DRAWS) + 0.02
    np.testing.assert_allclose((moved.mean(0) - mean) / sd, 0.0, atol=tolerance)
    np.testing.assert_allclose(moved.std(0) / sd, 1.0, atol=tolerance)


class Walled(StraightOn):
    wall: Contacts

    @property
    def contact(self):
        return self.wall


def test_chains_find_the_flight_before_a_collision_among_the_frames(model):
    """A line through all frames would see the ball standing still near the wall."""
    t = TIMES[None, :, None]
    x = 1.0 - np.abs(1.0 - 1.0 * t)  # towards a wall at 1, which it meets at time 1
    v = np.where(t < 1.0, 1.0, -1.0)
    values = np.stack([x, 0 * x, v, 0 * v], axis=-1)
    noisy = values + 0.05 * np.random.default_rng(1).normal(size=values.shape)
    data = Trajectories.from_arrays(noisy, TIMES)
    plane = Plane(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    field = Walled(contact_law(Parts(2, [plane])).draw(key=KEY))
    noise = jnp.full(4, 2 * np.log(0.05), jnp.float32)
    sure = eqx.tree_at(lambda m: m.observation.log_noise_variance, model, noise)
    excerpt = excerpt_of(data)
    beliefs = sure.encode(excerpt)

    def draw(key):
        search = Search(1, FRAMES, 60)
        start = search.draw_start(sure, field, beliefs, excerpt, key=key)
        return start.initial

    found = np.asarray(jax.jit(jax.vmap(draw))(jax.random.split(KEY, 200)))[:, 0]
    np.testing.assert_allclose(found.mean(axis=0), [0.0, 0.0, 1.0, 0.0], atol=0.1)
    assert np.all(found[:, 2] > 0.7)


def test_chains_find_both_flights_before_two_objects_collide(model):
    """With exact frames a chain that moves one object at a time never leaves the wrong lines."""
    t, exact = TIMES[None, :, None], 1e-4
    way = 0.5 - np.abs(0.7 - t) + 0.1  # nearest, at a distance of one, at time .7
    x = np.concatenate([-(1.1 - way), 1.1 - way], axis=2)
    v = np.where(t < 0.7, 1.0, -1.0) * np.array([1.0, -1.0])
    values = np.stack([x, 0 * x, v, 0 * v], axis=-1)
    noisy = values + exact * np.random.default_rng(1).normal(size=values.shape)
    field = Walled(contact_law(Parts(2, radii=[0.5])).draw(key=KEY))
    noise = jnp.full(4, 2 * np.log(exact), jnp.float32)
    sure = eqx.tree_at(lambda m: m.observation.log_noise_variance, model, noise)
    excerpt = excerpt_of(Trajectories.from_arrays(noisy, TIMES))
    beliefs = sure.encode(excerpt)

    def draw(key):
        return Search(1, FRAMES, 60).draw_start(sure, field, beliefs, excerpt, key=key).initial

    found = np.asarray(jax.jit(jax.vmap(draw))(jax.random.split(KEY, 200)))
    assert np.abs(found - values[0, 0]).max() < 10 * exact


@pytest.mark.parametrize(("candidates", "moves"), [(8, 0), (1, 20)])
def test_who_enters_later_keeps_the_draw_of_the_belief(model, data, candidates, moves):
    absent = np.zeros((1, len(TIMES), 2, 1), bool)
    absent[:, :2, 1] = True
    later = Trajectories.from_arrays(np.where(absent, np.nan, data.values), TIMES)
    mean, covariance = posterior(data)
    belief = wrong_belief(mean, covariance)
    sd = np.sqrt(np.repeat(np.diag(covariance), 2))
    chosen = drawn(model, excerpt_of(later), belief, candidates, moves)[:, 1]
    off = (chosen.mean(0) - np.asarray(belief.mean)[1]) / sd
    np.testing.assert_allclose(off, 0.0, atol=4 * 1.4 / np.sqrt(DRAWS))
