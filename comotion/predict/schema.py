"""What the dataset of a forecast holds: draws by name, and what they are compared with."""

from collections.abc import Mapping
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
    **about: Any,
) -> "xr.Dataset":
    """Draws without and with observation noise, and what `without_draws` says of them."""
    empty = without_draws(data, summary, **about)
    return with_draws(empty, {"trajectory": trajectory, "observation": observation})


def with_draws(empty: "xr.Dataset", draws: Mapping[str, Draws]) -> "xr.Dataset":
    return empty.assign({name: (DIMENSIONS, values) for name, values in draws.items()})


def without_draws(
    data: Trajectories,
    summary: TrainingSummary,
    *,
    times: Float[np.ndarray, "P T"],
    alive: Bool[np.ndarray, "P T A"],
    **about: Any,
) -> "xr.Dataset":
    """Whose forecast, at which times; `about` says what made it of how many frames."""
    import xarray as xr

    return xr.Dataset(
        {
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
