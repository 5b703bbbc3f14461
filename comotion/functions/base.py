"""What every unknown function of a model is: something that can be drawn, and a KL."""

import abc
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.config import SystemConfig
from comotion.layout import Layout

Count = Callable[[int, int, int], int]
"""Number of parameters for so many inputs and outputs, and a size."""


@dataclass(frozen=True)
class FunctionRequest:
    """What a function is wanted for; how it starts from that is up to the kind of function."""

    inputs: Float[np.ndarray, "N I"]
    """inputs the data visit"""
    scale: Float[np.ndarray, " Q"]
    """about how large each output is"""
    role: Literal["alone", "pair"]
    """whose sizes it takes: those of f_s or those of f_b"""
    layout: Layout
    config: SystemConfig
    replaces: tuple[tuple[int, int], ...] = ()
    """inputs and outputs of the f_s and f_b it stands for, whose parameters it may have"""

    @property
    def in_size(self) -> int:
        return self.inputs.shape[1]

    @property
    def out_size(self) -> int:
        return len(self.scale)

    def hidden(self, parameters: Count) -> int:
        """Hidden units; `parameters` counts those of a network."""
        return self._sized(self.config.hidden_alone, self.config.hidden_pair, parameters)

    def inducing(self, parameters: Count) -> int:
        """Inducing inputs; `parameters` counts those of a Gaussian process."""
        return self._sized(self.config.inducing_alone, self.config.inducing_pair, parameters)

    def _sized(self, alone: int, pair: int, parameters: Count) -> int:
        if not self.replaces:
            return alone if self.role == "alone" else pair
        pairs = zip(self.replaces, (alone, pair), strict=True)
        budget = sum(parameters(*sizes, size) for sizes, size in pairs)
        own = partial(parameters, self.in_size, self.out_size)
        return 1 + bisect_right(range(2, 1 + budget), budget, key=own)


class AbstractDraw(eqx.Module):
    """One function drawn from a random function: the same function each time it is called."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """Evaluate the function at any number of inputs."""

    def odd(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """(f(x) - f(-x)) / 2."""
        there, opposite = self(jnp.stack([x, -x]))
        return 0.5 * (there - opposite)


class AbstractRandomFunction(eqx.Module):
    """A distribution over functions from `in_size` inputs to `out_size` outputs."""

    @classmethod
    @abc.abstractmethod
    def from_request(cls, request: FunctionRequest, *, key: Key) -> "AbstractRandomFunction":
        """The function before training."""

    @property
    @abc.abstractmethod
    def in_size(self) -> int:
        """Number of inputs."""

    @property
    @abc.abstractmethod
    def out_size(self) -> int:
        """Number of outputs."""

    @abc.abstractmethod
    def draw(self, *, key: Key) -> AbstractDraw:
        """Draw one function."""

    @abc.abstractmethod
    def kl(self) -> Float[Array, ""]:
        """Divergence of this distribution from its prior, as the bound counts it."""
