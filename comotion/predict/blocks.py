"""Forecasts may be larger than memory: parts of them, of which memory holds every draw."""

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

NUMBERS_TOGETHER = 30_000_000


def blocks(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Sequences and times that are looked at together, one after the other in this order."""
    draws, sequences, times, *rest = shape
    most = max(1, NUMBERS_TOGETHER // max(1, draws * prod(rest)))
    if most >= times:
        for p in range(0, sequences, most // max(1, times)):
            yield slice(p, p + most // max(1, times)), slice(0, times)
        return
    for p in range(sequences):
        for n in range(0, times, most):
            yield slice(p, p + 1), slice(n, n + most)


def over_draws(
    draws: "xr.DataArray", reduce: Callable[["xr.DataArray"], "xr.DataArray"]
) -> "xr.DataArray":
    """What `reduce` makes of all draws of each value."""
    found = np.empty(draws.shape[1:], draws.dtype)
    for p, n in blocks(draws.shape):
        found[p, n] = reduce(draws[:, p, n].load()).values
    return draws[0].copy(data=found)
