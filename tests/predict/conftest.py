from collections.abc import Callable

import jax
import numpy as np
import pytest

from comotion.config import Recipe, RunConfig
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.systems import system
from comotion.train.fit import prepare


@pytest.fixture(scope="session")
def make_walks() -> Callable[..., Trajectories]:
    """Random walks of objects with a charge, 8 frames at times 3, 3.5, 4, …"""
    return _make_walks


@pytest.fixture(scope="session")
def make_fitted() -> Callable[..., FittedModel]:
    """A tiny model with starting values from the data, not trained."""
    return _make_fitted


@pytest.fixture(scope="session")
def fitted(make_walks, make_fitted) -> FittedModel:
    return make_fitted(make_walks())


def _make_walks(*, objects=3, sequences=2, frames=8, scale=1.0, step=0.5, **parts) -> Trajectories:
    rng = np.random.default_rng(objects)
    start = rng.normal(size=(sequences, 1, objects, 4))
    size = (sequences, frames, objects, 4)
    values = start + np.cumsum(0.1 * rng.normal(size=size), axis=1)
    charge = {"static": rng.normal(size=(sequences, objects, 1)), "static_names": ["charge"]}
    times = 3.0 + step * np.arange(frames)
    return Trajectories.from_arrays(scale * values, times, **{**charge, **parts})


def _make_fitted(data, name="I-NODE", **parts) -> FittedModel:
    tiny = {"inducing_alone": 8, "inducing_pair": 8, "fourier_features": 16}
    tiny |= {"hidden_alone": 8, "hidden_pair": 8}
    config = RunConfig(system(name, **{**tiny, **parts}), Recipe())
    return prepare(data, config, key=jax.random.key(0))[0]
