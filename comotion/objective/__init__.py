"""What training climbs: the evidence bound, or the score of forecasts."""

from comotion.objective.bound import Bound, evidence_bound
from comotion.objective.score import ForecastScore, forecast_score

__all__ = ["Bound", "ForecastScore", "evidence_bound", "forecast_score"]
