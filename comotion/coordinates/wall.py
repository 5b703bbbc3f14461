"""f_s of where the nearest wall is, as seen by the object that moves."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion.contacts import Contacts
from comotion.coordinates.base import AbstractAloneCoordinates, Actor, heading
from comotion.coordinates.layout import Layout

FAR = 1.0
"""About the size of the scene: walls farther away than that are all alike."""
STRAIGHT_AHEAD = 0.02


class WallAlone(AbstractAloneCoordinates):
    """f_s of speed, of the distance to the nearest wall, and of how that wall lies to the heading.

    In the plane left and right are told apart, so that things may turn to one side. The outputs are
    an acceleration along the heading and an angular velocity, to the left or, in space, towards the
    wall: a turn as fast as its object leaves gradients bounded where something has stopped. Walls
    are those of the contact law, whatever their outline; without any, and far from them, only the
    speed counts.
    """

    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)
    contacts: Contacts | None = None

    @property
    def in_size(self) -> int:
        return 4 + self.layout.properties + self.layout.controls

    @property
    def out_size(self) -> int:
        return 2 * self.vectors

    def among(self, contacts: Contacts) -> "WallAlone":
        return dataclasses.replace(self, contacts=contacts)

    def inputs(self, actor: Actor) -> Float[Array, " I"]:
        speed, ahead = heading(actor, self.layout)
        distance, normal = self._nearest(actor)
        left = self._aside(ahead, normal)
        near = 1.0 - distance / FAR
        bearing = near * jnp.stack([jnp.dot(normal, ahead), jnp.dot(normal, left)])
        return jnp.concatenate(
            [jnp.stack([speed, distance]), bearing, actor.properties, actor.controls]
        )

    def rates(self, outputs: Float[Array, " Q"], actor: Actor) -> Float[Array, " R"]:
        speed, ahead = heading(actor, self.layout)
        left = self._aside(ahead, self._nearest(actor)[1])
        along, turn = outputs[: self.vectors], outputs[self.vectors :]
        return (jnp.outer(along, ahead) + jnp.outer(speed * turn, left)).reshape(-1)

    def _nearest(self, actor: Actor) -> tuple[Float[Array, ""], Float[Array, " d"]]:
        """How far the nearest wall is, within limits, and the direction out of the scene there."""
        place = actor.state[self.layout.position]
        if self.contacts is None:
            return jnp.full((), FAR, place.dtype), jnp.zeros_like(place)
        distance, normal = self.contacts.nearest_wall(place[None])
        return jnp.clip(distance[0], 0.0, FAR), normal[0]

    def _aside(self, ahead: Float[Array, " d"], normal: Float[Array, " d"]) -> Float[Array, " d"]:
        if self.layout.spatial == 2:
            return jnp.stack([-ahead[1], ahead[0]])
        across = normal - jnp.dot(normal, ahead) * ahead
        return across / jnp.sqrt(jnp.sum(across**2) + STRAIGHT_AHEAD**2)
