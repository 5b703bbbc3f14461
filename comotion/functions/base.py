"""What every unknown function of a model is: something that can be drawn, and a KL."""

import abc

import equinox as eqx
from jaxtyping import Array, Float

from comotion._types import Key


class AbstractDraw(eqx.Module):
    """One function drawn from a random function: the same function each time it is called."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """Evaluate the function at any number of inputs."""


class AbstractRandomFunction(eqx.Module):
    """A distribution over functions from `in_size` inputs to `out_size` outputs."""

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
