"""Coordinates of f_b, the law of one object's effect on another."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST
from comotion.coordinates.base import AbstractPairCoordinates, Actor, heading
from comotion.coordinates.layout import Layout

TINY = 1e-12
NEIGHBOURS_AWAY = 2.0
"""Up to this, in usual distances of the nearest neighbour, others are taken notice of at first."""
STRAIGHT_AHEAD = 0.02
HEAD_ON = 1e-4
"""Slower sliding is rounding noise: its direction means nothing."""


class StackedPair(AbstractPairCoordinates):
    """Both objects side by side, with the first `differenced` state entries subtracted."""

    takes_extra: ClassVar[bool] = True
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)
    differenced: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return 2 * (self.layout.state + self.layout.properties) - self.differenced

    @property
    def out_size(self) -> int:
        return self.vectors * self.layout.spatial + self.layout.extra

    def inputs(self, actor: Actor, other: Actor) -> Float[Array, " I"]:
        cut = self.differenced
        difference = actor.state[:cut] - other.state[:cut]
        rest = [actor.state[cut:], other.state[cut:]]
        return jnp.concatenate([difference, *rest, actor.properties, other.properties])

    def rates(self, outputs: Float[Array, " Q"], actor: Actor, other: Actor) -> Float[Array, " R"]:
        return outputs


class RadialPair(AbstractPairCoordinates):
    """f_b = n·a(s) + t·b(s) in the local frame of the pair.

    With scalar Gaussian processes a and b this is the matrix-valued kernel n nᵀ k_a + t tᵀ k_b:
    turning, shifting or mirroring the scene does the same to every draw. The scalars s are the
    same for both objects of a pair, which therefore get opposite rates: their total momentum
    stays. Without the tangential part b, their angular momentum does too.
    """

    opposite: ClassVar[bool] = True
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)
    tangential: bool = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return 1 + (2 if self.layout.has_velocity else 0) + 2 * self.layout.properties

    @property
    def out_size(self) -> int:
        return (2 if self.tangential else 1) * self.vectors

    def inputs(self, actor: Actor, other: Actor) -> Float[Array, " I"]:
        return local_frame(actor, other, self.layout).scalars

    def rates(self, outputs: Float[Array, " Q"], actor: Actor, other: Actor) -> Float[Array, " R"]:
        frame = local_frame(actor, other, self.layout)
        along, across = outputs[: self.vectors], outputs[self.vectors :]
        rates = jnp.outer(along, frame.normal)
        if self.tangential:
            rates = rates + jnp.outer(across, frame.tangent)
        return rates.reshape(-1)


class NoPair(AbstractPairCoordinates):
    """There is no f_b: nobody is heard."""

    takes_extra: ClassVar[bool] = True
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return 1

    @property
    def out_size(self) -> int:
        return 0

    def inputs(self, actor: Actor, other: Actor) -> Float[Array, " I"]:
        return jnp.zeros(1, actor.state.dtype)

    def rates(self, outputs: Float[Array, " Q"], actor: Actor, other: Actor) -> Float[Array, " R"]:
        entries = self.vectors * self.layout.spatial + self.layout.extra
        return jnp.zeros(entries, actor.state.dtype)


class BodyPair(AbstractPairCoordinates):
    """f_b as the one who reacts sees it: ahead and aside of its own heading.

    The scalars are how far the other is ahead and aside and how fast it moves that way relative
    to the one who reacts; the rates are along the heading and towards the other's side. Nothing
    makes the two of a pair react alike: attention and unequal masses are possible. The effect
    fades with distance, so that many far neighbours add up to nothing.
    """

    log_range: Float[Array, ""]
    """log distance beyond which no notice is taken"""
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    def reaching(self, distance: float) -> "BodyPair":
        log_range = jnp.log(jnp.asarray(NEIGHBOURS_AWAY * distance, FAST))
        return dataclasses.replace(self, log_range=log_range)

    @property
    def in_size(self) -> int:
        return 2 * self.layout.vectors + 2 * self.layout.properties

    @property
    def out_size(self) -> int:
        return 2 * self.vectors

    def inputs(self, actor: Actor, other: Actor) -> Float[Array, " I"]:
        axes, layout = self._axes(actor, other), self.layout
        parts = (layout.position, layout.velocity)[: layout.vectors]
        apart = [other.state[part] - actor.state[part] for part in parts]
        scalars = [jnp.dot(vector, axis) for vector in apart for axis in axes]
        return jnp.concatenate([jnp.stack(scalars), actor.properties, other.properties])

    def rates(self, outputs: Float[Array, " Q"], actor: Actor, other: Actor) -> Float[Array, " R"]:
        ahead, aside = self._axes(actor, other)
        separation = other.state[self.layout.position] - actor.state[self.layout.position]
        fading = jnp.exp(-jnp.sum(separation**2) * jnp.exp(-2.0 * self.log_range))
        along, across = outputs[: self.vectors], outputs[self.vectors :]
        return (fading * (jnp.outer(along, ahead) + jnp.outer(across, aside))).reshape(-1)

    def _axes(self, actor: Actor, other: Actor) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        """The heading, and the side of it on which the other is; none for one straight ahead."""
        _, ahead = heading(actor, self.layout)
        separation = other.state[self.layout.position] - actor.state[self.layout.position]
        across = separation - jnp.dot(separation, ahead) * ahead
        return ahead, across / jnp.sqrt(jnp.sum(across**2) + STRAIGHT_AHEAD**2)


class LocalFrame(eqx.Module):
    """The line between two objects, the direction they slide past each other, and scalars."""

    normal: Float[Array, " d"]
    tangent: Float[Array, " d"]
    scalars: Float[Array, " s"]


def local_frame(actor: Actor, other: Actor, layout: Layout) -> LocalFrame:
    """Scalars are distance, approach speed, sliding speed, sums and products of properties."""
    separation = actor.state[layout.position] - other.state[layout.position]
    distance = jnp.sqrt(jnp.sum(separation**2) + TINY)
    normal = separation / distance
    scalars, tangent = [distance[None]], jnp.zeros_like(normal)
    if layout.has_velocity:
        relative = actor.state[layout.velocity] - other.state[layout.velocity]
        approach = jnp.dot(relative, normal)
        sliding = relative - approach * normal
        slide = jnp.sqrt(jnp.sum(sliding**2) + TINY)
        tangent = sliding / jnp.maximum(slide, HEAD_ON)
        scalars += [approach[None], slide[None]]
    symmetric = [actor.properties + other.properties, actor.properties * other.properties]
    return LocalFrame(normal, tangent, jnp.concatenate([*scalars, *symmetric]))


def raw_pair(layout: Layout, vectors: int) -> StackedPair:
    return StackedPair(layout, vectors, differenced=0)


def relative_pair(layout: Layout, vectors: int) -> StackedPair:
    """The paper's choice: difference of positions, both velocities, both properties."""
    return StackedPair(layout, vectors, differenced=layout.spatial)


def galilean_pair(layout: Layout, vectors: int) -> StackedPair:
    """The same in every uniformly moving frame."""
    return StackedPair(layout, vectors, differenced=layout.spatial * layout.vectors)


def body_pair(layout: Layout, vectors: int) -> BodyPair:
    return BodyPair(log_range=jnp.zeros((), FAST), layout=layout, vectors=vectors)


def radial_pair(layout: Layout, vectors: int) -> RadialPair:
    return RadialPair(layout, vectors, tangential=layout.has_velocity)


def central_pair(layout: Layout, vectors: int) -> RadialPair:
    return RadialPair(layout, vectors, tangential=False)
