"""One function of all objects at once: the standard GP-ODE and neural ODE."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.coordinates import Actor
from comotion.coordinates.layout import Layout
from comotion.dynamics.base import AbstractDynamics, AbstractField, Scene, complete_rates
from comotion.functions import AbstractDraw, AbstractRandomFunction


class JointDynamics(AbstractDynamics):
    """Number and order of the objects are those it was built for."""

    function: AbstractRandomFunction
    layout: Layout = eqx.field(static=True)
    order: int = eqx.field(static=True)

    def draw(self, *, key: Key) -> "JointField":
        return JointField(self.function.draw(key=key), self.layout, self.order)

    def functions(self) -> dict[str, AbstractRandomFunction]:
        return {"f": self.function}


class JointField(AbstractField):
    function: AbstractDraw
    layout: Layout = eqx.field(static=True)
    order: int = eqx.field(static=True)

    def __call__(self, states: Float[Array, "A D"], scene: Scene) -> Float[Array, "A D"]:
        learned = self.function(joint_inputs(scene.actors(states)))
        learned = learned.reshape(states.shape[0], -1)  # (A, R)
        return complete_rates(learned, states, scene.active, self.layout, self.order)


def joint_inputs(actors: Actor) -> Float[Array, " I"]:
    """Everything about everyone in one row."""
    everything = jnp.concatenate([actors.state, actors.properties, actors.controls], axis=1)
    return everything.reshape(-1)
