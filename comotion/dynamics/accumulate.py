"""How the messages an object receives become one rate."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.coordinates import Actor
from comotion.functions import AbstractDraw, AbstractRandomFunction
from comotion.graph import sum_over_neighbours


class Messages(eqx.Module):
    """What each object says to itself (f_s) and what it hears from the others (f_b)."""

    own: Float[Array, "A R"]
    received: Float[Array, "A K R"]
    heard: Bool[Array, "A K"]
    actors: Actor
    others: Actor


class AbstractRule(eqx.Module):
    """One draw of an accumulation, used along a whole trajectory."""

    @abstractmethod
    def __call__(self, messages: Messages) -> Float[Array, "A R"]: ...


class AbstractAccumulation(eqx.Module):
    """A distribution over rules."""

    @abstractmethod
    def draw(self, *, key: Key) -> AbstractRule: ...

    @abstractmethod
    def functions(self) -> dict[str, AbstractRandomFunction]: ...


class SumRule(AbstractRule):
    def __call__(self, messages: Messages) -> Float[Array, "A R"]:
        return messages.own + sum_over_neighbours(messages.received, messages.heard)


class Sum(AbstractAccumulation):
    """f_s + Σ f_b, the only rule that keeps f_s and f_b apart."""

    def draw(self, *, key: Key) -> SumRule:
        return SumRule()

    def functions(self) -> dict[str, AbstractRandomFunction]:
        return {}


class NonlinearRule(AbstractRule):
    function: AbstractDraw

    def __call__(self, messages: Messages) -> Float[Array, "A R"]:
        received = jnp.where(messages.heard[:, :, None], messages.received, 0.0)
        everything = jnp.concatenate([messages.own[:, None, :], received], axis=1)
        return self.function(everything.reshape(everything.shape[0], -1))


class Nonlinear(AbstractAccumulation):
    """f_c of all messages side by side: needs the number of objects it was built for."""

    function: AbstractRandomFunction

    def draw(self, *, key: Key) -> NonlinearRule:
        return NonlinearRule(self.function.draw(key=key))

    def functions(self) -> dict[str, AbstractRandomFunction]:
        return {"f_c": self.function}


class WeightedRule(AbstractRule):
    function: AbstractDraw

    def __call__(self, messages: Messages) -> Float[Array, "A R"]:
        own = self.function(weight_inputs(messages.actors, messages.actors))  # (A, 1)
        hearing = jax.tree.map(_beside(messages.heard.shape[1]), messages.actors)
        received = self.function(weight_inputs(hearing, messages.others))[..., 0]  # (A, K)
        received = jnp.where(messages.heard, received, -jnp.inf)
        weights = jax.nn.softmax(jnp.concatenate([own, received], axis=1), axis=1)
        everything = jnp.concatenate([messages.own[:, None, :], messages.received], axis=1)
        return jnp.einsum("ak,akr->ar", weights, everything)


class Weighted(AbstractAccumulation):
    """Messages weighted by a softmax of f_w over the object itself and those it hears."""

    function: AbstractRandomFunction

    def draw(self, *, key: Key) -> WeightedRule:
        return WeightedRule(self.function.draw(key=key))

    def functions(self) -> dict[str, AbstractRandomFunction]:
        return {"f_w": self.function}


def weight_inputs(actors: Actor, others: Actor) -> Float[Array, "*b I"]:
    """Inputs of f_w: both states and both properties."""
    return jnp.concatenate(
        [actors.state, others.state, actors.properties, others.properties], axis=-1
    )


def _beside(count: int):
    def repeat(leaf: Float[Array, "A F"]) -> Float[Array, "A K F"]:
        return jnp.broadcast_to(leaf[:, None, :], (leaf.shape[0], count, leaf.shape[1]))

    return repeat
