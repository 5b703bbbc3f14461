"""Which stretch of its draws makes the bands of a model hold what they say, lead by lead."""

import numpy as np

from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.predict import FittedModel
from comotion.predict.stretch import Stretch
from comotion.scoring.adaptive import LEVEL, needed_stretch
from comotion.scoring.at_origins import forecast_at
from comotion.scoring.distributions import AbstractPredictive
from comotion.scoring.rolling import Origins, Protocol, roll

ORIGINS, DRAWS = 200, 100
"""A band of 90 % of a lead is then known to 2 % by origins that do not overlap."""
FEWEST = 200
"""Values of one lead, with its neighbours, from which a factor may be read."""
NEIGHBOURS = 1.5
"""Leads that differ by no more than this factor are looked at together."""
NARROWEST, WIDEST = 0.5, 3.0
"""Beyond these a model is wrong, not merely too sure."""


def fit_stretch(fitted: FittedModel, held_out: Trajectories, horizon: int) -> Stretch:
    """From forecasts at rolling origins; nothing where there are too few of them."""
    seen = fitted.config.system.encoder_frames
    try:
        origins = roll(held_out, Protocol(seen, horizon, seen_share=0.5, most_origins=ORIGINS))
    except BadInput:  # too short to forecast anything
        return Stretch()
    predicted = forecast_at(fitted, origins, draws=DRAWS, seed=fitted.config.seed)
    return stretch_of(predicted, origins)


def stretch_of(predicted: AbstractPredictive, origins: Origins) -> Stretch:
    needed = needed_stretch(predicted, origins.future)  # (R, H, d)
    leads, numbers = [], np.arange(1, origins.horizon + 1)
    factors = []
    for number, lead in zip(numbers, origins.lead, strict=True):
        near = (numbers <= number * NEIGHBOURS) & (numbers * NEIGHBOURS >= number)
        values = needed[:, near][np.isfinite(needed[:, near])]
        if len(values) >= FEWEST:
            leads.append(float(lead))
            factors.append(float(np.clip(np.quantile(values, LEVEL), NARROWEST, WIDEST)))
    return Stretch(tuple(leads), tuple(factors))
