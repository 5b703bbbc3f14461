"""At which distance pairs touch, and how heavy each of the two is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from comotion.initialise.jumps import Jumps, Vectors
from comotion.initialise.walls import beyond_luck

FEWEST = 4
"""Contacts of pairs at one distance: two or three may agree by chance."""
FEWEST_EACH = 4
"""Contacts of one pair, before it is asked for its own size."""
WITHIN = 3.0
"""Standard deviations."""
SHARE = 0.5
"""Of the contacts of pairs that lie at one distance, at least."""
TIMES_CHANCE = 3.0
"""As many as jumps of pairs would have there if they were anywhere."""
PART = 0.01
"""Share of all jumps: a distance that explains fewer is not what makes them."""
INSIDE = 0.005
"""Share of frames in which a pair may be closer than it can be."""
FEWEST_NEAR = 10
"""Frames in which pairs would be closer by chance, as often as they are just outside."""
LEAVES = 0.2
"""Share of these in which they are."""


@dataclass(frozen=True)
class Masses:
    """Logarithms, one for all or one for each object, and their covariance."""

    logs: Float[np.ndarray, " m"]
    covariance: Float[np.ndarray, "m m"] | None
    ratio: Float[np.ndarray, "A A"]


@dataclass(frozen=True)
class PairSizes:
    """Radii, one for all or one for each object; None, and the reason, if pairs do not touch."""

    radii: Float[np.ndarray, " r"] | None
    covariance: Float[np.ndarray, "r r"] | None
    belongs: Bool[np.ndarray, " K"]
    reason: str


def fit_masses(found: tuple[Jumps, Jumps, Vectors], objects: int) -> Masses:
    """From how velocities change in pairs: m_i |Δv_i| = m_j |Δv_j|. Equal unless clearly not."""
    pairs, _, pushes = found
    equal = Masses(np.zeros(1), None, np.ones((objects, objects)))
    each = [_slot_median(pairs, pushes, i, j) for i in range(objects) for j in range(objects)]
    logs = np.array([e[0] for e in each]).reshape(objects, objects)
    variances = np.array([e[1] for e in each]).reshape(objects, objects)
    known = np.isfinite(variances) & (np.arange(objects)[:, None] < np.arange(objects)[None])
    if objects < 2 or not known.any():
        return equal
    i, j = np.nonzero(known)
    y, weight = logs[i, j], 1 / variances[i, j]
    design = np.eye(objects)[i] - np.eye(objects)[j]
    information = (design * weight[:, None]).T @ design + np.eye(objects) * 1e-6 * weight.sum()
    covariance = np.linalg.inv(information)
    found_logs = covariance @ (design * weight[:, None]).T @ y
    gain = float(weight @ y**2 - weight @ (y - design @ found_logs) ** 2)
    if gain < (objects - 1) * (6.0 + np.log(len(pairs))):
        return equal
    ratio = np.exp(found_logs[:, None] - found_logs[None, :])
    keep = np.eye(objects) - 1 / objects
    learned = keep @ covariance @ keep + 1e-8 * np.eye(objects)
    return Masses(found_logs - found_logs.mean(), learned, ratio)


def _slot_median(pairs: Jumps, pushes: Vectors, i: int, j: int) -> tuple[float, float]:
    """log(m_i / m_j) and its variance, from contacts of these two."""
    straight, turned = ((pairs.object == a) & (pairs.other == b) for a, b in ((i, j), (j, i)))
    logs = np.log(pushes[:, 1] / pushes[:, 0])
    values = np.concatenate([logs[straight], -logs[turned]])
    if i == j or len(values) < FEWEST_EACH:
        return 0.0, np.inf
    middle = float(np.median(values))
    spread = 1.4826 * float(np.median(np.abs(values - middle)))
    return middle, (1.2533 * max(spread, 1e-3)) ** 2 / len(values)


def fit_sizes(pairs: Jumps, straight: Float[np.ndarray, "P N A d"], jumps: int) -> PairSizes:
    """`jumps` is how many there are in all, of which contacts must be a fair part."""
    objects = straight.shape[2]
    distance, variance = np.linalg.norm(pairs.place, axis=1), pairs.variance
    # Noise across the line makes a distance longer.
    distance = distance - (straight.shape[-1] - 1) * variance / (2 * np.maximum(distance, 1e-300))
    nobody = np.zeros(len(pairs), bool)
    if len(pairs) < max(FEWEST, PART * jumps):
        return PairSizes(None, None, nobody, f"few pairs of objects jump together ({len(pairs)})")
    seen = _distances(straight)
    one, sd, on = _one_distance(distance, variance)
    several = _radii(pairs, distance, variance, objects)
    if several is not None and several[2].sum() > 1.2 * on.sum():
        radii, covariance, on = several
        closest = (radii[:, None] + radii[None]).reshape(1, 1, objects, objects)
    else:
        radii, covariance = np.array([one / 2]), np.array([[sd**2 / 4]])
        closest = np.full((1, 1, 1, 1), one)
    width = WITHIN * float(np.median(np.sqrt(variance)))
    gaps = seen - closest
    known = np.isfinite(gaps)
    chance = float(np.mean(np.abs(gaps[known]) < width))
    inside = float(np.mean(gaps[known] < -width))
    share = float(on.mean())
    likely = beyond_luck(int(on.sum()) - 1, chance * len(pairs), len(pairs))
    if share < SHARE or share < TIMES_CHANCE * chance or not likely:
        reason = f"only {share:.0%} of {len(pairs)} joint jumps happen at one distance"
        return PairSizes(None, None, nobody, reason)
    if inside > INSIDE:
        reason = f"pairs are closer than their contact in {inside:.1%} of frames"
        return PairSizes(None, None, nobody, reason)
    just_outside = known & (gaps > 0) & (gaps < closest)
    by_chance = just_outside.sum() / (2 ** straight.shape[-1] - 1)
    if by_chance < max(FEWEST_NEAR, (gaps[known] < -width).sum() / LEAVES):
        reason = "pairs come too seldom near their contact to be held apart by it"
        return PairSizes(None, None, nobody, reason)
    return PairSizes(radii, covariance, on, "")


def _one_distance(
    distance: Float[np.ndarray, " K"], variance: Float[np.ndarray, " K"]
) -> tuple[float, float, Bool[np.ndarray, " K"]]:
    """The distance that most contacts agree on, by their own errors, then their mean."""
    sd = np.sqrt(variance)
    near = np.abs(distance[:, None] - distance[None]) < WITHIN * sd[:, None]
    centre = float(distance[near.sum(axis=0).argmax()])
    on, weight = np.abs(distance - centre) < WITHIN * sd, 1 / variance
    for _ in range(10):
        weight = on / variance
        centre = float(weight @ distance / weight.sum())
        on = np.abs(distance - centre) < WITHIN * sd
    errors = (distance - centre)[on] / sd[on]
    excess = max(1.0, float(errors @ errors) / max(len(errors) - 1, 1))
    return centre, float(np.sqrt(excess / weight.sum())), on


def _radii(
    pairs: Jumps,
    distance: Float[np.ndarray, " K"],
    variance: Float[np.ndarray, " K"],
    objects: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """One radius for each object, where each touches others often enough to tell."""
    rows, weights, centres, on = [], [], [], np.zeros(len(pairs), bool)
    low, high = np.minimum(pairs.object, pairs.other), np.maximum(pairs.object, pairs.other)
    for i in range(objects):
        for j in range(i + 1, objects):
            these = np.flatnonzero((low == i) & (high == j))
            if len(these) < FEWEST_EACH:
                continue
            centre, sd, inside = _one_distance(distance[these], variance[these])
            rows.append(np.eye(objects)[i] + np.eye(objects)[j])
            weights.append(1 / sd**2)
            centres.append(centre)
            on[these[inside]] = True
    design, weight = np.array(rows).reshape(-1, objects), np.array(weights)
    if objects < 3 or np.linalg.matrix_rank(design) < objects:
        return None
    covariance = np.linalg.inv((design * weight[:, None]).T @ design)
    radii = covariance @ (design * weight[:, None]).T @ np.array(centres)
    return (radii, covariance, on) if radii.min() > 0 else None


def _distances(straight: Float[np.ndarray, "P N A d"]) -> Float[np.ndarray, "P N A A"]:
    gaps = straight[:, :, :, None] - straight[:, :, None]
    distances = np.linalg.norm(gaps, axis=-1)
    objects = straight.shape[2]
    distances[:, :, np.arange(objects), np.arange(objects)] = np.nan
    return distances
