"""A round wall that nobody jumps at: things that drive themselves slide along it.

Such a wall shows by what does not happen. Objects come towards it whose straight continuation
would cross it, and none is ever found behind it; circles a little smaller are crossed all the
time.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from comotion.contacts import Restitution, Sphere
from comotion.initialise.tracks import Tracks

DIRECTIONS = 36
"""Ten degrees apart: a wall is there in nearly all of them."""
EDGE = 0.999
"""Quantile of the distance from the centre that counts as the edge in each direction."""
FEWEST_IN_DIRECTION = 20
"""Places, or the farthest one says nothing about an edge."""
FILLED = 0.8
"""Share of the directions that something has come out into."""
ROUND = 0.03
"""Largest spread of the edge, by the radius."""
SMALLER = 0.8
"""Of the radius: the circle that must be crossed if the edge is not."""
AHEAD = 5
"""Frames in which whoever heads for the wall would be beyond it."""
FEWEST_APPROACHES = 20
"""With fewer, chance may have turned all of them."""
STOPPED, FREE = 0.05, 0.5
"""Shares of approaches that cross: at most so many at a wall, at least so many elsewhere."""
ROUNDS = 30
"""Of taking the edge from a better centre, at most."""


@dataclass(frozen=True)
class Enclosure:
    wall: Sphere | None
    restitution: Restitution
    reason: str
    touching: Bool[np.ndarray, "P J A"]


def find_enclosure(tracks: Tracks) -> Enclosure:
    P, N, A, d = tracks.positions.shape
    nobody = np.zeros((P, N - 1, A), bool)
    found = _edge(tracks.positions.reshape(-1, d))
    if found is None:
        return Enclosure(None, Restitution(), "the edge of where objects go is not round", nobody)
    centre, radius, spread = found
    crossing, approaching = _crossings(tracks, centre, radius)
    inner, free = _crossings(tracks, centre, SMALLER * radius)
    count = int(approaching.sum())
    if count < FEWEST_APPROACHES or free.sum() < FEWEST_APPROACHES:
        return Enclosure(None, Restitution(), f"only {count} approaches to a round edge", nobody)
    stopped, usual = crossing[approaching].mean(), inner[free].mean()
    if stopped > STOPPED or usual < FREE:
        reason = f"a round edge is crossed in {stopped:.0%} of {count} approaches"
        return Enclosure(None, Restitution(), reason, nobody)
    variance = (spread**2 / DIRECTIONS) * np.diag([float(d)] * d + [1.0])
    restitution, sd = _restitution(tracks, centre, approaching)
    touching = nobody.copy()
    touching[:, : approaching.shape[1]] = approaching
    return Enclosure(
        Sphere(centre, radius, True, variance),
        Restitution((restitution,), covariance=None if sd == 0 else np.array([[sd**2]])),
        f"{count} approaches to a round edge, {stopped:.0%} cross it",
        touching,
    )


def _edge(
    places: Float[np.ndarray, "K d"],
) -> tuple[Float[np.ndarray, " d"], float, float] | None:
    """Centre and radius through the outermost places in every direction, and their spread."""
    places = places[np.isfinite(places).all(axis=1)]
    rng = np.random.default_rng(0)
    directions = _directions(places.shape[1], rng)
    centre, radius, errors = (places.min(axis=0) + places.max(axis=0)) / 2, 1.0, np.ones(1)
    for _ in range(ROUNDS):
        away = places - centre
        distance = np.linalg.norm(away, axis=1)
        sector = np.argmax(away @ directions.T, axis=1)
        edge = [
            places[rows[np.argsort(distance[rows])[int(EDGE * (len(rows) - 1))]]]
            for rows in (np.flatnonzero(sector == k) for k in range(len(directions)))
            if len(rows) >= FEWEST_IN_DIRECTION
        ]
        if len(edge) < FILLED * len(directions):
            return None
        out = np.array(edge) - centre
        length = np.linalg.norm(out, axis=1)
        design = np.concatenate([out / length[:, None], np.ones((len(out), 1))], axis=1)
        solution = np.linalg.lstsq(design, length, rcond=None)[0]
        errors = length - design @ solution
        centre, radius = centre + solution[:-1], float(solution[-1])
    spread = float(errors.std())
    return (centre, radius, spread) if spread < ROUND * radius else None


def _directions(d: int, rng: np.random.Generator) -> Float[np.ndarray, "s d"]:
    if d == 2:
        angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    random = rng.normal(size=(DIRECTIONS, d))
    return random / np.linalg.norm(random, axis=1, keepdims=True)


def _motion(
    tracks: Tracks, centre: Float[np.ndarray, " d"]
) -> tuple[Float[np.ndarray, "P J A"], Float[np.ndarray, "P J A"]]:
    """Distance from the centre and outward speed in frames, from steps two frames long."""
    away = tracks.positions - centre
    distance = np.linalg.norm(away, axis=-1)
    step = (away[:, 2:] - away[:, :-2]) / 2
    with np.errstate(invalid="ignore"):
        outward = (step * away[:, 1:-1]).sum(axis=-1) / np.maximum(distance[:, 1:-1], 1e-300)
    return distance[:, 1:-1], outward


def _crossings(
    tracks: Tracks, centre: Float[np.ndarray, " d"], radius: float
) -> tuple[Bool[np.ndarray, "P J A"], Bool[np.ndarray, "P J A"]]:
    """Who comes so that it would be well beyond in a few frames, and who then is beyond."""
    distance, outward = _motion(tracks, centre)
    now, later = distance[:, :-AHEAD], distance[:, AHEAD:]
    ahead = now + AHEAD * outward[:, :-AHEAD]
    beyond = radius + 0.25 * AHEAD * np.nanmedian(np.abs(outward))
    approaching = (now < radius) & (ahead > beyond) & np.isfinite(later)
    return approaching & (later > beyond), approaching


def _restitution(
    tracks: Tracks, centre: Float[np.ndarray, " d"], approaching: Bool[np.ndarray, "P J A"]
) -> tuple[float, float]:
    """How fast objects come back, by how fast they came."""
    _, outward = _motion(tracks, centre)
    before, after = outward[:, :-AHEAD][approaching], outward[:, AHEAD:][approaching]
    known = np.isfinite(after)
    ratio = np.clip(-after[known] / before[known], 0.0, 1.0)
    value, sd = float(np.median(ratio)), float(1.2533 * ratio.std() / np.sqrt(len(ratio)))
    return (0.0, 0.0) if value < 0.1 else (value, sd)
