"""Scores of a forecast, each named with its convention, beside references without a model."""

from comotion.evaluate.baselines import lead_times
from comotion.evaluate.calibration import calibration_curve
from comotion.evaluate.metrics import CONVENTIONS, METRICS, Metric
from comotion.evaluate.predictive import central_band
from comotion.evaluate.scores import Scores, evaluate

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
