"""A forecast can be scored only on the data it was made for."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from comotion.data import BadInput, Trajectories

DIMS = ("draw", "sequence", "time", "object", "feature")
NEEDED = (
    "trajectory",
    "observation",
    "climatology_mean",
    "climatology_sd",
    "drift_lead",
    "drift_sd",
)


def check_agreement(forecast: xr.Dataset, data: Trajectories) -> None:
    """Raise BadInput with one sentence where forecast and data do not speak of the same thing."""
    missing = [name for name in NEEDED if name not in forecast.variables]
    if missing:
        raise BadInput(
            f"The forecast has no variable {missing[0]!r}; make it with `predict` and keep all "
            "of its variables."
        )
    if forecast.sizes["draw"] < 2:
        raise BadInput("The forecast has one draw; scores need at least 2, better 100.")
    _check_names("features", forecast["feature"].values.tolist(), list(data.features))
    _check_names("sequences", forecast["sequence"].values.tolist(), list(data.sequence_names))
    _check_size("objects", forecast.sizes["object"], data.values.shape[2])
    _check_objects(forecast, data)
    _check_size("frames", forecast.sizes["time"], data.values.shape[1])
    _check_times(forecast, data)
    _check_finite(forecast, data)


def draws_of(forecast: xr.Dataset, variable: str) -> Float[np.ndarray, "L P N A O"]:
    """The draws in the one order of axes, zero where there is none (objects not in the scene)."""
    return np.nan_to_num(forecast[variable].transpose(*DIMS).values, nan=0.0)


def _check_names(what: str, forecast: list, data: list) -> None:
    if forecast == data:
        return
    raise BadInput(
        f"The forecast has the {what} {_short(forecast)} and the data have {_short(data)}; "
        f"score a forecast on the data it was made for."
    )


def _check_size(what: str, forecast: int, data: int) -> None:
    if forecast != data:
        raise BadInput(
            f"The forecast has {forecast} {what} and the data have {data}; "
            "score a forecast on the data it was made for."
        )


def _check_objects(forecast: xr.Dataset, data: Trajectories) -> None:
    """Forecasts written before objects had names in them cannot be checked."""
    if "object_name" not in forecast.coords:
        return
    names = forecast["object_name"].transpose("sequence", "object").values
    for sequence, theirs, ours in zip(data.sequence_names, names, data.object_names, strict=True):
        _check_names(f"objects of sequence {sequence!r}:", theirs.tolist(), list(ours))


def _check_times(forecast: xr.Dataset, data: Trajectories) -> None:
    times = forecast["t"].transpose("sequence", "time").values
    agree = np.isclose(times, data.times, rtol=1e-5, atol=1e-8, equal_nan=True)
    if not agree.all():
        p, n = np.argwhere(~agree)[0]
        raise BadInput(
            f"Frame {n} of sequence {data.sequence_names[p]!r} is at time {times[p, n]:g} in the "
            f"forecast and {data.times[p, n]:g} in the data; score a forecast on the data it was "
            "made for."
        )


def _check_finite(forecast: xr.Dataset, data: Trajectories) -> None:
    for variable in ("trajectory", "observation"):
        finite = np.isfinite(forecast[variable].transpose(*DIMS).values).all(axis=0)
        lost = np.argwhere(data.present & ~finite)
        if len(lost):
            p, n = lost[0, :2]
            raise BadInput(
                f"`{variable}` has draws that are not finite at {len(lost)} cells where the data "
                f"have a value (first: sequence {data.sequence_names[p]!r}, frame {n}); leave out "
                "the draws that diverged, or forecast every object of the data."
            )


def _short(names: list) -> str:
    shown = ", ".join(str(name) for name in names[:6])
    return shown + (f", … ({len(names)})" if len(names) > 6 else "")
