from collections.abc import Callable

import numpy as np
import pytest

from comotion.data import Trajectories


@pytest.fixture(scope="session")
def make_data() -> Callable[..., Trajectories]:
    """Small random walks with any number of axes, and whatever else is asked for."""
    return _make_data


def _make_data(
    *, spatial=2, velocities=True, others=(), charge=True, push=False, objects=3, frames=6
) -> Trajectories:
    rng = np.random.default_rng(0)
    axes = ["x", "y", "z"][:spatial]
    features = [*axes, *(f"v{axis}" for axis in axes if velocities), *others]
    size = (2, frames, objects, len(features))
    values = rng.normal(size=(2, 1, *size[2:])) + np.cumsum(0.2 * rng.normal(size=size), axis=1)
    return Trajectories.from_arrays(
        values,
        0.5 * np.arange(frames),
        features=features,
        static=rng.normal(size=(objects, 1)) if charge else None,
        static_names=["charge"] if charge else None,
        controls=rng.normal(size=(2, frames, objects, 1)) if push else None,
        control_names=["push"] if push else None,
    )
