"""Restitution and sliding loss from speeds before and after contacts, both with errors."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from comotion.contacts import Restitution

KNOTS = 4
"""Of a piecewise-linear restitution: a curve by speed, with few numbers to learn."""
FEWEST_FOR_FUNCTION = 60
"""Contacts; with fewer, one number is all that can be told."""
ROUNDS = 20
"""Of weighing and leaving out by turns."""
OUTLIER = 3.0
"""Standard deviations beyond which a contact is not one of these."""
MOST_SCATTER = 0.3
"""Of restitution, beyond which it is no restitution any more."""
CLEAR_SCATTER = 2.0
"""Errors themselves are known no better than this, as a ratio of variances."""
Numbers = Float[np.ndarray, " K"]


@dataclass(frozen=True)
class Speeds:
    """Along one direction, with the variances of both; contacts in rows, components apart."""

    before: Numbers
    after: Numbers
    before_variance: Numbers
    after_variance: Numbers


def fit_restitution(normal: Speeds, sliding: Speeds, *, scatters: bool) -> Restitution:
    """A number; a function of closing speed only where the evidence is clearly for it.

    Whether a contact is elastic or without friction is a question of its own: 1 and 0 are taken
    if the data say nothing against them. Scatter of single contacts is only looked for if it
    `scatters`: if velocities were measured, not inferred from the bend itself.
    """
    speeds, values, covariance = _function_or_number(normal)
    kept, loss_variance, _ = _slope(sliding)
    loss = 1 - kept
    if len(values) == 1:
        values, covariance = _plain_if_close(values, covariance, (1.0, 0.0))
    if loss**2 < _evidence(loss_variance, len(sliding.before)):
        loss, loss_variance = 0.0, 0.0
    return Restitution(
        values=values.clip(0.0, 1.0),
        speeds=speeds,
        covariance=covariance,
        loss=float(np.clip(loss, 0.0, 1.0)),
        loss_sd=float(np.sqrt(loss_variance)),
        scatter=_scatter(normal, np.interp(normal.before, speeds, values)) if scatters else 0.0,
    )


def _plain_if_close(
    values: np.ndarray, covariance: np.ndarray | None, plain: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray | None]:
    for number in plain:
        if covariance is not None and (values[0] - number) ** 2 < 9 * covariance[0, 0]:
            return np.array([number]), None
    return values, covariance


def _evidence(variance: float, count: int) -> float:
    """How large a squared effect must be to pay for its parameter (Schwarz's criterion)."""
    return variance * (4.0 + np.log(max(count, 2)))


def _function_or_number(speeds: Speeds) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    number, variance, misfit = _slope(speeds)
    middle = float(np.median(speeds.before)) if len(speeds.before) else 1.0
    simple = np.array([middle]), np.array([number]), np.array([[variance]])
    if len(speeds.before) < FEWEST_FOR_FUNCTION:
        return simple
    knots = np.quantile(speeds.before, np.linspace(0.05, 0.95, KNOTS))
    if np.any(np.diff(knots) <= 0):
        return simple
    values, covariance, left = _hat_slopes(speeds, knots)
    better = misfit - left > (KNOTS - 1) * (4.0 + np.log(len(speeds.before)))
    return (knots, values, covariance) if better else simple


def _slope(speeds: Speeds) -> tuple[float, float, float]:
    """after = slope · before by total least squares, its variance, and the misfit."""
    if not len(speeds.before):
        return 1.0, 0.0, 0.0
    values, covariance, misfit = _hat_slopes(speeds, np.ones(1))
    return float(values[0]), float(covariance[0, 0]), misfit


def _hat_slopes(speeds: Speeds, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """after = (sum of hats · values) · before, outliers cut off, errors on both sides.

    Errors of the speed before pull a plain regression towards zero; the expected square of the
    error is taken out of the normal equations, as Deming's regression does.
    """
    hats = np.stack([np.interp(speeds.before, knots, unit) for unit in np.eye(len(knots))], axis=1)
    if len(knots) == 1:
        hats = np.ones((len(speeds.before), 1))
    values = np.full(len(knots), float(np.median(speeds.after)) / _away(np.median(speeds.before)))
    design = hats * speeds.before[:, None]
    kept = np.ones(len(design), bool)
    information, excess, misfit = np.eye(len(knots)), 1.0, 0.0
    for _ in range(ROUNDS):
        slope = hats @ values
        variance = speeds.after_variance + slope**2 * speeds.before_variance
        error = (speeds.after - design @ values) / np.sqrt(variance)
        excess = max(1.0, 1.4826 * float(np.median(np.abs(error)))) ** 2
        kept = np.abs(error) < OUTLIER * np.sqrt(excess)
        misfit = float(np.minimum(error**2 / excess, OUTLIER**2).sum())
        rows, weight = design[kept], 1 / variance[kept]
        # The best guess of the true speed before, given both and the slope.
        error_share = slope[kept] * speeds.before_variance[kept] / variance[kept]
        truer = speeds.before[kept] + error_share * (speeds.after[kept] - rows @ values)
        better = hats[kept] * truer[:, None]
        information = (better * weight[:, None]).T @ rows + 1e-9 * np.eye(len(knots))
        values = np.linalg.solve(information, (better * weight[:, None]).T @ speeds.after[kept])
    covariance = np.linalg.inv(0.5 * (information + information.T)) * excess
    return values, covariance, misfit


def _away(number: np.floating) -> float:
    return float(number) if abs(number) > 1e-12 else 1e-12


def _scatter(speeds: Speeds, restitution: Numbers) -> float:
    """What errors do not explain of the restitution of single contacts."""
    if len(speeds.before) < 2:
        return 0.0
    left = speeds.after - restitution * speeds.before
    expected = speeds.after_variance + restitution**2 * speeds.before_variance
    ratio = (1.4826 * float(np.median(np.abs(left) / np.sqrt(expected)))) ** 2
    excess = (ratio - 1) * float(np.median(expected)) / _away(np.median(speeds.before**2))
    return float(min(np.sqrt(excess), MOST_SCATTER)) if ratio > CLEAR_SCATTER else 0.0
