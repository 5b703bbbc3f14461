"""Coordinates of f_b in which nothing but the distance decides, and who the two are."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion.coordinates.base import AbstractPairCoordinates, Actor
from comotion.coordinates.layout import Layout

TINY = 1e-12


class DistancePair(AbstractPairCoordinates):
    """φ(r) along the line from the other; with `aligning` φ(r) times that gap, and ψ(r) times the
    difference of velocities.

    The properties of the one who reacts and of the other stand in this order beside the distance:
    kinds may differ in what they do to each other, so nothing makes the two react alike.
    """

    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)
    logarithmic: bool = eqx.field(static=True, default=False)
    """for laws that are steep nearby and reach far: the input is the distance's logarithm"""
    aligning: bool = eqx.field(static=True, default=False)

    @property
    def in_size(self) -> int:
        return 1 + 2 * self.layout.properties

    @property
    def directions(self) -> int:
        """How many outputs each rate is made of."""
        return 2 if self.aligning and self.layout.has_velocity else 1

    @property
    def out_size(self) -> int:
        return self.directions * self.vectors

    def inputs(self, actor: Actor, other: Actor) -> Float[Array, " I"]:
        _, distance = gap_of(actor, other, self.layout)
        seen = jnp.log(distance) if self.logarithmic else distance
        return jnp.concatenate([seen[None], actor.properties, other.properties])

    def rates(self, outputs: Float[Array, " Q"], actor: Actor, other: Actor) -> Float[Array, " R"]:
        gap, distance = gap_of(actor, other, self.layout)
        away = gap if self.aligning else gap / distance
        rates = jnp.outer(outputs[: self.vectors], away)
        if self.directions == 2:
            velocity = self.layout.velocity
            behind = other.state[velocity] - actor.state[velocity]
            rates = rates + jnp.outer(outputs[self.vectors :], behind)
        return rates.reshape(-1)


class MultiplyingPair(AbstractPairCoordinates):
    """(φ₀(log r) + Σ c c' φ(log r)) / r along the line from the other: a push of its own for each
    property, times both objects' values of it, as charges have it; without properties φ₀ alone.

    Divided by the distance, so that a force without bound nearby has a smooth φ.
    """

    opposite: ClassVar[bool] = True
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return 1

    @property
    def out_size(self) -> int:
        return self.vectors * (1 + self.layout.properties)

    def inputs(self, actor: Actor, other: Actor) -> Float[Array, " I"]:
        return jnp.log(gap_of(actor, other, self.layout)[1])[None]

    def rates(self, outputs: Float[Array, " Q"], actor: Actor, other: Actor) -> Float[Array, " R"]:
        gap, distance = gap_of(actor, other, self.layout)
        one = jnp.ones(1, actor.properties.dtype)
        shares = jnp.concatenate([one, actor.properties * other.properties])
        push = shares @ outputs.reshape(-1, self.vectors)
        return jnp.outer(push, gap / distance**2).reshape(-1)


def gap_of(
    actor: Actor, other: Actor, layout: Layout
) -> tuple[Float[Array, " d"], Float[Array, ""]]:
    """From the other to the one who reacts, and its length."""
    gap = actor.state[layout.position] - other.state[layout.position]
    return gap, jnp.sqrt(jnp.sum(gap**2) + TINY)


def distance_pair(layout: Layout, vectors: int) -> DistancePair:
    return DistancePair(layout, vectors)


def log_distance_pair(layout: Layout, vectors: int) -> DistancePair:
    return DistancePair(layout, vectors, logarithmic=True)


def aligning_pair(layout: Layout, vectors: int) -> DistancePair:
    return DistancePair(layout, vectors, aligning=True)
