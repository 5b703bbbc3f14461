"""How the messages an object receives become one rate."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.coordinates import Actor
from comotion.dynamics.graph import sum_over_neighbours
from comotion.functions import AbstractDraw, AbstractRandomFunction

NOISE_ROWS = 10_000


@dataclass(frozen=True)
class AccumulationSizes:
    """What an accumulation may be built for, and how it gets functions of its own."""

    actor: int
    """entries of state and properties of one object"""
    rates: int
    most_heard: int
    function: Callable[[int, int, Key], AbstractRandomFunction]
    """makes a function as large as f_b from its numbers of inputs and outputs"""


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

    @classmethod
    @abstractmethod
    def build(cls, sizes: AccumulationSizes, *, key: Key) -> "AbstractAccumulation":
        """Before any data are seen."""

    @abstractmethod
    def draw(self, *, key: Key) -> AbstractRule: ...

    @abstractmethod
    def functions(self) -> dict[str, AbstractRandomFunction]:
        """The random functions it has beside f_s and f_b, by their names."""

    def adapted_to(
        self, actors: Actor, others: Actor, rate_sizes: Float[np.ndarray, " R"], *, key: Key
    ) -> "AbstractAccumulation":
        """The same for objects and others they hear as in the data; by default as it is."""
        return self


class SumRule(AbstractRule):
    def __call__(self, messages: Messages) -> Float[Array, "A R"]:
        return messages.own + sum_over_neighbours(messages.received, messages.heard)


class Sum(AbstractAccumulation):
    """f_s + Σ f_b, the only rule that keeps f_s and f_b apart."""

    @classmethod
    def build(cls, sizes: AccumulationSizes, *, key: Key) -> "Sum":
        return cls()

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

    @classmethod
    def build(cls, sizes: AccumulationSizes, *, key: Key) -> "Nonlinear":
        return cls(sizes.function(sizes.rates * (1 + sizes.most_heard), sizes.rates, key))

    def adapted_to(
        self, actors: Actor, others: Actor, rate_sizes: Float[np.ndarray, " R"], *, key: Key
    ) -> "Nonlinear":
        """Messages are not seen in the data; they are taken to be as large as the rates."""
        key_noise, key_function = jax.random.split(key)
        sizes = np.tile(rate_sizes, self.function.in_size // len(rate_sizes))
        noise = np.asarray(jax.random.normal(key_noise, (NOISE_ROWS, len(sizes))))
        return Nonlinear(self.function.adapted_to(noise * sizes, rate_sizes, key=key_function))

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

    @classmethod
    def build(cls, sizes: AccumulationSizes, *, key: Key) -> "Weighted":
        return cls(sizes.function(2 * sizes.actor, 1, key))

    def adapted_to(
        self, actors: Actor, others: Actor, rate_sizes: Float[np.ndarray, " R"], *, key: Key
    ) -> "Weighted":
        inputs = np.asarray(weight_inputs(actors, others), np.float64)
        return Weighted(self.function.adapted_to(inputs, np.ones(1), key=key))

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
