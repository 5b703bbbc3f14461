"""Contacts that yield: energy, momentum and how long a touch lasts, by closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.contacts import Parts, Softness, box, contact_law, describe_contacts
from comotion.contacts.shape import blank_law, contact_shape
from comotion.coordinates.layout import Layout
from comotion.integrate import Interval, Yielding

WALL, DISTANCE, LASTING, STEPS = 3.0, 2.0, 0.8, 400
STIFFNESS = (np.pi / LASTING) ** 2


def law(power=1.0):
    soft = Softness((np.log(STIFFNESS / 2), power), (np.log(STIFFNESS), power), steps=STEPS)
    return contact_law(Parts(2, box([-WALL] * 2, [WALL] * 2), [DISTANCE / 2], softness=soft))


def lasting(law, speed, *, pair):
    return law.springs.lasting(speed, pair=pair)


@jax.jit
def after(contacts, states, length):
    there = (jnp.ones(len(states), bool),)
    interval = Interval(jnp.zeros((), FAST), length, there)
    return Yielding(contacts, Layout(2), STEPS).advance(
        lambda s, t, i: jnp.zeros_like(s), states, interval
    )


def moved(law, states, length):
    contacts = law.draw(key=jax.random.key(0))
    return np.asarray(after(contacts, jnp.asarray(states, FAST), jnp.asarray(length, FAST)))


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_a_touch_of_a_wall_lasts_as_long_as_it_should_and_gives_all_speed_back(power):
    lasts = lasting(law(power), 0.3, pair=False)
    if power == 1.0:
        assert lasts == pytest.approx(LASTING)
    pressed, left = (moved(law(power), [[WALL, 0, 0.3, 0.1]], lasts * t)[0] for t in (0.98, 1.02))
    assert pressed[0] > WALL > left[0]
    np.testing.assert_allclose(left[2:], [-0.3, 0.1], atol=1e-4)


def test_two_that_touch_keep_momentum_and_energy_and_part_when_they_should():
    start = np.array([[-1.0, 0.2, 0.3, 0.0], [1.0, -0.2, -0.1, 0.1]])
    start[:, :2] *= DISTANCE / np.linalg.norm(start[0, :2] - start[1, :2])
    end = moved(law(), start, 1.1 * LASTING)
    np.testing.assert_allclose(end[:, 2:].sum(axis=0), start[:, 2:].sum(axis=0), atol=1e-5)
    energy = (end[:, 2:] ** 2).sum(), (start[:, 2:] ** 2).sum()
    assert energy[0] == pytest.approx(energy[1], rel=1e-4)
    assert np.linalg.norm(end[0, :2] - end[1, :2]) > DISTANCE
    assert lasting(law(), 0.4, pair=True) == pytest.approx(LASTING)


def test_a_file_knows_the_shape_of_springs_and_a_sentence_what_they_do():
    blank = blank_law(contact_shape(law()))
    same = jax.tree.map(lambda a, b: a.shape == b.shape, blank, law())
    assert jax.tree.all(same)
    assert "soft, a usual touch lasts 0.8" in describe_contacts(law(), np.zeros(2), 1.0, 1.0)
