"""What the dataset of a forecast holds: draws by name, and what they are compared with."""

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from comotion.data.summary import TrainingSummary
from comotion.data.trajectories import Trajectories
from comotion.predict.forecast import DIMENSIONS

if TYPE_CHECKING:
    import xarray as xr

Draws = Float[np.ndarray, "L P T A O"]


def forecast_dataset(
    data: Trajectories,
    summary: TrainingSummary,
    trajectory: Draws,
    observation: Draws,
    *,
    times: Float[np.ndarray, "P T"],
    alive: Bool[np.ndarray, "P T A"],
    **about: Any,
) -> "xr.Dataset":
    """Draws without and with observation noise; `about` says what made them of how many frames."""
    import xarray as xr

    return xr.Dataset(
        {
            "trajectory": (DIMENSIONS, trajectory),
            "observation": (DIMENSIONS, observation),
            "alive": (DIMENSIONS[1:4], alive),
            "climatology_mean": ("feature", summary.mean),
            "climatology_sd": ("feature", summary.sd),
            "drift_lead": ("lead", summary.lead),
            "drift_sd": (("lead", "feature"), summary.drift_sd),
        },
        coords={
            "feature": list(data.features),
            "sequence": list(data.sequence_names),
            "object_name": (("sequence", "object"), np.array(data.object_names, dtype=object)),
            "t": (("sequence", "time"), times),
        },
        attrs=about | data.units.attributes,
    )
