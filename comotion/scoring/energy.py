"""The energy score: one number for a joint vector, such as all objects of a frame."""

import numpy as np
from jaxtyping import Float

PAIRS_AT_ONCE = 200_000


def energy_score(
    draws: Float[np.ndarray, "L N K"], truth: Float[np.ndarray, "N K"]
) -> Float[np.ndarray, " N"]:
    """Fair energy score of each frame's joint vector: E|X − y| − E|X − X'| / 2.

    Centring keeps the pairwise distances exact in single precision.
    """
    centre = draws.mean(axis=0)
    X = np.moveaxis(draws - centre, 0, 1)  # N L K
    error = np.linalg.norm(X - (truth - centre)[:, None], axis=-1).mean(axis=1)
    few = max(1, PAIRS_AT_ONCE // len(draws) ** 2)
    spread = [mean_distance(X[n : n + few]) for n in range(0, len(X), few)]
    return error - np.concatenate(spread) / 2


def mean_distance(X: Float[np.ndarray, "N L K"]) -> Float[np.ndarray, " N"]:
    """Mean distance between two different draws; a Gram matrix is far faster than differences."""
    L = X.shape[1]
    norms = np.einsum("nlk,nlk->nl", X, X)
    pairs = X @ X.transpose(0, 2, 1)
    pairs *= -2
    pairs += norms[:, :, None]
    pairs += norms[:, None, :]
    np.sqrt(np.maximum(pairs, 0, out=pairs), out=pairs)
    return pairs.sum(axis=(1, 2)) / (L * (L - 1))
