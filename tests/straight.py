"""Walkers that go straight on.

As many of them, seen as often, as there are balls where a law is identified: one program does.
"""

import numpy as np

from comotion.data import Trajectories

SEQUENCES, FRAMES = 48, 30


def straight_walkers() -> Trajectories:
    rng = np.random.default_rng(0)
    times = 0.5 * np.arange(FRAMES)
    start, velocity = rng.normal(size=(2, SEQUENCES, 1, 3, 2))
    places = 5 * start + velocity * times[:, None, None]
    values = np.concatenate([places, np.broadcast_to(velocity, places.shape)], axis=-1)
    return Trajectories.from_arrays(values + 0.02 * rng.normal(size=values.shape), times)
