"""Kernels of distance from rates that are given with the states, moment by moment, in closed form.

The rate of an object is a sum over others of φ(r) times the gap to them and, of second order, ψ(r)
times the difference of velocities; each pair of kinds may have kernels of its own. These run
straight between places on a grid of distances, so the data are asked once, for a Gram matrix; any
Gaussian process on the grid then has its evidence in milliseconds. Smoothness, and whether it is
one of the distance or of its logarithm, are chosen by evidence. States are taken as exact.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import block_diag, cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack

from comotion.errors import BadInput

PLACES, FINER = 60, 200
"""Of each kernel to choose by, and then of all together: half of them as many pairs apart, half of
them as far."""
LEVEL = 1.0
"""Variance of a kernel's level, in units of that of its shape: where the data say nothing it need
not go to zero."""
NEAR = 0.1
"""Of the usual distance: nearer ones are much alike to a process of the logarithm."""
JITTER = 1e-8
STEPS = 40
Vector = Float[np.ndarray, " _"]


class Term(NamedTuple):
    """What is multiplied, and the kinds of the one who feels and of the one who is felt."""

    what: Literal["gap", "alignment"]
    kinds: tuple[int, int]


SMOOTHNESS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "se": lambda u: np.exp(-0.5 * u**2),
    "matern52": lambda u: (1 + np.sqrt(5) * u + 5 / 3 * u**2) * np.exp(-np.sqrt(5) * u),
    "matern32": lambda u: (1 + np.sqrt(3) * u) * np.exp(-np.sqrt(3) * u),
    "matern12": lambda u: np.exp(-u),
}
INPUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "r": lambda r: r,
    "log r": lambda r: np.log(r + NEAR * np.median(r)),
}


@dataclass(frozen=True, eq=False)
class DistanceKernels:
    """The posterior of all kernels, in the rates' units per unit of what is multiplied."""

    smoothness: str
    input: str
    log_evidence: float
    log_sizes: Vector
    """scales and lengthscales of the kernels, and the noise of the rates"""
    places: dict[Term, Vector]
    mean: dict[Term, Vector]
    covariance: dict[Term, Float[np.ndarray, "n n"]]

    def at(self, term: Term, r: Vector) -> tuple[Vector, Vector]:
        """Mean and standard deviation of a kernel; beyond the pairs seen as at the last one."""
        hats = _hats(r, self.places[term]).toarray()
        variance = np.einsum("ri,ij,rj->r", hats, self.covariance[term], hats)
        return hats @ self.mean[term], np.sqrt(np.maximum(variance, 0.0))


