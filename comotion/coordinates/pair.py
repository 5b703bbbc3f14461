"""Coordinates of f_b, the law of one object's effect on another."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion.coordinates.base import AbstractPairCoordinates, Actor
from comotion.coordinates.layout import Layout

TINY = 1e-12


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
        tangent = sliding / slide
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


def radial_pair(layout: Layout, vectors: int) -> RadialPair:
    return RadialPair(layout, vectors, tangential=layout.has_velocity)


def central_pair(layout: Layout, vectors: int) -> RadialPair:
    return RadialPair(layout, vectors, tangential=False)
