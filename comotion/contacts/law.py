"""The law of contact: where things touch and what touching does, with its posterior."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.contacts.bounce import Bounce, BounceLaw
from comotion.contacts.posterior import Gaussian
from comotion.contacts.springs import SpringLaw, Springs
from comotion.contacts.surfaces import AbstractSurfaces, Planes, Spheres
from comotion.errors import BadInput

NO_WALL = 1e3
"""How far the nearest wall is where there is none."""
SOFT = 6
"""The draw of springs has a number of its own, so that hard laws draw as they did without."""
SCENE = 3.0
"""Prior sd of lengths, in units in which positions are about one."""


class Contacts(eqx.Module):
    """One drawn law of contact.

    Two objects touch where their distance is the sum of their radii: one radius for all, or one
    for each object; none, and objects pass through each other. Masses likewise. Arrays may have
    further axes at their end, one entry for each of many laws.
    """

    radii: Float[Array, "r *b"]
    log_masses: Float[Array, "m *b"]
    planes: Planes
    spheres: Spheres
    pair: Bounce
    wall: Bounce
    rims: bool = eqx.field(static=True)
    """whether it is the rim of an object that meets a wall, not its centre"""
    only: bool = eqx.field(static=True)
    """whether nothing else acts: between contacts everything flies straight"""
    springs: Springs | None = None
    """how contacts yield; None where they are hard"""

    @property
    def surfaces(self) -> tuple[AbstractSurfaces, AbstractSurfaces]:
        return self.planes, self.spheres

    def reach(self, objects: int) -> Float[Array, "A *b"]:
        return per_object(self.radii, objects, "radii")

    def extents(self, objects: int) -> Float[Array, "A *b"]:
        """How far each object reaches beyond its centre when it meets a wall."""
        if self.rims:
            return self.reach(objects)
        return jnp.zeros((objects, *self.log_masses.shape[1:]), self.log_masses.dtype)

    def nearest_wall(
        self, places: Float[Array, "A d"]
    ) -> tuple[Float[Array, " A"], Float[Array, "A d"]]:
        """How far the nearest wall is from each place, and the direction out of the scene there."""
        extents = jnp.zeros(len(places), places.dtype)
        walls = [surfaces for surfaces in self.surfaces if surfaces.count]
        none = jnp.full((len(places), 1), -NO_WALL, places.dtype)
        nowhere = jnp.zeros_like(places)[:, None]
        depths = jnp.concatenate([none, *(w.depths(places, extents) for w in walls)], axis=1)
        normals = jnp.concatenate([nowhere, *(w.normals_at(places) for w in walls)], axis=1)
        nearest = jnp.argmax(depths, axis=1)
        distance = -jnp.take_along_axis(depths, nearest[:, None], axis=1)[:, 0]
        return distance, jnp.take_along_axis(normals, nearest[:, None, None], axis=1)[:, 0]

    def pushes(
        self, x: Float[Array, "A d"], there: Bool[Array, " A"], meets: Bool[Array, "A A"] | None
    ) -> Float[Array, "A d"]:
        """Accelerations by soft contacts; `meets` says who may touch whom, None: all."""
        assert self.springs is not None
        extents, forces = self.extents(len(x)), jnp.zeros_like(x)
        for walls in self.surfaces:
            push = self.springs.push(self.springs.wall, walls.depths(x, extents))
            forces = forces - jnp.sum(push[:, :, None] * walls.normals_at(x), axis=1)
        if self.radii.size:
            reach, gaps = self.reach(len(x)), x[:, None] - x[None]
            square = jnp.sum(gaps**2, axis=2)
            distance = jnp.sqrt(jnp.where(square > 0, square, 1.0))
            touches = there[:, None] & there[None] & (square > 0)
            touches = touches if meets is None else touches & meets
            depths = jnp.where(touches, reach[:, None] + reach[None] - distance, 0.0)
            push = self.springs.push(self.springs.pair, depths) / distance
            forces = forces + jnp.sum(push[:, :, None] * gaps, axis=1)
        return jnp.where(there[:, None], forces / self.masses(len(x))[:, None], 0.0)

    def masses(self, objects: int) -> Float[Array, "A *b"]:
        return jnp.exp(per_object(self.log_masses, objects, "masses"))


class PlaneLaw(eqx.Module):
    """Flat walls; the posterior is over how far each is shifted along its normal and tilted."""

    anchors: Float[Array, "W d"]
    normals: Float[Array, "W d"]
    spans: Float[Array, "W 2"]
    moved: Gaussian
    endless: bool = eqx.field(static=True)

    def draw(self, *, key: Key) -> Planes:
        moved = self.moved.draw(key=key)
        anchors = self.anchors + moved[:, :1] * self.normals
        tilt = jnp.einsum("wt,wtd->wd", moved[:, 1:], tangents(self.normals))
        normals = self.normals + tilt
        return Planes(anchors, normals / _length(normals), self.spans, self.endless)


class SphereLaw(eqx.Module):
    """Round walls; the posterior is over centre and radius."""

    shapes: Gaussian
    sides: Float[Array, " W"]

    def draw(self, *, key: Key) -> Spheres:
        shapes = self.shapes.draw(key=key)
        return Spheres(shapes[:, :-1], shapes[:, -1], self.sides)


class ContactLaw(eqx.Module):
    """A distribution over laws of contact."""

    radii: Gaussian
    log_masses: Gaussian
    planes: PlaneLaw
    spheres: SphereLaw
    pair: BounceLaw
    wall: BounceLaw
    speed: Float[Array, ""]
    """of objects along an axis, root mean square: which velocities a start may have"""
    rims: bool = eqx.field(static=True)
    only: bool = eqx.field(static=True)
    springs: SpringLaw | None = None

    @property
    def spatial(self) -> int:
        return self.planes.anchors.shape[1]

    def draw(self, *, key: Key) -> Contacts:
        radii, masses, planes, spheres, pair, wall = jax.random.split(key, 6)
        soft = self.springs
        return Contacts(
            radii=self.radii.draw(key=radii),
            log_masses=self.log_masses.draw(key=masses),
            planes=self.planes.draw(key=planes),
            spheres=self.spheres.draw(key=spheres),
            pair=self.pair.draw(self.spatial, key=pair),
            wall=self.wall.draw(self.spatial, key=wall),
            rims=self.rims,
            only=self.only,
            springs=None if soft is None else soft.draw(key=jax.random.fold_in(key, SOFT)),
        )

    def without_pairs(self) -> "ContactLaw":
        """Walls alone: objects pass through each other."""
        nothing = Gaussian(self.radii.mean[:0], self.radii.factor[:0, :0])
        equal = Gaussian(
            jnp.zeros_like(self.log_masses.mean[:1]), jnp.zeros_like(self.log_masses.factor[:1, :1])
        )
        return replace(self, radii=nothing, log_masses=equal)

    def kl(self) -> Float[Array, ""]:
        """From a broad prior in units of the scene."""
        geometry = self.radii.kl(0.0, SCENE) + self.spheres.shapes.kl(0.0, SCENE)
        flat = self.planes.moved.kl(0.0, SCENE)
        does = self.pair.kl() + self.wall.kl() if self.springs is None else self.springs.kl()
        return geometry + flat + self.log_masses.kl(0.0, 1.0) + does


def per_object(values: Float[Array, "r *b"], objects: int, what: str) -> Float[Array, "A *b"]:
    if values.shape[0] not in (1, objects):
        raise BadInput(
            f"the contact law has {what} for {values.shape[0]} objects, but there are {objects}; "
            "forecast the objects it was learned from, or learn one radius for all"
        )
    return jnp.broadcast_to(values, (objects, *values.shape[1:]))


def tangents(normals: Float[Array, "W d"]) -> Float[Array, "W d-1 d"]:
    """Unit vectors across each normal."""
    if normals.shape[1] == 2:
        return jnp.stack([-normals[:, 1], normals[:, 0]], axis=1)[:, None]
    # The axis the normal has least of is far from parallel to it.
    axis = jax.nn.one_hot(jnp.argmin(jnp.abs(normals), axis=1), 3, dtype=normals.dtype)
    first = jnp.cross(normals, axis)
    first = first / _length(first)
    return jnp.stack([first, jnp.cross(normals, first)], axis=1)


def _length(vectors: Float[Array, "W d"]) -> Float[Array, "W 1"]:
    return jnp.sqrt(jnp.sum(vectors**2, axis=1, keepdims=True))
