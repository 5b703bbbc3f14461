"""The paper's tables: what they print, and the runs that make them again."""

from comotion.reproduce.found import Found, Line, found
from comotion.reproduce.tables import PaperTable, labels, results, runs_of, select, table

__all__ = [
    "Found",
    "Line",
    "PaperTable",
    "found",
    "labels",
    "results",
    "runs_of",
    "select",
    "table",
]
