"""Bouncing drift against an independent event simulation, laws of conservation and limits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.contacts import Parts, Plane, Restitution, Sphere, box, contact_law, polygon
from comotion.coordinates.layout import Layout
from comotion.integrate import Interval
from comotion.integrate.bouncing import Bouncing
from comotion.integrate.contacts import drift
from tests.event_oracle import Scene

KEY = jax.random.key(0)
BOX = [(s * axis, 3.8) for axis in np.eye(2) for s in (1.0, -1.0)]
PENTAGON = [(np.cos(t), np.sin(t)) for t in 0.3 + 2 * np.pi * np.arange(5) / 5]


def law(**parts):
    return contact_law(Parts(**{"spatial": 2, **parts})).draw(key=KEY)


def places(rng, objects, radius, spread, d=2):
    while True:
        x = rng.uniform(-spread, spread, (objects, d))
        apart = np.linalg.norm(x[:, None] - x[None], axis=-1) + 1e3 * np.eye(objects)
        if apart.min() > 2 * radius:
            return x


def run(contacts, x, v, time, steps=1, rounds=8):
    everyone = jnp.ones(len(x), bool)

    @eqx.filter_jit
    def follow(contacts, x, v):
        def step(carry, _):
            x, v, missed = carry
            x, v, over = drift(contacts, x, v, jnp.asarray(time / steps, FAST), everyone, rounds)
            return (x, v, missed + over), None

        return jax.lax.scan(step, (x, v, jnp.zeros((), FAST)), None, length=steps)[0]

    return [
        np.asarray(part) for part in follow(contacts, jnp.asarray(x, FAST), jnp.asarray(v, FAST))
    ]


SCENES = {
    "box": (law(walls=box([-3.8] * 2, [3.8] * 2), radii=[1.2]), Scene([1.2] * 3, BOX)),
    "circle": (
        law(walls=[Sphere(np.array([0.5, 0.0]), 4.5)], radii=[0.8]),
        Scene([0.8] * 3, circles=[((0.5, 0.0), 4.5, True)]),
    ),
    "obstacle": (
        law(walls=[*box([-5] * 2, [5] * 2), Sphere(np.zeros(2), 0.7, False)], radii=[0.5]),
        Scene([0.5] * 3, [(n, 5.0) for n, _ in BOX], [((0, 0), 0.7, False)]),
    ),
    "pentagon": (
        law(walls=polygon([(6 * np.cos(t), 6 * np.sin(t)) for t in 2 * np.pi * np.arange(5) / 5]),
            radii=[0.6]),
        Scene(
            [0.6] * 3,
            [((np.cos(t), np.sin(t)), 6 * np.cos(np.pi / 5))
             for t in 2 * np.pi * (np.arange(5) + 0.5) / 5],
        ),
    ),
    "masses, radii, losses": (
        law(walls=box([-3.8] * 2, [3.8] * 2), radii=[0.5, 0.9, 1.3], log_masses=np.log([1, 3, 0.5]),
            pair=Restitution((0.8,), loss=0.1), wall=Restitution((0.8,), loss=0.1)),
        Scene([0.5, 0.9, 1.3], BOX, masses=[1, 3, 0.5], restitution=0.8, loss=0.1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_drift_is_that_of_an_independent_event_simulation(name):
    contacts, scene = SCENES[name]
    rng, events = np.random.default_rng(3), 0
    for _ in range(10):
        x = places(rng, 3, 1.2, 2.6) if name != "obstacle" else places(rng, 3, 0.5, 4.0)
        while name == "obstacle" and np.linalg.norm(x, axis=1).min() < 0.8:
            x = places(rng, 3, 0.5, 4.0)
        v = rng.normal(size=(3, 2))
        wanted_x, wanted_v, count = scene.run(x, v, 6.0)
        got_x, got_v, missed = run(contacts, x, v, 6.0, steps=12)
        assert missed == 0
        np.testing.assert_allclose(got_x, wanted_x, atol=2e-3)
        np.testing.assert_allclose(got_v, wanted_v, atol=2e-3)
        events += count
    assert events > 30


def test_three_dimensions():
    contacts = law(
        spatial=3, walls=[*box([-3] * 3, [3] * 3), Sphere(np.zeros(3), 4.0)], radii=[0.7]
    )
    faces = [(s * axis, 3.0) for axis in np.eye(3) for s in (1.0, -1.0)]
    scene = Scene([0.7] * 4, faces, [((0, 0, 0), 4.0, True)])
    rng = np.random.default_rng(1)
    x, v = places(rng, 4, 0.7, 2.0, d=3), rng.normal(size=(4, 3))
    wanted_x, _, events = scene.run(x, v, 5.0)
    got_x, _, missed = run(contacts, x, v, 5.0, steps=10)
    assert missed == 0
    assert events >= 6
    np.testing.assert_allclose(got_x, wanted_x, atol=1e-3)


def test_a_billiard_of_fifty_discs_keeps_energy_and_never_overlaps():
    contacts = law(walls=box([-10] * 2, [10] * 2), radii=[0.5])
    rng = np.random.default_rng(0)
    x, v = places(rng, 50, 0.5, 9.9), rng.normal(size=(50, 2))
    later, after, missed = run(contacts, x, v, 10.0, steps=100, rounds=20)
    assert missed == 0
    assert np.sum(after**2) == pytest.approx(np.sum(v**2), rel=1e-4)
    apart = np.linalg.norm(later[:, None] - later[None], axis=-1) + 1e3 * np.eye(50)
    assert apart.min() > 1.0 - 1e-4
    assert np.abs(later).max() < 10 + 1e-4


def test_time_can_be_turned_round():
    contacts, _ = SCENES["box"]
    rng = np.random.default_rng(5)
    x, v = places(rng, 3, 1.2, 2.6), rng.normal(size=(3, 2))
    there = run(contacts, x, v, 3.0, steps=6)
    back = run(contacts, there[0], -there[1], 3.0, steps=6)
    np.testing.assert_allclose(back[0], x, atol=1e-3)


def test_objects_that_are_away_neither_move_nor_are_met():
    """And keep the velocity they will enter with."""
    contacts = law(radii=[0.5])
    x, v = jnp.asarray([[0.0, 0.0], [2.0, 0.0]], FAST), jnp.asarray([[1.0, 0.0], [-1.0, 0.0]], FAST)
    there = jnp.asarray([True, False])
    later, after, _ = drift(contacts, x, v, jnp.asarray(3.0, FAST), there, 4)
    np.testing.assert_allclose(later, [[3.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(after, v)


def test_without_restitution_an_object_follows_a_round_wall_at_its_sliding_speed():
    contacts = law(walls=[Sphere(np.zeros(2), 1.0)], wall=Restitution((0.0,)))
    x, v, missed = run(contacts, [[0.0, 0.0]], [[1.0, 0.0]], 1.0)
    np.testing.assert_allclose(x, [[1.0, 0.0]], atol=1e-6)
    assert missed == 0
    x, v, missed = run(contacts, [[1.0, 0.0]], [[0.5, 1.0]], 2.0, steps=50)
    assert missed == 0
    assert np.linalg.norm(x) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(v) == pytest.approx(1.0, abs=1e-3)
    assert np.arctan2(x[0, 1], x[0, 0]) == pytest.approx(2.0, abs=1e-2)


def falling(states, time, interval):
    return jnp.zeros_like(states).at[:, 3].set(-9.8)


def follow(contacts, states, frames, step=0.1, steps=4, rounds=6):
    integrator = Bouncing(contacts, Layout(2), steps=steps, rounds=rounds)
    known = (jnp.ones(len(states), bool),)

    @eqx.filter_jit
    def go(integrator, states):
        def frame(states, _):
            interval = Interval(jnp.zeros((), FAST), jnp.asarray(step, FAST), known)
            states, missed = integrator.advance_counting(falling, states, interval)
            return states, (states, missed)

        return jax.lax.scan(frame, states, None, length=frames)[1]

    return [np.asarray(part) for part in go(integrator, jnp.asarray(states, FAST))]


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
def test_a_stack_at_rest_neither_hangs_nor_explodes(restitution):
    floor = [Plane(np.zeros(2), np.array([0.0, -1.0]))]
    bounce = Restitution((restitution,))
    contacts = law(walls=floor, radii=[0.5], pair=bounce, wall=bounce)
    stack = [[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]]
    states, _ = follow(contacts, stack, frames=100)
    assert np.isfinite(states).all()
    assert states[..., 1].min() > -1e-3
    assert states[..., 1].max() < 2.0 + 0.1
    if restitution < 1:
        assert np.abs(states[-1, :, 3]).max() < 0.5


def test_a_dropped_ball_bounces_as_high_as_its_restitution_says():
    contacts = law(walls=[Plane(np.zeros(2), np.array([0.0, -1.0]))], wall=Restitution((0.8,)))
    fall = np.sqrt(2 / 9.8)
    step = fall * 1.8 / 200  # to the top of the first rebound
    states, missed = follow(contacts, [[0.0, 1.0, 0.3, 0.0]], frames=200, step=step)
    assert missed.sum() == 0
    assert states[-1, 0, 1] == pytest.approx(0.64, abs=0.01)
    assert states[-1, 0, 2] == pytest.approx(0.3)


def test_too_few_rounds_are_counted_and_nothing_passes_a_wall():
    contacts = law(walls=box([-1] * 2, [1] * 2))
    x, _, missed = run(contacts, [[0.0, 0.1]], [[50.0, 30.0]], 1.0, rounds=3)
    assert missed == 1
    assert np.abs(x).max() <= 1 + 1e-5


def test_the_gradient_in_the_distance_is_that_of_finite_differences():
    def gap(radius):
        contacts = eqx.tree_at(lambda c: c.radii, SCENES["box"][0], radius[None])
        x = jnp.asarray([[-2.0, 0.3], [2.0, 0.0], [0.0, 3.5]], FAST)
        v = jnp.asarray([[1.0, 0.0], [-1.0, 0.1], [0.1, 0.05]], FAST)
        return drift(contacts, x, v, jnp.asarray(1.5, FAST), jnp.ones(3, bool), 6)[0][0, 1]

    slope = jax.jit(jax.jacfwd(gap))(jnp.asarray(1.2, FAST))
    wanted = (gap(jnp.asarray(1.21, FAST)) - gap(jnp.asarray(1.19, FAST))) / 0.02
    assert float(slope) == pytest.approx(float(wanted), rel=2e-2)


def test_training_sees_the_slopes_of_a_slide_and_they_stay_bounded():
    """Across a wall nothing gets through, along it everything; grazing or head-on alike."""
    contacts = law(walls=box([-1] * 2, [1] * 2))
    integrator = Bouncing(contacts, Layout(2))
    interval = Interval(jnp.zeros((), FAST), jnp.ones((), FAST), (jnp.ones(1, bool),))

    def later(velocity):
        states = jnp.concatenate([jnp.asarray([[0.5, 0.0]], FAST), velocity[None]], axis=1)
        return integrator.advance(lambda states, *_: 0.0 * states, states, interval)[0]

    for velocity in ([1.0, 0.3], [0.5001, 0.9], [50.0, 0.0]):
        slopes = jax.jacobian(later)(jnp.asarray(velocity, FAST))
        np.testing.assert_allclose(slopes[:2], [[0.0, 0.0], [0.0, 1.0]], atol=1e-5)
        np.testing.assert_allclose(slopes[2:], [[0.0, 0.0], [0.0, 1.0]], atol=1e-5)
