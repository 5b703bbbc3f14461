"""A neural network with two hidden layers: a random function that is not random."""

import math
from collections.abc import Callable
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.backend.fast_math import softplus
from comotion.backend.row_batching import rowwise
from comotion.config import parts
from comotion.functions.base import AbstractDraw, AbstractRandomFunction, Capacity


def lip_swish(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """Swish with a slope of at most one."""
    return jax.nn.swish(x) / 1.1


ACTIVATIONS: dict[str, Callable[[Array], Array]] = parts.ACTIVATIONS
ACTIVATIONS |= {
    "elu": jax.nn.elu,
    "relu": jax.nn.relu,
    "softplus": softplus,
    "tanh": jnp.tanh,
    "swish": jax.nn.swish,
    "lip-swish": lip_swish,
}


class Network(AbstractDraw):
    """Weights (inputs × outputs) and biases, one of each per layer."""

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    activation: str = eqx.field(static=True)

    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        rows = x.reshape(-1, x.shape[-1])
        return _evaluate(self, rows).reshape(*x.shape[:-1], self.biases[-1].shape[0])


@rowwise
def _evaluate(network: Network, x: Float[Array, "N I"]) -> Float[Array, "N Q"]:
    activation, hidden = ACTIVATIONS[network.activation], x
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        hidden = activation(hidden @ weight + bias[None])
    return hidden @ network.weights[-1] + network.biases[-1][None]


def init_network(*, in_size: int, out_size: int, hidden: int, activation: str, key: Key) -> Network:
    """Normal weights of variance 1/inputs, zero biases."""
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"There is no activation {activation!r}: choose one of {', '.join(ACTIVATIONS)}."
        )
    sizes = [in_size, hidden, hidden, out_size]
    weights = tuple(
        jax.random.normal(key, (before, after), FAST) / math.sqrt(before)
        for key, (before, after) in zip(jax.random.split(key, 3), pairwise(sizes), strict=True)
    )
    return Network(weights, tuple(jnp.zeros(size, FAST) for size in sizes[1:]), activation)


def network_parameters(in_size: int, out_size: int, hidden: int) -> int:
    sizes = [in_size, hidden, hidden, out_size]
    return sum((before + 1) * after for before, after in pairwise(sizes))


class MLP(AbstractRandomFunction):
    """A network whose every draw is the network itself."""

    network: Network

    @classmethod
    def init(
        cls,
        *,
        in_size: int,
        out_size: int,
        hidden: int = 256,
        activation: str = "softplus",
        key: Key,
    ) -> "MLP":
        """A network with two hidden layers of `hidden` units."""
        return cls(
            init_network(
                in_size=in_size, out_size=out_size, hidden=hidden, activation=activation, key=key
            )
        )

    @classmethod
    def build(cls, in_size: int, out_size: int, capacity: Capacity, *, key: Key) -> "MLP":
        return cls.init(
            in_size=in_size,
            out_size=out_size,
            hidden=capacity.hidden,
            activation=capacity.activation,
            key=key,
        )

    @classmethod
    def parameters(cls, in_size: int, out_size: int, capacity: Capacity) -> int:
        return network_parameters(in_size, out_size, capacity.hidden)

    @property
    def in_size(self) -> int:
        return self.network.weights[0].shape[0]

    @property
    def out_size(self) -> int:
        return self.network.weights[-1].shape[1]

    def draw(self, *, key: Key) -> Network:
        del key  # there is only one function to draw
        return self.network

    def kl(self) -> Float[Array, ""]:
        return jnp.zeros((), self.network.weights[0].dtype)
