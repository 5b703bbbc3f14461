"""The model, what is observed of it, and what training climbs: a bound, or scores of forecasts."""

from comotion.model.bound import Bound, evidence_bound
from comotion.model.model import Beliefs, Model, Motion, Start
from comotion.model.observe import AbstractDecoder, FirstEntries, LearnedDecoder, Observation
from comotion.model.score import forecast_score

__all__ = [
    "AbstractDecoder",
    "Beliefs",
    "Bound",
    "FirstEntries",
    "LearnedDecoder",
    "Model",
    "Motion",
    "Observation",
    "Start",
    "evidence_bound",
    "forecast_score",
]
