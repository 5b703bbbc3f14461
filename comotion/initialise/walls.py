"""Planes and circles on which jumps lie: found by random trials, kept against a null.

A wall pushes along its normal, so every jump carries a place and a direction. A candidate wall
collects the jumps that lie on it and point along its normal, both within their errors. It is kept
if it collects several times what planes of random direction through the same places collect.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from comotion.contacts import Plane, Sphere
from comotion.initialise.jumps import Jumps

TRIALS = 400
"""Random pairs of jumps to draw a wall through: of a wall with a tenth of the jumps, four."""
WITHIN = 3.0
"""Standard deviations."""
NEAR = 8.0
"""Standard deviations within which no second wall is looked for."""
TIMES_NULL = 5.0
"""As many jumps as a wall would get if directions were turned at random."""
FEWEST = 3
"""Jumps: two are on a wall by construction."""
PART = 0.01
"""Share of all jumps: walls with fewer are chance, or matter to nobody."""
BEYOND = 0.005
"""Share of frames that may lie beyond a wall."""
MOST_WALLS = 12
"""A scene with more is not made of walls."""
SAME, TURNED = 0.02, 0.3
"""Jumps so near a wall, by the scene's width, and so nearly along its normal are its own."""
LUCK = 0.01
"""Probability up to which a wall may be one by chance, over all the guesses at it."""
REFITS = 5
"""Of a wall to the jumps on it."""
Places = Float[np.ndarray, "K d"]


@dataclass(frozen=True)
class Touches:
    """Jumps as walls see them: where, which way out, and how sure both are."""

    place: Places
    outward: Places
    place_sd: Float[np.ndarray, " K"]
    angle_sd: Float[np.ndarray, " K"]

    def __getitem__(self, rows: np.ndarray) -> "Touches":
        return Touches(**{name: value[rows] for name, value in vars(self).items()})

    def __len__(self) -> int:
        return len(self.place)


def touches_of(jumps: Jumps) -> Touches:
    size = np.maximum(jumps.size, 1e-300)
    return Touches(
        place=jumps.place,
        outward=-jumps.change / size[:, None],
        place_sd=np.sqrt(jumps.variance),
        angle_sd=np.sqrt(jumps.change_variance) / size,
    )


def find_walls(
    jumps: Jumps, visited: Float[np.ndarray, "V d"], of: int, rng: np.random.Generator
) -> tuple[list[Plane | Sphere], list[Bool[np.ndarray, " K"]]]:
    """Walls, the one with most jumps first, and which of the jumps belong to each.

    `of` is how many jumps there are in all, of which those at a wall must be a fair part.
    """
    touches, left = touches_of(jumps), np.ones(len(jumps), bool)
    fewest = max(FEWEST, PART * min(of, len(jumps)))
    walls: list[Plane | Sphere] = []
    members: list[np.ndarray] = []
    while left.sum() >= fewest and len(walls) < MOST_WALLS:
        rows = np.flatnonzero(left)
        wall, on = _best_wall(touches[rows], rng)
        if wall is None or on.sum() < max(fewest, TIMES_NULL * _null(touches[rows], rng)):
            break
        free = 1 if isinstance(wall, Plane) else 2
        if not beyond_luck(int(on.sum()) - free, _by_chance(touches[rows], visited), len(rows)):
            break
        here = touches[rows[on]]
        known = any(_is_same(earlier, here, visited) for earlier in walls)
        if known or _share_beyond(wall, visited, here) > BEYOND:
            left[rows[on]] = False
            continue
        belongs = np.zeros(len(jumps), bool)
        belongs[rows[on]] = True
        walls.append(wall)
        members.append(belongs)
        # Jumps that lie near it but were measured badly must not make a second wall beside it.
        left &= ~lies_on(wall, touches, NEAR)
    return walls, members


def beyond_luck(found: int, expected: float, guesses: int) -> bool:
    """Whether so many of a Poisson number are too many for chance, by Chernoff's bound."""
    if found <= expected:
        return False
    surprise = found * np.log(found / max(expected, 1e-300)) - found + expected
    return bool(surprise > np.log(guesses / LUCK))


def _by_chance(touches: Touches, visited: Float[np.ndarray, "V d"]) -> float:
    """How many jumps in random places and directions would lie on a wall, by their errors."""
    width = float(np.ptp(visited, axis=0).mean())
    near = np.minimum(2 * WITHIN * touches.place_sd / width, 1.0)
    along = np.minimum(WITHIN * touches.angle_sd / np.pi, 1.0) ** (visited.shape[1] - 1)
    return float(near @ along)


def distance_beyond(wall: Plane | Sphere, places: Places) -> Float[np.ndarray, " K"]:
    """How far on the forbidden side."""
    if isinstance(wall, Plane):
        return (places - wall.anchor) @ wall.normal
    side = 1.0 if wall.inside else -1.0
    return side * (np.linalg.norm(places - wall.centre, axis=1) - wall.radius)


def normals_at(wall: Plane | Sphere, places: Places) -> Places:
    if isinstance(wall, Plane):
        return np.broadcast_to(wall.normal, places.shape)
    away = places - wall.centre
    side = 1.0 if wall.inside else -1.0
    return side * away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)


def lies_on(
    wall: Plane | Sphere, touches: Touches, within: float = WITHIN
) -> Bool[np.ndarray, " K"]:
    """In place and direction."""
    place = np.abs(distance_beyond(wall, touches.place)) < within * touches.place_sd
    across = np.linalg.norm(touches.outward - normals_at(wall, touches.place), axis=1)
    return place & (across < within * touches.angle_sd)


