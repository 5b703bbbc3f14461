"""Walls that have been drawn: when a straight flight meets them, and which way they push.

Objects are their centres. Every wall allows one side; normals point to the other. An object that
already is on the other side meets the wall at once if it goes further, and is let back freely.

All arrays may have further axes at their end, one entry for each of many scenes: processors work
through those quickest. Sizes of the scene itself come first.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

NEVER = jnp.inf
TINY = 1e-30
THICKNESS = 0.02
"""How deep inside a wall of finite length an object is still held by it, by that length."""
Vectors = Float[Array, "A d *#B"]
Extents = Float[Array, "A *#B"]
ByWall = Float[Array, "A W *#B"]


class AbstractSurfaces(eqx.Module):
    """Several walls of one kind; `extents` says how far each object reaches beyond its centre."""

    @property
    @abstractmethod
    def count(self) -> int: ...

    @abstractmethod
    def waits(self, x: Vectors, v: Vectors, extents: Extents) -> tuple[ByWall, ByWall]:
        """How long until each object meets each wall, and how fast it closes in there."""

    @abstractmethod
    def normals_at(self, x: Vectors) -> Float[Array, "A W d *#B"]: ...

    @abstractmethod
    def depths(self, x: Vectors, extents: Extents) -> ByWall:
        """How far beyond each wall; negative on the allowed side."""


class Planes(AbstractSurfaces):
    """n·(x - anchor) ≤ 0. In the plane, `spans` bounds how far the wall goes along its tangent."""

    anchors: Float[Array, "W d *b"]
    normals: Float[Array, "W d *b"]
    spans: Float[Array, "W 2 *b"]
    endless: bool = eqx.field(static=True)

    @property
    def count(self) -> int:
        return self.normals.shape[0]

    def waits(self, x: Vectors, v: Vectors, extents: Extents) -> tuple[ByWall, ByWall]:
        closing = jnp.sum(v[:, None] * self.normals[None], axis=2)
        gap = -self._beyond(x, extents)
        meets = closing > 0
        wait = jnp.maximum(gap, 0.0) / jnp.where(meets, closing, 1.0)
        if not self.endless:
            meets = meets & self._holds(x[:, None] + wait[:, :, None] * v[:, None], gap)
        return jnp.where(meets, wait, NEVER), closing

    def normals_at(self, x: Vectors) -> Float[Array, "A W d *#B"]:
        return jnp.zeros_like(x[:, None]) + self.normals[None]

    def depths(self, x: Vectors, extents: Extents) -> ByWall:
        beyond = self._beyond(x, extents)
        if self.endless:
            return beyond
        places = x[:, None] + jnp.zeros_like(self.normals)[None]
        return jnp.where(self._holds(places, -beyond), beyond, -jnp.inf)

    def _beyond(self, x: Vectors, extents: Extents) -> ByWall:
        away = x[:, None] - self.anchors[None]
        return jnp.sum(away * self.normals[None], axis=2) + extents[:, None]

    def _holds(self, places: Float[Array, "A W d *#B"], gap: ByWall) -> Array:
        tangents = jnp.stack([-self.normals[:, 1], self.normals[:, 0]], axis=1)
        along = jnp.sum((places - self.anchors[None]) * tangents[None], axis=2)
        low, high = self.spans[None, :, 0], self.spans[None, :, 1]
        return (along >= low) & (along <= high) & (-gap <= THICKNESS * (high - low))


class Spheres(AbstractSurfaces):
    """Circles in the plane: side 1 keeps objects inside, side -1 outside."""

    centres: Float[Array, "W d *b"]
    radii: Float[Array, "W *b"]
    sides: Float[Array, "W *b"]

    @property
    def count(self) -> int:
        return self.radii.shape[0]

    def waits(self, x: Vectors, v: Vectors, extents: Extents) -> tuple[ByWall, ByWall]:
        reach = self._reach(extents)
        gap = x[:, None] - self.centres[None]
        square = jnp.sum(v**2, axis=1)[:, None]
        outward = jnp.sum(gap * v[:, None], axis=2)
        room = jnp.sum(gap**2, axis=2) - reach**2
        discriminant = outward**2 - square * room
        root = jnp.sqrt(jnp.where(discriminant > 0, discriminant, TINY))
        inside = self.sides[None] > 0
        leaves, enters = _leaving(outward, root, square, room), _entering(outward, root, room)
        late = jnp.where(inside, (outward > 0) & (room > 0), (outward < 0) & (room < 0))
        meets = jnp.where(inside, square > 0, (outward < 0) & (room > 0)) & (discriminant > 0)
        wait = jnp.where(meets, jnp.where(inside, leaves, enters), NEVER)
        closing = jnp.where(late, jnp.abs(outward), root) / reach
        return jnp.where(late, 0.0, wait), closing

    def normals_at(self, x: Vectors) -> Float[Array, "A W d *#B"]:
        away = x[:, None] - self.centres[None]
        square = jnp.sum(away**2, axis=2, keepdims=True)
        return self.sides[None, :, None] * away / jnp.sqrt(jnp.where(square > 0, square, 1.0))

    def depths(self, x: Vectors, extents: Extents) -> ByWall:
        square = jnp.sum((x[:, None] - self.centres[None]) ** 2, axis=2)
        distance = jnp.sqrt(jnp.where(square > 0, square, TINY))
        return self.sides[None] * (distance - self._reach(extents))

    def _reach(self, extents: Extents) -> ByWall:
        return self.radii[None] - self.sides[None] * extents[:, None]


def _leaving(outward: ByWall, root: ByWall, square: Array, room: ByWall) -> ByWall:
    """The later root of |gap + t·v| = reach, in the form that does not cancel."""
    steep = outward > 0
    divisor = jnp.where(steep, outward + root, jnp.where(square > 0, square, 1.0))
    divisor = jnp.where(divisor > 0, divisor, 1.0)
    return jnp.where(steep, jnp.maximum(-room, 0.0), root - outward) / divisor


def _entering(outward: ByWall, root: ByWall, room: ByWall) -> ByWall:
    """The earlier root."""
    divisor = root - outward
    return jnp.maximum(room, 0.0) / jnp.where(divisor > 0, divisor, 1.0)
