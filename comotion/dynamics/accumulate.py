"""How the messages an object receives become one rate."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.config import SystemConfig
from comotion.coordinates import Actor
from comotion.dynamics.graph import sum_over_neighbours
from comotion.functions import (
    AbstractDraw,
    AbstractRandomFunction,
    FunctionRequest,
    make_function,
)
from comotion.layout import Layout

NOISE_ROWS = 10_000


@dataclass(frozen=True)
class Encounters:
    """Who hears whom in the data: what the functions of an accumulation may start from."""

    actors: Actor  # leaves have axes (pair, feature), as those of the others beside them
    others: Actor
    rate_sizes: Float[np.ndarray, " R"]
    most_heard: int
    layout: Layout
    config: SystemConfig

    def request(
        self, inputs: Float[np.ndarray, "N I"], scale: Float[np.ndarray, " Q"]
    ) -> FunctionRequest:
        """A function as large as f_b with these inputs and outputs."""
        return FunctionRequest(inputs, scale, "pair", self.layout, self.config)


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
    def requests(cls, seen: Encounters, *, key: Key) -> dict[str, FunctionRequest]:
        """The random functions it needs beside f_s and f_b, by their names."""

    @classmethod
    @abstractmethod
    def from_requests(
        cls, requests: Mapping[str, FunctionRequest], *, key: Key
    ) -> "AbstractAccumulation":
        """The accumulation before training; its own requests are among those given."""

    @abstractmethod
    def draw(self, *, key: Key) -> AbstractRule: ...

    @abstractmethod
    def functions(self) -> dict[str, AbstractRandomFunction]: ...


class SumRule(AbstractRule):
    def __call__(self, messages: Messages) -> Float[Array, "A R"]:
        return messages.own + sum_over_neighbours(messages.received, messages.heard)


class Sum(AbstractAccumulation):
    """f_s + Σ f_b, the only rule that keeps f_s and f_b apart."""

    @classmethod
    def requests(cls, seen: Encounters, *, key: Key) -> dict[str, FunctionRequest]:
        return {}

    @classmethod
    def from_requests(cls, requests: Mapping[str, FunctionRequest], *, key: Key) -> "Sum":
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
    def requests(cls, seen: Encounters, *, key: Key) -> dict[str, FunctionRequest]:
        """Messages are not seen in the data; they are taken to be as large as the rates."""
        sizes = np.tile(seen.rate_sizes, 1 + seen.most_heard)
        noise = np.asarray(jax.random.normal(key, (NOISE_ROWS, len(sizes))))
        return {"f_c": seen.request(noise * sizes, seen.rate_sizes)}

    @classmethod
    def from_requests(cls, requests: Mapping[str, FunctionRequest], *, key: Key) -> "Nonlinear":
        return cls(make_function(requests["f_c"], key=key))

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
    def requests(cls, seen: Encounters, *, key: Key) -> dict[str, FunctionRequest]:
        inputs = np.asarray(weight_inputs(seen.actors, seen.others), np.float64)
        return {"f_w": seen.request(inputs, np.ones(1))}

    @classmethod
    def from_requests(cls, requests: Mapping[str, FunctionRequest], *, key: Key) -> "Weighted":
        return cls(make_function(requests["f_w"], key=key))

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
