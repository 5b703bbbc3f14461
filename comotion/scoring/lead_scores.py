"""Scores by lead at rolling origins: forecast frames only, in the data's units."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float, Int

from comotion.scoring.distributions import AbstractPredictive
from comotion.scoring.energy import energy_score
from comotion.scoring.rolling import Origins

ORIGINS_AT_ONCE = 64
ENERGY_DRAWS = 100
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "crps": "CRPS per coordinate, in the data's units",
        "energy": "energy score of all objects at an origin together",
        "nll": "negative log density per point in nats; of draws a kernel estimate",
        "ade": "distance between the mean forecast and the truth",
        "coverage_50": "share of coordinates inside the 50 % band",
        "coverage_90": "share of coordinates inside the 90 % band",
    }
)


@dataclass(frozen=True, eq=False)
class LeadScores:
    """Each measure for every row (origin for the energy score) and lead; NaN without a truth."""

    cells: Mapping[str, Float[np.ndarray, "_ H"]]

    def by_lead(self, measure: str) -> Float[np.ndarray, " H"]:
        """Mean over rows; NaN at a lead at which nothing is known."""
        return mean_known(self.cells[measure])

    def mean(self, measure: str) -> float:
        """Every lead counts the same."""
        return float(np.nanmean(self.by_lead(measure)))

    def last(self, measure: str) -> float:
        """At the last lead: the FDE, if the measure is `ade`."""
        return float(self.by_lead(measure)[-1])


def score_at(predictive: AbstractPredictive, origins: Origins) -> LeadScores:
    """Some origins at a time, so that only their draws are sorted and paired in memory."""
    edges = np.searchsorted(origins.origin, np.arange(len(origins) + 1))
    parts = [
        _score(predictive[edges[first] : edges[stop]], origins, edges[first : stop + 1])
        for first in range(0, len(origins), ORIGINS_AT_ONCE)
        for stop in [min(first + ORIGINS_AT_ONCE, len(origins))]
    ]
    return LeadScores(
        {measure: np.concatenate([part[measure] for part in parts]) for measure in MEASURES}
    )


def mean_known(cells: Float[np.ndarray, "n H"]) -> Float[np.ndarray, " H"]:
    known = ~np.isnan(cells)
    count = known.sum(axis=0)
    total = np.where(known, cells, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _score(
    predictive: AbstractPredictive, origins: Origins, edges: Int[np.ndarray, " k"]
) -> dict[str, Float[np.ndarray, "_ H"]]:
    truth = origins.future[edges[0] : edges[-1]]
    known = np.all(~np.isnan(truth), axis=-1)
    filled = np.where(known[..., None], truth, predictive.mean)

    def cells(values: np.ndarray) -> Float[np.ndarray, "R H"]:
        return np.where(known, values, np.nan)

    def inside(level: float) -> Float[np.ndarray, "R H"]:
        low, high = predictive.band(level)
        return cells(((low <= truth) & (truth <= high)).mean(axis=-1))

    return {
        "crps": cells(predictive.crps(filled).mean(axis=-1)),
        "energy": _energy(predictive, truth, known, edges - edges[0]),
        "nll": cells(-predictive.log_density(filled)),
        "ade": cells(np.linalg.norm(predictive.mean - filled, axis=-1)),
        "coverage_50": inside(0.5),
        "coverage_90": inside(0.9),
    }


def _energy(
    predictive: AbstractPredictive,
    truth: Float[np.ndarray, "R H d"],
    known: Bool[np.ndarray, "R H"],
    edges: Int[np.ndarray, " k"],
) -> Float[np.ndarray, "_ H"]:
    draws = predictive.sample(ENERGY_DRAWS).astype(np.float64)
    # What nobody knows is zero in truth and draws alike, and adds nothing to any distance.
    draws, truth = (np.where(known[..., None], values, 0.0) for values in (draws, truth))

    def joint(rows: slice) -> Float[np.ndarray, " H"]:
        X = np.moveaxis(draws[:, rows], 2, 1)  # L H r d
        y = truth[rows].swapaxes(0, 1)
        score = energy_score(X.reshape(*X.shape[:2], -1), y.reshape(len(y), -1))
        return np.where(known[rows].any(axis=0), score, np.nan)

    return np.stack([joint(slice(int(begin), int(end))) for begin, end in pairwise(edges)])