def _best_wall(
    touches: Touches, rng: np.random.Generator
) -> tuple[Plane | Sphere | None, Bool[np.ndarray, " K"]]:
    best, on = None, np.zeros(len(touches), bool)
    # What is measured well makes the better guess.
    sure = np.argsort(touches.angle_sd)[: max(FEWEST, len(touches) // 2)]
    seeds = rng.choice(sure, size=(min(TRIALS, 4 * len(sure)), 2))
    for one, two in seeds.tolist():
        for wall in (_plane_through(touches, one), _sphere_through(touches, one, two)):
            if wall is None:
                continue
            found = lies_on(wall, touches)
            if found.sum() > on.sum():
                best, on = wall, found
    if best is None or on.sum() < FEWEST:
        return None, on
    for _ in range(REFITS):
        refitted = fit_wall(best, touches[on])
        found = lies_on(refitted, touches)
        if found.sum() < max(FEWEST, 0.8 * on.sum()):
            break
        best, on = refitted, found
    return best, on


def _plane_through(touches: Touches, one: int) -> Plane:
    return Plane(touches.place[one], touches.outward[one])


def _sphere_through(touches: Touches, one: int, two: int) -> Sphere | None:
    """Where two normals meet at equal distance; None for normals that are nearly parallel."""
    turned = touches.outward[one] - touches.outward[two]
    square = float(turned @ turned)
    if square < 0.05:
        return None
    apart = touches.place[one] - touches.place[two]
    radius = float(turned @ apart) / square
    slack = WITHIN * (touches.place_sd[one] + touches.place_sd[two])
    slack += WITHIN * abs(radius) * (touches.angle_sd[one] + touches.angle_sd[two])
    if np.linalg.norm(apart - radius * turned) > slack or radius == 0:
        return None
    centre = touches.place[one] - radius * touches.outward[one]
    return Sphere(centre, abs(radius), inside=radius > 0)


def fit_wall(wall: Plane | Sphere, touches: Touches) -> Plane | Sphere:
    """Weighted least squares of the places, with the covariance of what was fitted."""
    return _fit_plane(wall, touches) if isinstance(wall, Plane) else _fit_sphere(wall, touches)


def _fit_plane(wall: Plane, touches: Touches) -> Plane:
    weights = 1 / touches.place_sd**2
    anchor = weights @ touches.place / weights.sum()
    basis = _across(wall.normal)
    design = np.concatenate(
        [np.ones((len(touches), 1)), -(touches.place - anchor) @ basis.T], axis=1
    )
    # The directions of the jumps say how the wall is tilted as well.
    directions = (touches.outward - wall.normal) @ basis.T
    tilts = 1 / touches.angle_sd**2
    information = (design * weights[:, None]).T @ design
    information[1:, 1:] += np.eye(len(basis)) * tilts.sum()
    offsets = (touches.place - anchor) @ wall.normal
    right = (design * weights[:, None]).T @ offsets
    right[1:] += tilts @ directions
    covariance = np.linalg.inv(information)
    shift, *tilt = covariance @ right
    left = (offsets - design @ np.array([shift, *tilt])) * np.sqrt(weights)
    normal = wall.normal + np.array(tilt) @ basis
    return Plane(
        anchor + shift * wall.normal,
        normal / np.linalg.norm(normal),
        covariance * _excess(left, len(wall.normal)),
    )


def _fit_sphere(wall: Sphere, touches: Touches) -> Sphere:
    """One Gauss-Newton step; the caller takes several."""
    weights = 1 / touches.place_sd**2
    away = touches.place - wall.centre
    distance = np.linalg.norm(away, axis=1)
    design = np.concatenate([away / distance[:, None], np.ones((len(touches), 1))], axis=1)
    information = (design * weights[:, None]).T @ design
    covariance = np.linalg.inv(
        information + 1e-9 * np.trace(information) * np.eye(len(information))
    )
    *centre, radius = covariance @ ((design * weights[:, None]).T @ (distance - wall.radius))
    left = (distance - wall.radius - design @ np.array([*centre, radius])) * np.sqrt(weights)
    return Sphere(
        wall.centre + np.array(centre),
        wall.radius + radius,
        wall.inside,
        covariance * _excess(left, len(information)),
    )


def _excess(errors: Float[np.ndarray, " K"], parameters: int) -> float:
    """By how much errors are larger than they should be; never less than one."""
    freedom = max(len(errors) - parameters, 1)
    return max(1.0, float(errors @ errors) / freedom)


def _null(touches: Touches, rng: np.random.Generator) -> float:
    """Upper quartile of what planes of random direction through these places collect."""
    places = touches.place[rng.integers(len(touches), size=TRIALS)]
    normals = rng.normal(size=places.shape)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    counts = [lies_on(Plane(p, n), touches).sum() for p, n in zip(places, normals, strict=True)]
    return float(np.quantile(counts, 0.75))


def _share_beyond(wall: Plane | Sphere, visited: Places, touches: Touches) -> float:
    slack = WITHIN * float(np.median(touches.place_sd))
    return float(np.mean(distance_beyond(wall, visited) > slack))


def _is_same(wall: Plane | Sphere, touches: Touches, visited: Places) -> bool:
    """Whether these jumps were at a wall that is known, and seen worse than they seem."""
    apart = np.median(np.abs(distance_beyond(wall, touches.place)))
    turned = np.linalg.norm(touches.outward - normals_at(wall, touches.place), axis=1)
    width = float(np.ptp(visited, axis=0).mean())
    return bool(apart < SAME * width and np.median(turned) < TURNED)


def _across(normal: Float[np.ndarray, " d"]) -> Float[np.ndarray, "t d"]:
    """In the order and direction of `contacts.law.tangents`."""
    if len(normal) == 2:
        return np.array([[-normal[1], normal[0]]])
    axis = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(normal, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first)])
