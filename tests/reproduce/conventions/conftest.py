from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr

from comotion.data import Trajectories

AXES = ("draw", "sequence", "time", "object", "feature")


def forecast_for(
    data: Trajectories,
    trajectory: np.ndarray,
    observation: np.ndarray | None = None,
    *,
    climatology_mean: float = 0.0,
    climatology_sd: float = 1.0,
    drift_sd: float = 1.0,
    encoder_frames: int = 2,
) -> xr.Dataset:
    """A forecast of the data with the given draws and simple references."""
    features = len(data.features)
    return xr.Dataset(
        {
            "trajectory": (AXES, trajectory),
            "observation": (AXES, trajectory if observation is None else observation),
            "alive": (AXES[1:4], data.alive),
            "climatology_mean": ("feature", np.full(features, climatology_mean)),
            "climatology_sd": ("feature", np.full(features, climatology_sd)),
            "drift_sd": (("lead", "feature"), np.full((2, features), drift_sd)),
        },
        coords={
            "feature": list(data.features),
            "sequence": list(data.sequence_names),
            "t": (("sequence", "time"), data.times),
            "drift_lead": ("lead", np.array([0.0, 100.0])),
        },
        attrs={
            "system": "I-GPODE",
            "seed": 0,
            "encoder_frames": encoder_frames,
            "frames_seen": encoder_frames,
        },
    )


@pytest.fixture
def make_forecast() -> Callable[..., xr.Dataset]:
    return forecast_for


@pytest.fixture
def standard_normal() -> tuple[Trajectories, xr.Dataset]:
    """Truth and 200 draws from the same standard normal: 4 × 50 × 3 × 4 cells."""
    rng = np.random.default_rng(7)
    data = Trajectories.from_arrays(rng.standard_normal((4, 50, 3, 4)))
    draws = rng.standard_normal((200, *data.values.shape))
    return data, forecast_for(data, draws)
