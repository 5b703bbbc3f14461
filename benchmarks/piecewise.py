"""Least squares of kernels φ that are piecewise linear in the distance: the literature's own fit.

The rate of agent i is a sum over others of φ(r) times a difference, so it is linear in the values
of φ at knots. The number of knots is chosen by cross-validation over trajectories and times.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from comotion.initialise.distance_kernels import Term

KNOTS = (3, 6, 12, 24, 48)
FOLDS = 5
RIDGE = 1e-8


@dataclass(frozen=True, eq=False)
class PiecewiseKernels:
    """Values of each kernel at its knots."""

    knots: Mapping[Term, Float[np.ndarray, " k"]]
    values: Mapping[Term, Float[np.ndarray, " k"]]

    def __getitem__(self, term: Term) -> Callable[[np.ndarray], np.ndarray]:
        return lambda r: np.interp(r, self.knots[term], self.values[term])


def fit_piecewise(
    x: Float[np.ndarray, "T A d"],
    v: Float[np.ndarray, "T A d"],
    rates: Float[np.ndarray, "T A d"],
    kinds: tuple[int, ...],
    terms: list[Term],
) -> PiecewiseKernels:
    """`rates` without the agents' own forces, at T moments of any trajectories."""
    folds = np.arange(len(x)) % FOLDS if len(x) >= FOLDS else np.arange(len(x))
    errors = []
    for count in KNOTS:
        knots, columns = _design(x, v, kinds, terms, count)
        errors.append(_held_out_error(columns, rates, folds))
    knots, columns = _design(x, v, kinds, terms, KNOTS[int(np.argmin(errors))])
    weights = _solve(columns.reshape(-1, columns.shape[-1]), rates.reshape(-1))
    ends = np.cumsum([len(knots[term]) for term in terms])[:-1]
    return PiecewiseKernels(knots, dict(zip(terms, np.split(weights, ends), strict=True)))


def _design(x, v, kinds, terms, count) -> tuple[dict, Float[np.ndarray, "T A d c"]]:
    kind = np.array(kinds)
    gaps = x[:, None] - x[:, :, None]  # T A A d: from the one who feels to the other
    r = np.linalg.norm(gaps, axis=-1)
    other = ~np.eye(len(kinds), dtype=bool)
    knots, blocks = {}, []
    for what, (feels, felt) in terms:
        pairs = (kind[:, None] == feels) & (kind[None] == felt) & other
        # As many pairs between any two knots: where nothing was seen, nothing is claimed.
        places = np.unique(np.quantile(r[:, pairs], np.linspace(0, 1, count)))
        knots[what, (feels, felt)] = places
        differences = gaps if what == "gap" else v[:, None] - v[:, :, None]
        hats = _hats(np.where(pairs, r, -1.0), places) * pairs[None, :, :, None]
        blocks.append(
            np.einsum("tijk,tijd->tidk", hats, differences) / max(1, (kind == felt).sum())
        )
    return knots, np.concatenate(blocks, axis=-1)


def _hats(r: np.ndarray, knots: Float[np.ndarray, " k"]) -> np.ndarray:
    """Hat functions: each is one at its knot and zero at all others."""
    identity = np.eye(len(knots))
    return np.stack([np.interp(r, knots, hat) for hat in identity], axis=-1)


def _held_out_error(columns: np.ndarray, rates: np.ndarray, folds: np.ndarray) -> float:
    total = 0.0
    for fold in np.unique(folds):
        out = folds == fold
        weights = _solve(columns[~out].reshape(-1, columns.shape[-1]), rates[~out].reshape(-1))
        total += float(((columns[out] @ weights - rates[out]) ** 2).sum())
    return total


def _solve(columns: Float[np.ndarray, "n c"], rates: Float[np.ndarray, " n"]) -> np.ndarray:
    """A trace of a ridge, for knots that no pair pins down."""
    normal = columns.T @ columns
    normal += RIDGE * np.trace(normal) / len(normal) * np.eye(len(normal))
    return np.linalg.solve(normal, columns.T @ rates)
