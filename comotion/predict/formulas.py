"""Formulas of the textbooks laid on a learned force: their parameters, and whether the band
allows them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float

Curve = Float[np.ndarray, " K"]


@dataclass(frozen=True)
class Family:
    """A sum of shapes with free factors; each shape has numbers that are searched on a grid."""

    name: str
    text: str
    factors: tuple[str, ...]
    numbers: tuple[str, ...]
    shapes: Callable[..., Sequence[Curve]]
    grid: Callable[[Curve], Sequence[np.ndarray]]


@dataclass(frozen=True, repr=False)
class Formula:
    """The formula that fits best, its parameters with their spread over the posterior, and how
    many standard deviations the learned force is away from it at the worst distance."""

    name: str
    text: str
    parameters: dict[str, tuple[float, float]]
    misfit: float

    @property
    def excluded(self) -> bool:
        """Whether it leaves the band of three standard deviations somewhere."""
        return self.misfit > 3.0

    def __str__(self) -> str:
        told = ", ".join(f"{k} = {m:.3g} ± {s:.2g}" for k, (m, s) in self.parameters.items())
        verdict = "excluded, " if self.excluded else "possible, "
        return (
            f"{self.name}: {self.text} with {told} ({verdict}off by {self.misfit:.1f} sd at worst)"
        )

    __repr__ = __str__  # for notebooks


def _lengths(r: Curve) -> np.ndarray:
    return np.geomspace(max(r[0], r[-1] / 50), 2 * r[-1], 40)


FAMILIES = (
    Family(
        "power law",
        "c r^p",
        ("c",),
        ("p",),
        lambda r, p: [r**p],
        lambda _: [np.linspace(-6.0, 2.0, 161)],
    ),
    Family(
        "exponential",
        "c exp(-r / l)",
        ("c",),
        ("l",),
        lambda r, length: [np.exp(-r / length)],
        lambda r: [_lengths(r)],
    ),
    Family(
        "Morse",
        "a exp(-r / l) - b exp(-r / m)",
        ("a", "-b"),
        ("l", "m"),
        lambda r, near, far: [np.exp(-r / near), np.exp(-r / far)],
        lambda r: [_lengths(r)[::2], _lengths(r)[1::2]],
    ),
    Family(
        "spring",
        "c - k r",
        ("c", "-k"),
        (),
        lambda r: [np.ones_like(r), r],
        lambda _: [],
    ),
    Family(
        "contact",
        "c where r < d",
        ("c",),
        ("d",),
        lambda r, d: [(r < d).astype(float)],
        lambda r: [r[1:]],
    ),
)


DRAG = Family(
    "drag",
    "c - g v",
    ("c", "-g"),
    (),
    lambda v: [np.ones_like(v), v],
    lambda _: [],
)
"""Of what an object does alone, over its speed."""


def fit_formulas(r: Curve, draws: Float[np.ndarray, "L K"]) -> list[Formula]:
    """Every family of forces over distance, the best first."""
    found = [fit_formula(family, r, draws) for family in FAMILIES]
    return sorted(found, key=lambda formula: formula.misfit)


def fit_formula(family: Family, r: Curve, draws: Float[np.ndarray, "L K"]) -> Formula:
    """Each draw is fitted by itself, so that parameters have a spread, with weights from the
    spread of the draws at each place."""
    mean, sd = draws.mean(axis=0), draws.std(axis=0) + 1e-9 * np.abs(draws).max()
    choices = list(product(*family.grid(r)))
    curves = np.stack([np.stack(family.shapes(r, *choice)) for choice in choices])  # (G, F, K)
    everything = np.concatenate([mean[None], draws])
    factors, best = _least_squares(curves / sd, everything / sd)
    fitted = np.einsum("f,fk->k", factors[0], curves[best[0]])
    numbers = np.array([choices[i] for i in best[1:]]).reshape(len(draws), -1)
    columns = np.concatenate([factors[1:], numbers], axis=1)
    first = (*factors[0], *choices[best[0]])
    names = (*family.factors, *family.numbers)
    spread = columns.std(axis=0)
    parameters = {n: (float(v), float(s)) for n, v, s in zip(names, first, spread, strict=True)}
    worst = float(np.max(np.abs(fitted - mean) / sd))
    return Formula(family.name, family.text, parameters, worst)


def _least_squares(
    curves: Float[np.ndarray, "G F K"], wanted: Float[np.ndarray, "L K"]
) -> tuple[Float[np.ndarray, "L F"], list[int]]:
    """For each row the factors at the numbers that leave least over."""
    solved = np.einsum("gfk,lk->glf", np.linalg.pinv(curves).swapaxes(1, 2), wanted)
    left = ((wanted[None] - np.einsum("glf,gfk->glk", solved, curves)) ** 2).sum(axis=-1)
    best = left.argmin(axis=0)
    return solved[best, np.arange(len(wanted))], best.tolist()
