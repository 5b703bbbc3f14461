"""Who hears whom: every graph becomes a list of neighbours per object, so cost follows edges."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from comotion.dynamics.nearest import among_all, by_boxes

SMALL_CROWD = 300
"""In a smaller one all pairs are compared sooner than boxes are packed."""


class Neighbours(eqx.Module):
    """For each object `a` the objects `index[a]` it hears, where `heard[a]` is true."""

    index: Int[Array, "A K"]
    heard: Bool[Array, "A K"]


class AbstractGraph(eqx.Module):
    """Turns positions and permissions into neighbours."""

    in_turn: ClassVar[bool] = False
    """whether every object `a` lists all the others, in the order a+1, a+2, …"""
    by_place: ClassVar[bool] = False
    """whether it depends on where objects are, so that it has to be searched for"""

    @property
    def most(self) -> int | None:
        """The most that anybody hears; None: all others."""
        return None

    @abstractmethod
    def __call__(
        self,
        positions: Float[Array, "A d"],
        hears: Bool[Array, "A A"],
        active: Bool[Array, " A"],
    ) -> Neighbours:
        """Only objects that are active hear and are heard."""


class GivenGraph(AbstractGraph):
    """All pairs the data allow: complete unless the data carry a graph of their own."""

    in_turn: ClassVar[bool] = True

    def __call__(
        self,
        positions: Float[Array, "A d"],
        hears: Bool[Array, "A A"],
        active: Bool[Array, " A"],
    ) -> Neighbours:
        count = hears.shape[0]
        objects = jnp.arange(count)
        others = (objects[:, None] + jnp.arange(1, count)[None, :]) % count
        return Neighbours(others, jnp.take_along_axis(both(hears, active), others, axis=1))


class EmptyGraph(AbstractGraph):
    """Nobody hears anybody: the interaction is not even evaluated."""

    @property
    def most(self) -> int:
        return 1

    def __call__(
        self,
        positions: Float[Array, "A d"],
        hears: Bool[Array, "A A"],
        active: Bool[Array, " A"],
    ) -> Neighbours:
        return Neighbours(jnp.zeros((hears.shape[0], 0), int), hears[:, :0])


class NearestGraph(AbstractGraph):
    """The `count` nearest allowed objects (None: all), no farther than `radius`."""

    by_place: ClassVar[bool] = True
    count: int | None = eqx.field(static=True)
    radius: float = eqx.field(static=True, default=float("inf"))

    @property
    def most(self) -> int | None:
        return self.count

    def __call__(
        self,
        positions: Float[Array, "A d"],
        hears: Bool[Array, "A A"],
        active: Bool[Array, " A"],
    ) -> Neighbours:
        positions = jax.lax.stop_gradient(positions)
        others = positions.shape[0] - 1
        count = others if self.count is None else min(self.count, others)
        if others < SMALL_CROWD or count == others:
            found = among_all(positions, count, both(hears, active))
        else:
            found = by_boxes(positions, count, hears, active, self.radius)
        near = jnp.isfinite(found.squared) & (found.squared <= self.radius**2)
        return Neighbours(found.who, near)


def both(hears: Bool[Array, "A A"], active: Bool[Array, " A"]) -> Bool[Array, "A A"]:
    return hears & active[:, None] & active[None, :]


def from_both_sides(messages: Float[Array, "A H R"]) -> Float[Array, "A K R"]:
    """All messages, in turn, from those of the first half, where those of a pair are opposite."""
    count = messages.shape[0]
    back = jnp.arange((count - 1) // 2, 0, -1)
    sender = (jnp.arange(count)[:, None] - back[None]) % count
    return jnp.concatenate([messages, -messages[sender, back[None] - 1]], axis=1)


def sum_over_neighbours(
    messages: Float[Array, "A K R"], heard: Bool[Array, "A K"]
) -> Float[Array, "A R"]:
    return jnp.sum(jnp.where(heard[:, :, None], messages, 0.0), axis=1)
