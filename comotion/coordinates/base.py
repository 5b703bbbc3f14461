"""Coordinates decide what a random function sees and what its outputs mean.

They are linear in the function's outputs, so when the function is a Gaussian process the rate
of the state is one too, and draws, KL and uncertainty stay exact.
"""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion.contacts import Contacts
from comotion.coordinates.layout import Layout
from comotion.functions import AbstractDraw

AT_REST = 0.05
"""In units in which velocities are about one."""


class Actor(eqx.Module):
    """What is known about one object at one moment."""

    state: Float[Array, "*b D"]
    properties: Float[Array, "*b C"]
    controls: Float[Array, "*b U"]


def heading(actor: Actor, layout: Layout) -> tuple[Float[Array, ""], Float[Array, " d"]]:
    """Speed and its direction; an object at rest has none, and a slow one little of it."""
    velocity = actor.state[layout.velocity]
    if not layout.has_velocity:
        velocity = jnp.zeros(layout.spatial, velocity.dtype)
    speed = jnp.sqrt(jnp.sum(velocity**2) + AT_REST**2)
    return speed, velocity / speed


class AbstractCoordinates(eqx.Module):
    """How many inputs and outputs the function has that is seen through them."""

    takes_extra: ClassVar[bool] = False
    """whether they speak of state entries beside position and velocity"""
    layout: eqx.AbstractVar[Layout]
    vectors: eqx.AbstractVar[int]
    """how many spatial vectors of the state have a learned rate"""

    @property
    @abstractmethod
    def in_size(self) -> int: ...

    @property
    @abstractmethod
    def out_size(self) -> int: ...


class AbstractAloneCoordinates(AbstractCoordinates):
    """Inputs of f_s for one object, and the rates its outputs stand for."""

    @abstractmethod
    def inputs(self, actor: Actor) -> Float[Array, "*k I"]: ...

    @abstractmethod
    def rates(self, outputs: Float[Array, "*k Q"], actor: Actor) -> Float[Array, " R"]: ...

    def among(self, contacts: Contacts) -> "AbstractAloneCoordinates":
        """The same where walls are known; most do not ask about them."""
        return self

    def ask(self, function: AbstractDraw, actors: Actor) -> Float[Array, "A R"]:
        """The rates of many actors; one that can ask for less than all inputs may do so."""
        inputs = jax.vmap(self.inputs)(actors)
        return jax.vmap(self.rates)(function(inputs), actors)


class AbstractPairCoordinates(AbstractCoordinates):
    """Inputs of f_b for an object and one it hears, and the rates its outputs stand for."""

    opposite: ClassVar[bool] = False
    """whether the two objects of a pair always get opposite rates, so that one tells both"""

    def reaching(self, distance: float) -> "AbstractPairCoordinates":
        """The same where neighbours usually are so far away; most have no range to set."""
        return self

    @abstractmethod
    def inputs(self, actor: Actor, other: Actor) -> Float[Array, "*k I"]: ...

    @abstractmethod
    def rates(
        self, outputs: Float[Array, "*k Q"], actor: Actor, other: Actor
    ) -> Float[Array, " R"]: ...
