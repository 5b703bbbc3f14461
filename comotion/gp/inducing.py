"""Where to put the inducing inputs: the centres of clusters of the data."""

import warnings

import jax
import numpy as np
from jaxtyping import Float
from scipy.cluster.vq import kmeans2

from comotion._types import Key

_MOST_POINTS = 20_000
_ROUNDS = 20
_NUDGE = 1e-2  # of a standard deviation, to tell apart centres on the same point


def k_means(x: Float[np.ndarray, "N I"], M: int, *, key: Key) -> Float[np.ndarray, "M I"]:
    """M cluster centres of x, found on standardised inputs and returned in the units of x."""
    bad = ~np.isfinite(x).all(axis=1)
    if bad.any() or len(x) == 0:
        raise ValueError(
            f"Inducing inputs need finite data, but {bad.sum()} of {len(x)} rows hold NaN or "
            "infinity: leave them out."
        )
    # NumPy and not JAX: shapes differ from one data set to the next, compiling would dominate.
    random = np.random.default_rng(np.asarray(jax.random.bits(key, (4,))).tolist())
    centre, scale = x.mean(axis=0), spread(x)
    standard = (x - centre) / scale
    if len(x) > _MOST_POINTS:
        standard = standard[random.choice(len(x), _MOST_POINTS, replace=False)]
    start = _spread_out_start(standard, M, random)
    with warnings.catch_warnings():  # a centre without points stays where it is, as it should
        warnings.simplefilter("ignore", UserWarning)
        centres, _ = kmeans2(standard, start, iter=_ROUNDS, minit="matrix")
    return centres * scale + centre


def spread(x: Float[np.ndarray, "N I"]) -> Float[np.ndarray, " I"]:
    """Standard deviation of each input; one where an input is constant."""
    sd = x.std(axis=0)
    return np.where(sd > 1e-9 * np.abs(x).max(axis=0), sd, 1.0)


def _spread_out_start(
    x: Float[np.ndarray, "N I"], M: int, random: np.random.Generator
) -> Float[np.ndarray, "M I"]:
    """k-means++: each next centre is a point drawn in proportion to its squared distance."""
    centres = np.empty((M, x.shape[1]))
    centres[0] = x[random.integers(len(x))]
    nearest = np.full(len(x), np.inf)
    for m in range(1, M):
        nearest = np.minimum(nearest, ((x - centres[m - 1]) ** 2).sum(axis=1))
        if nearest.sum() > 0:
            centres[m] = x[random.choice(len(x), p=nearest / nearest.sum())]
        else:
            centres[m] = x[random.integers(len(x))] + _NUDGE * random.normal(size=x.shape[1])
    return centres
