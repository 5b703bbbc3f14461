"""Scores as the paper's tables print them, each named with its convention.

All frames count, those the encoder saw included; `comotion.evaluate` scores forecast frames only.
"""

from comotion.reproduce.conventions.metrics import CONVENTIONS, METRICS
from comotion.reproduce.conventions.scores import Scores, paper_scores

__all__ = [
    "CONVENTIONS",
    "METRICS",
    "Scores",
    "paper_scores",
]
