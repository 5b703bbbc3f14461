"""The law of motion as a random vector field."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.contacts import Contacts
from comotion.coordinates import Actor
from comotion.coordinates.layout import Layout
from comotion.dynamics.graph import Neighbours
from comotion.functions import AbstractRandomFunction


class Scene(eqx.Module):
    """What the field needs to know about the objects beside their states."""

    properties: Float[Array, "A C"]
    controls: Float[Array, "A U"]
    neighbours: Bool[Array, "A A"]
    active: Bool[Array, " A"]
    found: Neighbours | None = None
    """whom everyone hears, where that was found before"""

    def actors(self, states: Float[Array, "A D"]) -> Actor:
        return Actor(states, self.properties, self.controls)


class AbstractField(eqx.Module):
    """One draw of the law: the rate of change of all states, the same at every call."""

    @property
    def contact(self) -> Contacts | None:
        """What happens where things touch, if the law knows."""
        return None

    @property
    def searches(self) -> bool:
        """Whether it hears those who are near, and `neighbours` finds them."""
        return False

    def neighbours(self, states: Float[Array, "A D"], scene: Scene) -> Neighbours | None:
        """Whom everyone hears from here: found once for an interval, not at every call."""
        return None

    @abstractmethod
    def __call__(self, states: Float[Array, "A D"], scene: Scene) -> Float[Array, "A D"]: ...


class AbstractDynamics(eqx.Module):
    """A distribution over laws of motion."""

    layout: eqx.AbstractVar[Layout]
    order: eqx.AbstractVar[int]

    @abstractmethod
    def draw(self, *, key: Key) -> AbstractField: ...

    @abstractmethod
    def functions(self) -> dict[str, AbstractRandomFunction]:
        """The random functions it is made of, by their names in the paper."""

    def kl(self) -> dict[str, Float[Array, ""]]:
        """KL of each random function from its prior, by the function's name."""
        return {name: function.kl() for name, function in self.functions().items()}


def complete_rates(
    learned: Float[Array, "A R"],
    states: Float[Array, "A D"],
    active: Bool[Array, " A"],
    layout: Layout,
    order: int,
) -> Float[Array, "A D"]:
    """Rates of the whole state from the learned part; objects outside the scene stand still."""
    if order == 2:
        learned = jnp.concatenate([states[:, layout.velocity], learned], axis=1)
    return jnp.where(active[:, None], learned, 0.0)
