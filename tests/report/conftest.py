import jax
import numpy as np
import pytest
import xarray as xr

from comotion.config import Recipe, RunConfig
from comotion.data import Trajectories, summarise
from comotion.predict import FittedModel
from comotion.reproduce.conventions import Scores, paper_scores
from comotion.simulate import bouncing_balls
from comotion.systems import system
from comotion.train.fit import prepare

AXES = ("draw", "sequence", "time", "object", "feature")


def orbits(objects: int, spatial: int, sequences: int = 3, draws: int = 30) -> np.ndarray:
    """Noisy circular orbits and their forecasts: (1 + draws, sequence, 40, object, feature)."""
    rng = np.random.default_rng(0)
    phase = rng.uniform(0, 6, (1, sequences, 1, objects, 1)) + np.arange(spatial) * np.pi / 2
    speed = 0.5 + 0.03 * rng.standard_normal((1 + draws, sequences, 1, objects, 1))
    times = np.arange(40.0).reshape(1, 1, -1, 1, 1) / 4
    return np.sin(speed * times + phase) * (1 + np.arange(objects)[:, None])


def forecast_of(paths: np.ndarray) -> tuple[xr.Dataset, Trajectories]:
    names = ("x", "y", "z")[: paths.shape[-1]]
    data = Trajectories.from_arrays(paths[0], np.arange(40.0) / 4, features=names)
    noise = 0.05 * np.random.default_rng(1).standard_normal(paths[1:].shape)
    summary = summarise(data, 5)
    forecast = xr.Dataset(
        {
            "trajectory": (AXES, paths[1:]),
            "observation": (AXES, paths[1:] + noise),
            "climatology_mean": ("feature", summary.mean),
            "climatology_sd": ("feature", summary.sd),
            "drift_sd": (("lead", "feature"), summary.drift_sd),
        },
        coords={
            "feature": list(names),
            "sequence": list(data.sequence_names),
            "t": (("sequence", "time"), data.times),
            "drift_lead": ("lead", summary.lead),
        },
        attrs={"system": "I-GPODE", "encoder_frames": 5, "frames_seen": 5},
    )
    return forecast, data


@pytest.fixture(scope="session")
def planar() -> tuple[xr.Dataset, Trajectories]:
    return forecast_of(orbits(objects=3, spatial=2))


@pytest.fixture(scope="session", params=[1, 2, 3], ids=["1-D", "2-D", "3-D"])
def any_dimension(request) -> tuple[xr.Dataset, Trajectories]:
    return forecast_of(orbits(objects=2, spatial=request.param))


@pytest.fixture(scope="session")
def scores(planar) -> Scores:
    return paper_scores(*planar, by_lead=True)


@pytest.fixture(scope="session")
def fields() -> xr.Dataset:
    """An outward f_s = (x, y) and a pushing f_b, with draws that differ by a constant shift."""
    places = np.linspace(-2, 2, 9)
    x, y = np.meshgrid(places, places)
    shifts = np.linspace(-1, 1, 21).reshape(-1, 1, 1, 1)
    distance = np.linspace(0.5, 3, 12)
    line = np.stack([1 / distance**2, 0 * distance], axis=-1) + shifts[:, 0]
    return xr.Dataset(
        {
            "f_s": (("draw", "y", "x", "component"), np.stack([x, y], axis=-1) + shifts),
            "f_b": (("draw", "dy", "dx", "component"), -np.stack([x, y], axis=-1) + shifts),
            "f_b_line": (("draw", "distance", "direction"), line),
        },
        coords={
            **dict.fromkeys(("x", "y", "dx", "dy"), places),
            "component": ["x", "y"],
            "distance": distance,
            "direction": ["radial", "tangential"],
        },
        attrs={"velocity": "(0, 0)"},
    )


@pytest.fixture(scope="session")
def fitted_balls() -> tuple[FittedModel, Trajectories]:
    """A tiny model with starting values from the data, not trained."""
    data = bouncing_balls(sequences=3, frames=20, noise="low", seed=0)
    tiny = {"inducing_alone": 8, "inducing_pair": 8, "fourier_features": 8}
    config = RunConfig(system("comotion", **tiny), Recipe())
    return prepare(data, config, key=jax.random.key(0))[0], data
