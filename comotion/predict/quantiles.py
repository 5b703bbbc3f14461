"""Quantiles and bands of draws: one rule for those that are written, drawn and scored.

They are taken at rank p (L + 1), not p (L − 1) + 1: a new value falls below the k-th of L draws
with probability k / (L + 1), so that few draws do not make bands look overconfident.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Shaped

if TYPE_CHECKING:
    import xarray as xr

RULE: Literal["weibull"] = "weibull"
"""What NumPy and xarray call it."""


def quantile(draws: "xr.DataArray", probability: float) -> "xr.DataArray":
    """Over the dimension `draw`; not known where a draw is not."""
    found = draws.quantile(probability, dim="draw", method=RULE, skipna=False)
    return found.drop_vars("quantile")


def central_band(
    sorted_draws: Shaped[np.ndarray, "L *S"], level: float
) -> tuple[Shaped[np.ndarray, "*S"], Shaped[np.ndarray, "*S"]]:
    """Edges of the central band that holds `level` of the probability.

    With fewer than 39 draws a 95 % band is no wider than the draws themselves.
    """
    tail = (1 - level) / 2
    return quantile_of_sorted(sorted_draws, tail), quantile_of_sorted(sorted_draws, 1 - tail)


def quantile_of_sorted(
    sorted_draws: Shaped[np.ndarray, "L *S"], probability: float
) -> Shaped[np.ndarray, "*S"]:
    """The quantile along the first axis, linear between ranks p (L + 1)."""
    last = len(sorted_draws) - 1
    rank = min(max(probability * (last + 2) - 1, 0.0), float(last))
    below = int(rank)
    above = min(below + 1, last)
    fraction = rank - below
    return (1 - fraction) * sorted_draws[below] + fraction * sorted_draws[above]
