"""What every unknown function of a model is: something that can be drawn, and a KL."""

import abc
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.config import SystemConfig
from comotion.layout import Layout


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

    @property
    def in_size(self) -> int:
        return self.inputs.shape[1]

    @property
    def out_size(self) -> int:
        return len(self.scale)

    @property
    def hidden(self) -> int:
        config = self.config
        return config.hidden_alone if self.role == "alone" else config.hidden_pair

    @property
    def inducing(self) -> int:
        config = self.config
        return config.inducing_alone if self.role == "alone" else config.inducing_pair


class AbstractDraw(eqx.Module):
    """One function drawn from a random function: the same function each time it is called."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """Evaluate the function at any number of inputs."""


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
