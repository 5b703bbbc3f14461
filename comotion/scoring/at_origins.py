"""Score a model, a reference or a finished forecast on data, beside forecasts without a model."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from comotion.data import Trajectories
from comotion.data.units import counted
from comotion.errors import BadInput
from comotion.predict import FittedModel
from comotion.predict.forecast import Forecast, dataset_of
from comotion.scoring.distributions import AbstractPredictive, SampledPaths
from comotion.scoring.evaluation import CLIMATOLOGY, Evaluation
from comotion.scoring.finished import ONE_DRAW, at_rows, origins_of
from comotion.scoring.kalman import OUAcceleration
from comotion.scoring.lead_scores import score_at
from comotion.scoring.references import AbstractReference, Climatology, ConstantVelocity
from comotion.scoring.rolling import Origins, Protocol, roll

if TYPE_CHECKING:
    import xarray as xr

REFERENCES: Mapping[str, type[AbstractReference]] = MappingProxyType(
    {
        CLIMATOLOGY: Climatology,
        "constant velocity": ConstantVelocity,
        "Kalman filter": OUAcceleration,
    }
)
LONGEST_HORIZON = 50
MOST_ORIGINS = 300


def evaluate(
    what: "FittedModel | AbstractReference | Forecast | xr.Dataset",
    data: Trajectories,
    *,
    train: Trajectories | None = None,
    protocol: Protocol | None = None,
    draws: int = 100,
    seed: int = 0,
) -> Evaluation:
    """How good are these forecasts? Printed, the answer is five lines.

    A model is asked again and again along the data (rolling origins) and scored on the frames
    after each origin, never on frames it has seen. A forecast made by `predict` is scored on its
    own frames after those it saw; one read from a table has quantiles, which say nothing about how
    objects depend on each other. Beside it stand climatology, constant velocity and a Kalman
    filter, fitted to `train`; without it to `data` itself, which makes them hard to beat.

    Rarely needed: `protocol` says how many frames are seen and forecast and which objects count;
    `draws` and `seed` are for a model.

    >>> cm.evaluate(future, longer).references
    ['climatology', 'constant velocity', 'Kalman filter']
    """
    if isinstance(what, FittedModel | AbstractReference):
        protocol = protocol or default_protocol(what, data)
        origins = roll(data, protocol)
        name = what.system if isinstance(what, FittedModel) else type(what).__name__
        predicted = forecast_at(what, origins, draws=draws, seed=seed)
    else:
        forecast = dataset_of(what)
        origins = origins_of(forecast, data)
        protocol = Protocol(origins.seen, origins.horizon)
        name, predicted = str(forecast.attrs.get("system", "forecast")), at_rows(forecast, origins)
    return evaluate_at(name, predicted, origins, data if train is None else train, protocol)


def evaluate_at(
    name: str,
    predicted: AbstractPredictive,
    origins: Origins,
    train: Trajectories,
    protocol: Protocol,
    references: Mapping[str, type[AbstractReference]] = REFERENCES,
) -> Evaluation:
    """Scores of what was predicted at these origins and of references fitted to `train`."""
    forecasts: dict[str, AbstractPredictive] = {name: predicted}
    for title, kind in references.items():
        forecasts[title] = kind.fit(train, protocol).forecast(origins)
    draws = f"{len(predicted.draws)} draws; " if isinstance(predicted, SampledPaths) else ""
    objects = len(origins.origin) / len(origins)
    return Evaluation(
        name,
        {title: score_at(forecast, origins) for title, forecast in forecasts.items()},
        origins,
        f"{counted(len(origins), 'origin')} with {objects:.3g} objects on average, "
        f"{origins.seen} frames seen, {origins.horizon} forecast; {draws}"
        "errors and leads in the data's units",
    )


def forecast_at(
    what: FittedModel | AbstractReference, origins: Origins, *, draws: int, seed: int
) -> AbstractPredictive:
    """Forecasts of every row; a model is shown no frame after the origin."""
    if isinstance(what, AbstractReference):
        return what.forecast(origins)
    if draws == 1:
        raise BadInput(ONE_DRAW)
    ahead = origins.windows.times[:, origins.seen :]
    windows = origins.seen_windows()
    forecast = what.predict(windows, times=ahead, origin="last", draws=draws, seed=seed)
    return at_rows(forecast.dataset, origins)


def default_protocol(what: FittedModel | AbstractReference, data: Trajectories) -> Protocol:
    """As many frames seen as the model was built for, and half of what is left to forecast."""
    frames = int(data.lengths.max())
    seen = what.config.system.frames_seen if isinstance(what, FittedModel) else 5
    horizon = max(1, min(LONGEST_HORIZON, (frames - seen) // 2))
    return Protocol(seen, horizon, seen_share=0.5, most_origins=MOST_ORIGINS)
