"""Bands as wide as a recording itself asks for: what forecasts of its past would have needed.

By how much a scene that was never trained on is more restless than others cannot be seen in the few
frames before an origin. Forecasts made earlier in the same recording show it, once what they spoke
of has happened: the stretch of their draws with which a band of 90 % would have held 90 %. While
there are few of them, the stretch stays near the one the model came with.
"""

import dataclasses

import numpy as np
from jaxtyping import Float

from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.predict.stretch import Stretch
from comotion.scoring.at_origins import MOST_ORIGINS, forecast_at
from comotion.scoring.distributions import AbstractPredictive, SampledPaths
from comotion.scoring.rolling import Origins, Protocol, roll

LEVEL = 0.9
"""The band that is promised."""
AS_SURE_AS = 50.0
"""So many independent values weigh as much as the stretch a model comes with."""
NARROWEST = 0.1


def adapt(
    model: FittedModel, past: Trajectories, *, horizon: int, draws: int = 100, seed: int = 0
) -> FittedModel:
    """The same model, with bands as wide as the past of a recording asks for.

    Give it as much of the recording as there is, up to where forecasts are to begin, and how many
    frames ahead these will look. The means of forecasts stay as they are.

    >>> here = model.adapt(recording, horizon=12)  # doctest: +SKIP
    """
    seen = model.config.system.frames_seen
    protocol = Protocol(seen, horizon, seen_share=0.5, most_origins=MOST_ORIGINS)
    origins = roll(past, protocol)
    needed = needed_stretch(forecast_at(model, origins, draws=draws, seed=seed), origins.future)
    here = [_factor(needed[:, h], (h + 1) / protocol.step) for h in range(origins.horizon)]
    factors = np.array(here) * model.stretch.at(origins.lead[None])[0]
    stretch = Stretch(tuple(origins.lead.tolist()), tuple(factors.tolist()))
    return dataclasses.replace(model, stretch=stretch)


def adapted(predicted: SampledPaths, origins: Origins) -> SampledPaths:
    """The same forecasts, each stretched by what the frames up to its origin say of those before.

    What a forecast spoke of counts from the frame on in which it was seen.
    """
    needed = needed_stretch(predicted, origins.future)
    factors = running_factors(needed, origins)[origins.origin]
    mean = predicted.mean
    return SampledPaths(mean + factors[None, :, :, None] * (predicted.draws - mean))


def running_factors(
    needed: Float[np.ndarray, "R H d"], origins: Origins
) -> Float[np.ndarray, "K H"]:
    """At each origin, for each lead."""
    factors = np.ones((len(origins), origins.horizon))
    for sequence in np.unique(origins.sequence):
        here = np.flatnonzero(origins.sequence == sequence)
        here = here[np.argsort(origins.frame[here])]
        frames = origins.frame[here]
        stride = float(np.median(np.diff(frames))) if len(frames) > 1 else 1.0
        rows = [np.flatnonzero(origins.origin == k) for k in here]
        ends = np.cumsum([len(each) for each in rows])
        rows = np.concatenate(rows)
        for h in range(origins.horizon):
            past = np.searchsorted(frames + h + 1, frames, side="right")
            for k, count in zip(here, past, strict=True):
                if count:
                    known = needed[rows[: ends[count - 1]], h]
                    factors[k, h] = _factor(known, (h + 1) / stride)
    return factors


def needed_stretch(
    predicted: AbstractPredictive, truth: Float[np.ndarray, "R H d"]
) -> Float[np.ndarray, "R H d"]:
    """The stretch about the mean with which each value would lie on the edge of the band."""
    lower, upper = predicted.band(LEVEL)
    off = truth - predicted.mean
    edge = np.where(off > 0, upper - predicted.mean, lower - predicted.mean)
    return off / np.where(edge == 0, np.nan, edge)


def _factor(needed: Float[np.ndarray, "n d"], overlap: float) -> float:
    """Of values that are known by now; `overlap` forecasts tell of the same frames."""
    known = needed[np.isfinite(needed)]
    if not len(known):
        return 1.0
    weight = len(known) / max(overlap, 1.0)
    factor = max(float(np.quantile(known, LEVEL)), NARROWEST)
    return factor ** (weight / (weight + AS_SURE_AS))
