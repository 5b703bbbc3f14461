"""Scores of a forecast, each named with its convention, beside references without a model."""

from comotion.scoring.baselines import lead_times
from comotion.scoring.calibration import calibration_curve
from comotion.scoring.metrics import CONVENTIONS, METRICS, Metric
from comotion.scoring.predictive import central_band
from comotion.scoring.scores import Scores, evaluate

__all__ = [
    "CONVENTIONS",
    "METRICS",
    "Metric",
    "Scores",
    "calibration_curve",
    "central_band",
    "evaluate",
    "lead_times",
]
