"""Restless things in a round arena: the wall is found, kept, and nothing is forecast beyond it."""

import dataclasses

import numpy as np
import pytest

import comotion as cm
from comotion.config import Recipe, Stage
from comotion.predict import load
from comotion.predict.stretch import Stretch
from comotion.systems import system
from comotion.train import fit

RADIUS = 5.0


def in_an_arena(frames, seed):
    """Three robots that drive at a steady speed, turn at random and slide along the wall."""
    rng = np.random.default_rng(seed)
    heading = rng.uniform(0, 2 * np.pi, size=3)
    turn = np.zeros(3)
    place = rng.uniform(-2, 2, size=(3, 2))
    path = []
    for _ in range(frames):
        turn = 0.95 * turn + 0.03 * rng.normal(size=3)
        heading = heading + turn
        place = place + 0.15 * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        away = np.linalg.norm(place, axis=1, keepdims=True)
        place = np.where(away > RADIUS, place * RADIUS / away, place)
        path.append(place)
    return cm.Trajectories.from_arrays(np.array(path)[None], 0.1 * np.arange(frames))


@pytest.fixture(scope="module")
def data():
    return in_an_arena(2500, seed=0)


@pytest.fixture(scope="module")
def fitted(data):
    short = Recipe("now", (Stage(12, 20, 2e-2, "cosine", "score"),), windows=8, draws=4)
    train, valid = data.split(0.8, 0.2, by="time")
    near_walls = system("motion", contacts="auto", alone="wall")
    return fit(train, valid=valid, system=near_walls, recipe=short, progress=False)


def test_the_wall_is_found_beside_noise(fitted):
    assert fitted.contact_law is not None
    assert not fitted.contact_law.only
    radius = float(fitted.scaling.scale[0]) * float(fitted.contact_law.spheres.shapes.mean[0, -1])
    assert radius == pytest.approx(RADIUS, rel=0.02)


def test_no_draw_leaves_the_arena(fitted, data):
    """Before they are stretched, and up to how well the wall is known."""
    as_drawn = dataclasses.replace(fitted, stretch=Stretch())
    forecast = as_drawn.predict(data, horizon=5.0, draws=50)
    away = np.linalg.norm(forecast.trajectory.values, axis=-1)
    assert away.max() < 1.02 * RADIUS


def test_the_stretch_and_the_wall_are_part_of_the_file(fitted, data, tmp_path):
    assert len(fitted.stretch.factors) == 12
    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.stretch == fitted.stretch
    # As above, so that the program is there.
    first, second = (m.predict(data, horizon=5.0, draws=50) for m in (fitted, again))
    np.testing.assert_array_equal(first.observation.values, second.observation.values)
