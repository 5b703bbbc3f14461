"""Who hears whom: every graph becomes a list of neighbours per object, so cost follows edges."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Neighbours(eqx.Module):
    """For each object `a` the objects `index[a]` it hears, where `heard[a]` is true."""

    index: Int[Array, "A K"]
    heard: Bool[Array, "A K"]


class AbstractGraph(eqx.Module):
    """Turns positions and permissions into neighbours; called anew along the trajectory."""

    in_turn: ClassVar[bool] = False
    """whether every object `a` lists all the others, in the order a+1, a+2, …"""

    @abstractmethod
    def __call__(
        self, positions: Float[Array, "A d"], allowed: Bool[Array, "A A"]
    ) -> Neighbours: ...


class GivenGraph(AbstractGraph):
    """All pairs the data allow: complete unless the data carry a graph of their own."""

    in_turn: ClassVar[bool] = True

    def __call__(self, positions: Float[Array, "A d"], allowed: Bool[Array, "A A"]) -> Neighbours:
        count = allowed.shape[0]
        objects = jnp.arange(count)
        others = (objects[:, None] + jnp.arange(1, count)[None, :]) % count
        return Neighbours(others, jnp.take_along_axis(allowed, others, axis=1))


class EmptyGraph(AbstractGraph):
    """Nobody hears anybody: the interaction is not even evaluated."""

    def __call__(self, positions: Float[Array, "A d"], allowed: Bool[Array, "A A"]) -> Neighbours:
        return Neighbours(jnp.zeros((allowed.shape[0], 0), int), allowed[:, :0])


class NearestGraph(AbstractGraph):
    """The `count` nearest allowed objects (None: all), no farther than `radius`."""

    count: int | None = eqx.field(static=True)
    radius: float = eqx.field(static=True, default=float("inf"))

    def __call__(self, positions: Float[Array, "A d"], allowed: Bool[Array, "A A"]) -> Neighbours:
        offsets = positions[:, None, :] - positions[None, :, :]
        squared = jnp.where(allowed, jnp.sum(offsets**2, axis=-1), jnp.inf)
        others = positions.shape[0] - 1
        count = others if self.count is None else min(self.count, others)
        # Not a sort: of a thousand objects it would cost more than the messages of the nearest.
        nearness, index = jax.lax.top_k(jax.lax.stop_gradient(-squared), count)
        heard = -nearness <= self.radius**2
        return Neighbours(index, heard & jnp.take_along_axis(allowed, index, axis=1))


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
