"""Contact laws from plain numbers: planes, boxes, circles, polygons."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from comotion._types import FAST
from comotion.contacts.bounce import BounceLaw
from comotion.contacts.law import ContactLaw, PlaneLaw, SphereLaw
from comotion.contacts.posterior import Gaussian, Numbers, gaussian
from comotion.contacts.springs import SpringLaw
from comotion.errors import BadInput

ENDLESS = (-np.inf, np.inf)


@dataclass(frozen=True)
class Plane:
    """Centres stay where normal·(x - anchor) ≤ 0; covariance is of (shift, tilts)."""

    anchor: Float[np.ndarray, " d"]
    normal: Float[np.ndarray, " d"]
    covariance: Float[np.ndarray, "d d"] | None = None
    span: tuple[float, float] = ENDLESS


@dataclass(frozen=True)
class Sphere:
    """Covariance is of (centre, radius)."""

    centre: Float[np.ndarray, " d"]
    radius: float
    inside: bool = True
    covariance: Float[np.ndarray, "c c"] | None = None


@dataclass(frozen=True)
class Restitution:
    """Values at closing speeds, one for a number; `loss` is of the sliding speed."""

    values: Numbers = (1.0,)
    speeds: Numbers = (1.0,)
    covariance: Float[np.ndarray, "m m"] | None = None
    loss: float = 0.0
    loss_sd: float = 0.0
    scatter: float = 0.0

    def law(self) -> BounceLaw:
        if np.size(self.values) != np.size(self.speeds) or np.any(np.diff(self.speeds) <= 0):
            raise BadInput(
                f"restitution has {np.size(self.values)} values at speeds {self.speeds}; "
                "give one value for each of some increasing speeds"
            )
        known = None if self.loss_sd == 0 else [[self.loss_sd**2]]
        return BounceLaw(
            speeds=jnp.asarray(self.speeds, FAST),
            restitution=gaussian(self.values, self.covariance),
            loss=gaussian([self.loss], known),
            scatter=jnp.asarray(self.scatter, FAST) if self.scatter else None,
        )


@dataclass(frozen=True)
class Softness:
    """Log stiffness and power of pairs and walls, with their covariances; see `Springs`."""

    pair: Numbers = (0.0, 1.0)
    wall: Numbers = (0.0, 1.0)
    pair_covariance: Float[np.ndarray, "2 2"] | None = None
    wall_covariance: Float[np.ndarray, "2 2"] | None = None
    unit: float = 1.0
    steps: int = 16

    def law(self) -> SpringLaw:
        return SpringLaw(
            pair=gaussian(self.pair, self.pair_covariance),
            wall=gaussian(self.wall, self.wall_covariance),
            unit=jnp.asarray(self.unit, FAST),
            steps=self.steps,
        )


@dataclass(frozen=True)
class Parts:
    """Radii and log masses: one for all, or one for each object; no radii, no pair contacts."""

    spatial: int
    walls: Sequence[Plane | Sphere] = ()
    radii: Numbers = ()
    radii_covariance: Float[np.ndarray, "r r"] | None = None
    log_masses: Numbers = (0.0,)
    log_masses_covariance: Float[np.ndarray, "m m"] | None = None
    pair: Restitution = field(default_factory=Restitution)
    wall: Restitution = field(default_factory=Restitution)
    speed: float = 1.0
    rims: bool = False
    only: bool = False
    softness: Softness | None = None


def contact_law(parts: Parts) -> ContactLaw:
    planes = [wall for wall in parts.walls if isinstance(wall, Plane)]
    spheres = [wall for wall in parts.walls if isinstance(wall, Sphere)]
    return ContactLaw(
        radii=gaussian(parts.radii, parts.radii_covariance),
        log_masses=gaussian(parts.log_masses, parts.log_masses_covariance),
        planes=_planes(planes, parts.spatial),
        spheres=_spheres(spheres, parts.spatial),
        pair=parts.pair.law(),
        wall=parts.wall.law(),
        speed=jnp.asarray(parts.speed, FAST),
        rims=parts.rims,
        only=parts.only,
        springs=None if parts.softness is None else parts.softness.law(),
    )


def box(low: Numbers, high: Numbers) -> list[Plane]:
    """Objects stay between two corners."""
    corners, axes = (np.asarray(low, float), np.asarray(high, float)), np.eye(np.size(low))
    return [Plane(c, s * axis) for c, s in zip(corners, (-1, 1), strict=True) for axis in axes]


def polygon(corners: Numbers, inside: bool = True) -> list[Plane | Sphere]:
    """Sides between corners, given against the clock; outside, the corners count as well."""
    points = np.asarray(corners, float)
    sides = np.roll(points, -1, axis=0) - points
    lengths = np.linalg.norm(sides, axis=1)
    out = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / lengths[:, None]
    after = np.roll(sides, -1, axis=0)
    convex = np.all(sides[:, 0] * after[:, 1] >= sides[:, 1] * after[:, 0])
    sign = 1.0 if inside else -1.0
    planes: list[Plane | Sphere] = []
    for point, side, normal, length in zip(points, sides, out, lengths, strict=True):
        # Within a convex polygon endless sides leave no hole at a corner.
        half = np.inf if convex and inside else float(length) / 2
        planes.append(Plane(point + side / 2, sign * normal, span=(-half, half)))
    return planes if inside else planes + [Sphere(point, 0.0, False) for point in points]


def _planes(walls: list[Plane], d: int) -> PlaneLaw:
    covariances = np.array([_or_none(wall.covariance, d) for wall in walls]).reshape(-1, d, d)
    anchors = np.array([wall.anchor for wall in walls]).reshape(-1, d)
    normals = np.array([wall.normal for wall in walls]).reshape(-1, d)
    return PlaneLaw(
        anchors=jnp.asarray(anchors, FAST),
        normals=jnp.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True), FAST),
        spans=jnp.asarray(np.array([wall.span for wall in walls]).reshape(-1, 2), FAST),
        moved=_uncertain(np.zeros_like(anchors), covariances),
        endless=all(np.isinf(wall.span).all() for wall in walls),
    )


def _spheres(walls: list[Sphere], d: int) -> SphereLaw:
    shapes = np.array([[*wall.centre, wall.radius] for wall in walls]).reshape(-1, d + 1)
    covariances = np.array([_or_none(wall.covariance, d + 1) for wall in walls])
    sides = [1.0 if wall.inside else -1.0 for wall in walls]
    shape = _uncertain(shapes, covariances.reshape(-1, d + 1, d + 1))
    return SphereLaw(shape, jnp.asarray(np.array(sides), FAST))


def _uncertain(mean: Float[np.ndarray, "W n"], covariance: Float[np.ndarray, "W n n"]) -> Gaussian:
    given = ~covariance.any(axis=(1, 2), keepdims=True)
    law = gaussian(mean, np.where(given, np.eye(mean.shape[1]), covariance))
    return Gaussian(law.mean, jnp.where(jnp.asarray(given), 0.0, law.factor))


def _or_none(covariance: np.ndarray | None, n: int) -> np.ndarray:
    return np.zeros((n, n)) if covariance is None else covariance
