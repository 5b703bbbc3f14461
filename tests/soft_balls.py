"""Balls whose contacts are springs, by small leapfrog steps in NumPy: an oracle of its own."""

import numpy as np

from comotion.initialise.tracks import Tracks

DISTANCE, WALL, OBJECTS, SPEED = 2.4, 3.8, 3, 0.2
PER_TOUCH = 100


def soft_balls(lasting, *, sequences=40, frames=60, step=0.5, seed=0):
    """Tracks without noise; every touch lasts so long, however fast it begins."""
    rng = np.random.default_rng(seed)
    x = np.stack([_place(rng) for _ in range(sequences)])
    v = SPEED * rng.normal(size=x.shape)
    count = int(np.ceil(PER_TOUCH * step / lasting))
    h, path = step / count, []
    push = _pushes(x, lasting)
    for _ in range(frames):
        path.append(np.concatenate([x, v], axis=-1))
        for _ in range(count):
            v = v + h / 2 * push
            x = x + h * v
            push = _pushes(x, lasting)
            v = v + h / 2 * push
    states = np.stack(path, axis=1)
    times = np.tile(step * np.arange(frames), (sequences, 1))
    return Tracks(times, states[..., :2], states[..., 2:])


def _pushes(x, lasting):
    wall = (np.pi / lasting) ** 2
    gaps = x[:, :, None] - x[:, None]
    distance = np.linalg.norm(gaps, axis=-1, keepdims=True)
    depth = np.where(distance > 0, np.maximum(DISTANCE - distance, 0), 0)
    pairs = wall / 2 * (depth / np.where(distance > 0, distance, 1) * gaps).sum(axis=2)
    return pairs - wall * (np.maximum(x - WALL, 0) - np.maximum(-WALL - x, 0))


def _place(rng):
    while True:
        x = rng.uniform(-3, 3, (OBJECTS, 2))
        apart = np.linalg.norm(x[:, None] - x[None], axis=-1) + 9 * np.eye(OBJECTS)
        if apart.min() > DISTANCE:
            return x