def learn_kernels(
    x: Float[np.ndarray, "T A d"],
    v: Float[np.ndarray, "T A d"],
    rates: Float[np.ndarray, "T A d"],
    kinds: tuple[int, ...],
    terms: Iterable[Term],
) -> DistanceKernels:
    """Of T moments, which may lie as far apart as they like; `rates` without what an object does
    alone."""
    data = x, v, rates, np.array(kinds), list(terms)
    seen = _Told.of(*data, PLACES)
    found = [_likeliest(seen, *names) for names in product(SMOOTHNESS, INPUTS)]
    best = max(found, key=lambda kernels: kernels.log_evidence)
    finer = _Told.of(*data, max(PLACES, FINER // len(seen.places)))
    return _likeliest(finer, best.smoothness, best.input, best.log_sizes)


class _Told(NamedTuple):
    """All that the data say."""

    places: dict[Term, Vector]
    gram: Float[np.ndarray, "n n"]
    products: Vector
    squares: float
    entries: int

    @classmethod
    def of(cls, x, v, rates, kinds, terms: list[Term], count: int) -> "_Told":
        gaps, turns = (values[:, None] - values[:, :, None] for values in (x, v))
        r = np.linalg.norm(gaps, axis=-1)  # T A A: from the one who feels to the other
        places, columns = {}, []
        for term in terms:
            felt = (kinds[:, None] == term.kinds[0]) & (kinds[None] == term.kinds[1])
            t, i, j = np.nonzero(np.broadcast_to(felt & ~np.eye(len(kinds), dtype=bool), r.shape))
            apart = r[t, i, j]
            if not len(apart):
                raise BadInput(f"no pair is of kinds {term.kinds}; leave that kernel out")
            places[term] = _places(apart, count)
            pushes = (gaps if term.what == "gap" else turns)[t, i, j]
            columns.append(_summed(_hats(apart, places[term]), pushes, (t, i), rates.shape))
        design, y = hstack(columns).tocsr(), rates.reshape(-1)
        return cls(places, (design.T @ design).toarray(), design.T @ y, float(y @ y), len(y))


def _places(apart: Vector, count: int) -> Vector:
    often = np.quantile(apart, np.linspace(0, 1, count // 2))
    return np.unique(np.concatenate([often, np.linspace(apart.min(), apart.max(), count // 2)]))


def _hats(r: Vector, places: Vector) -> csr_array:
    """Each is one at its place, and zero at all others."""
    r = np.clip(r, places[0], places[-1])
    above = np.clip(np.searchsorted(places, r), 1, len(places) - 1)
    share = (r - places[above - 1]) / (places[above] - places[above - 1])
    rows = np.arange(len(r))
    entries = (
        np.concatenate([1 - share, share]),
        (np.tile(rows, 2), np.concatenate([above - 1, above])),
    )
    return csr_array(entries, shape=(len(r), len(places)))


def _summed(hats: csr_array, pushes: np.ndarray, who: tuple, shape: tuple[int, ...]) -> csr_array:
    """What each place adds to every entry of the rates."""
    moments = np.asarray(np.ravel_multi_index(who, shape[:2]))
    rows = moments[:, None] * shape[2] + np.arange(shape[2])
    pairs = np.repeat(np.arange(len(pushes)), shape[2])
    onto = csr_array((pushes.reshape(-1), (rows.reshape(-1), pairs)), (np.prod(shape), len(pushes)))
    return csr_array(onto @ hats)


def _likeliest(
    seen: _Told, smoothness: str, name: str, start: Vector | None = None
) -> DistanceKernels:
    """Scale and lengthscale of each kernel, and the noise, by their evidence."""
    u = [INPUTS[name](places) for places in seen.places.values()]
    apart = [np.abs(each[:, None] - each[None]) for each in u]
    sizes = [len(each) for each in u]
    usual = np.sqrt(seen.squares / seen.entries)
    pushes = np.sqrt(np.trace(seen.gram) / seen.entries)
    if start is None:
        lengths = [0.3 * np.ptp(each) for each in u]
        start = np.log([usual / pushes] * len(u) + lengths + [0.3 * usual])

    def root(free: Vector) -> np.ndarray:
        scales, lengths = np.exp(free[:-1]).reshape(2, -1)
        blocks = [
            s**2 * (LEVEL + SMOOTHNESS[smoothness](d / length) + JITTER * np.eye(len(d)))
            for s, length, d in zip(scales, lengths, apart, strict=True)
        ]
        return np.asarray(block_diag(*map(np.linalg.cholesky, blocks)))

    def solved(free: Vector) -> tuple[float, np.ndarray, np.ndarray]:
        variance, L = np.exp(2 * free[-1]), root(free)
        B = np.linalg.cholesky(np.eye(len(L)) + L.T @ seen.gram @ L / variance)
        fitted = solve_triangular(B, L.T @ seen.products, lower=True) / variance
        misfit = seen.squares / variance - fitted @ fitted
        volume = seen.entries * np.log(2 * np.pi * variance) + 2 * np.log(np.diagonal(B)).sum()
        return -0.5 * float(volume + misfit), L, B

    bounds = [(value - 7.0, value + 4.0) for value in start]
    found = minimize(
        lambda free: -solved(free)[0], start, bounds=bounds, options={"maxiter": STEPS}
    )
    evidence, L, B = solved(found.x)
    covariance = L @ cho_solve((B, True), L.T)
    mean = covariance @ seen.products / np.exp(2 * found.x[-1])
    ends = np.cumsum([0, *sizes])
    spans = [slice(*pair) for pair in pairwise(ends)]
    return DistanceKernels(
        smoothness,
        name,
        evidence,
        found.x,
        seen.places,
        {term: mean[span] for term, span in zip(seen.places, spans, strict=True)},
        {term: covariance[span, span] for term, span in zip(seen.places, spans, strict=True)},
    )
