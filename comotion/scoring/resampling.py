"""Paired differences of scores with intervals that know that neighbouring origins are alike."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

RESAMPLES = 1000
FEWEST_BLOCKS = 5


@dataclass(frozen=True)
class ConfidenceInterval:
    """An estimate with its central 95 % interval; without one where blocks are too few."""

    estimate: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        if np.isnan(self.low):
            return f"{self.estimate:{spec}}"
        return f"{self.estimate:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


def paired_skill(
    ours: Float[np.ndarray, "n H"],
    theirs: Float[np.ndarray, "n H"],
    blocks: Int[np.ndarray, " n"],
) -> ConfidenceInterval:
    """1 − mean of ours / mean of theirs, on the same cells; blocks are resampled as a whole."""
    return _bootstrap(ours, theirs, blocks, lambda a, b: 1 - a / b)


def paired_difference(
    ours: Float[np.ndarray, "n H"],
    theirs: Float[np.ndarray, "n H"],
    blocks: Int[np.ndarray, " n"],
) -> ConfidenceInterval:
    """Mean of ours − mean of theirs, on the same cells; blocks are resampled as a whole."""
    return _bootstrap(ours, theirs, blocks, lambda a, b: a - b)


def share(
    inside: Float[np.ndarray, "n H"], blocks: Int[np.ndarray, " n"], honest: float
) -> ConfidenceInterval:
    """Of cells that a band holds: blocks are the experiments, and Student's t knows how few.

    Blocks that all hold the same are no proof: the interval is at least as wide as if each row
    were one throw of a coin that is `honest`.
    """
    known = ~np.isnan(inside)
    rows = known.any(axis=1)
    held = np.bincount(blocks, np.where(known, inside, 0.0).sum(axis=1))
    cells = np.bincount(blocks, known.sum(axis=1))
    held, cells = held[cells > 0], cells[cells > 0]
    estimate, count = float(held.sum() / cells.sum()), len(cells)
    if count < FEWEST_BLOCKS:
        return ConfidenceInterval(estimate, np.nan, np.nan)
    residual = float(((held - estimate * cells) ** 2).sum()) / float(cells.sum()) ** 2
    variance = max(residual * count / (count - 1), honest * (1 - honest) / int(rows.sum()))
    reach = float(stdtrit(count - 1, 0.975)) * variance**0.5
    return ConfidenceInterval(estimate, estimate - reach, estimate + reach)


def _bootstrap(ours, theirs, blocks, compare) -> ConfidenceInterval:
    known = ~np.isnan(ours) & ~np.isnan(theirs)
    count = int(blocks.max()) + 1

    def per_block(cells: np.ndarray) -> Float[np.ndarray, "B H"]:
        total = np.zeros((count, cells.shape[1]))
        np.add.at(total, blocks, np.where(known, cells, 0.0))
        return total

    sums = [per_block(cells) for cells in (ours, theirs, np.ones_like(ours))]
    estimate = float(compare(*_means(np.ones((1, count)), *sums))[0])
    if count < FEWEST_BLOCKS:
        return ConfidenceInterval(estimate, np.nan, np.nan)
    weights = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    resampled = compare(*_means(weights.astype(np.float64), *sums))
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return ConfidenceInterval(estimate, float(low), float(high))


def _means(
    weights: Float[np.ndarray, "S B"],
    ours: Float[np.ndarray, "B H"],
    theirs: Float[np.ndarray, "B H"],
    number: Float[np.ndarray, "B H"],
) -> tuple[Float[np.ndarray, " S"], Float[np.ndarray, " S"]]:
    """Means over leads of the means over cells, as scores are averaged."""
    cells = weights @ number
    cells = np.where(cells > 0, cells, np.nan)
    return np.nanmean(weights @ ours / cells, axis=1), np.nanmean(weights @ theirs / cells, axis=1)
