"""Simple laws beside contacts: recovered from paths that a known law made, refused elsewhere."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.backend.devices import one_thread_each
from comotion.contacts import Restitution, box
from comotion.data import Trajectories
from comotion.initialise.flight_laws import Bends, regressed, stretches_of
from comotion.initialise.simple_laws import find_simple_law
from comotion.initialise.tracks import NoiseScale, Tracks
from comotion.simulate import charged_particles, springs
from comotion.train.fit import run_config, untrained
from tests.billiards import Parts, billiard

BOX = box([-3.8, -3.8], [3.8, 3.8])


def seen(tracks: Tracks) -> Trajectories:
    assert tracks.velocities is not None
    values = np.concatenate([tracks.positions, tracks.velocities], axis=-1)
    return Trajectories.from_arrays(values, tracks.times, features=("x", "y", "vx", "vy"))


@one_thread_each()
def found_in(data, **changes):
    config = run_config("comotion", "short", 0, {"simplify": True} | changes)
    fitted, dataset = untrained(data, config, key=jax.random.key(0))
    layout = fitted.model.dynamics.layout
    law = find_simple_law(config.system, layout, dataset, key=jax.random.key(1))
    return law, fitted.scaling


def law_of(data, **changes):
    law, scaling = found_in(data, **changes)
    assert law is not None
    return law, scaling


def push_at(law, scaling, r):
    """Terms of the push at distances in the data's units, in these units, with their sds."""
    length, time = float(scaling.scale[0]), float(scaling.time)
    r = np.asarray(r) / length
    mean, covariance = law.functions[1].posterior(jnp.asarray(np.log(r))[:, None])
    sd = np.sqrt(np.diagonal(np.asarray(covariance), axis1=1, axis2=2)).T
    unit = length / time**2 / r[:, None]
    return np.asarray(mean) * unit, sd * unit


@pytest.fixture(scope="module")
def falling():
    """Discs under gravity, with noise."""
    parts = Parts(2, BOX, [0.9], pair=Restitution((0.9,)), wall=Restitution((0.9,)))
    return seen(billiard(parts, sequences=30, noise=0.05, push=[0.0, -0.03], frames=60))


def test_a_weak_pull_is_found_between_contacts_and_contacts_beside_it(falling):
    law, scaling = law_of(falling)
    length, time = float(scaling.scale[0]), float(scaling.time)
    assert law.system.pair == "none"
    assert law.system.alone == "raw"
    places = np.random.default_rng(0).uniform(-1, 1, (20, 4))
    pull = np.asarray(law.functions[0].posterior(jnp.asarray(places))[0]) * length / time**2
    np.testing.assert_allclose(pull, np.broadcast_to([0.0, -0.03], pull.shape), atol=0.004)
    assert law.contacts is not None
    assert 2 * float(law.contacts.radii.mean[0]) * length == pytest.approx(1.8, abs=0.03)
    assert len(law.contacts.planes.anchors) == 4


def test_charges_multiply_and_nothing_else_acts():
    law, scaling = law_of(charged_particles(sequences=16, objects=5, frames=60, seed=0))
    assert law.system.alone == "none"
    r = np.array([0.6, 1.0, 2.0, 4.0])
    mean, _ = push_at(law, scaling, r)
    np.testing.assert_allclose(mean[:, 1] * r**2, 1.0, atol=0.03)
    np.testing.assert_allclose(mean[:, 0] * r**2, 0.0, atol=0.03)
    assert law.system.substeps > 1


def test_springs_are_one_where_it_is_known_whom_they_join_and_none_elsewhere():
    data = springs(sequences=12, frames=60, seed=0)
    law, scaling = law_of(data)
    r = np.array([1.0, 2.0, 3.0])
    mean, _ = push_at(law, scaling, r)
    np.testing.assert_allclose(np.diff(mean[:, 0]), mean[1, 0] - mean[0, 0], rtol=0.02)
    assert found_in(dataclasses.replace(data, graph=None))[0] is None


def test_signs_are_read_off_the_motion_and_found_with_the_law():
    data = charged_particles(sequences=24, objects=4, frames=50, seed=1)
    law, _ = law_of(data, properties="inferred")
    assert law.system.property_encoder == "signs"
    assert law.reader is not None
    config = run_config("comotion", "short", 0, {"properties": "inferred"})
    _, dataset = untrained(data, config, key=jax.random.key(0))
    beliefs = jax.vmap(law.reader)(dataset.windows)
    true = data.static[..., 0]
    turned = np.sign(np.asarray(beliefs.mean)[..., 0]) * true
    assert (np.abs(turned.sum(axis=1)) == 4).mean() > 0.9
    sure = jax.tree.map(lambda leaf: leaf[0], beliefs)
    drawn = np.asarray(sure.draw(key=jax.random.key(2)))[:, 0] * true[0]
    assert abs(float(drawn.sum())) == 4


def test_straight_flights_need_no_law():
    data = seen(billiard(Parts(2, BOX, [0.9]), sequences=10, noise=0.05, frames=60))
    assert found_in(data)[0] is None


def test_stretches_give_back_the_weights_whatever_they_begin_with():
    rng = np.random.default_rng(0)
    P, N, A, d, n, step = 3, 21, 2, 2, 3, 0.5
    speeds, ways = rng.normal(size=(2, P, N - 1, A, d, n))
    bends = Bends(speeds, ways, np.full((P, N - 1), step))
    weights = np.array([1.0, -2.0, 0.5])
    path, speed = (part @ weights for part in bends.gathered)
    times = np.tile(step * np.arange(N), (P, 1))
    place, start = rng.normal(size=(2, P, 1, A, d))
    tracks = Tracks(times, place + times[:, :, None, None] * start + path, start + speed)
    # A kick in one interval is no part of the law, and that interval is known.
    tracks.positions[0, 8:, 0] += 5.0 * (times[0, 8:, None] - times[0, 7])
    assert tracks.velocities is not None
    tracks.velocities[0, 8:, 0] += 5.0
    calm = np.ones((P, N - 1, A), bool)
    calm[0, 7, 0] = False
    stretches = stretches_of(bends, tracks, NoiseScale(0.01, 0.01), calm, longest=6)
    found = regressed(stretches, np.zeros(n, int))
    np.testing.assert_allclose(found.mean, weights, atol=1e-3)
    assert found.misfit.max() < 1e-2
    calm[:] = True
    robust = regressed(
        stretches_of(bends, tracks, NoiseScale(0.01, 0.01), calm, longest=6), np.zeros(n, int)
    )
    np.testing.assert_allclose(robust.mean, weights, atol=1e-2)
