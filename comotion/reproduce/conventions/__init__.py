"""Scores as the paper's tables print them, each named with its convention.

All frames count, those the encoder saw included; `comotion.evaluate` scores forecast frames only.
"""

from comotion.reproduce.conventions.baselines import lead_times
from comotion.reproduce.conventions.metrics import CONVENTIONS, METRICS, Metric
from comotion.reproduce.conventions.scores import Scores, paper_scores

__all__ = [
    "CONVENTIONS",
    "METRICS",
    "Metric",
    "Scores",
    "lead_times",
    "paper_scores",
]
