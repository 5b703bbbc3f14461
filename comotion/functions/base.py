"""What every unknown function of a model is: something that can be drawn, and a KL."""

import abc
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import Key


@dataclass(frozen=True)
class Capacity:
    """How large a function is and what it is made of; each kind takes what concerns it."""

    inducing: int = 250
    """inducing inputs of a Gaussian process"""
    hidden: int = 256
    """hidden units of each layer of a network"""
    kernel: str = "se"
    covariance: str = "diagonal"
    fourier_features: int = 256
    activation: str = "softplus"
    kl_scale_dim: int = 1
    """what the KL of a Bayesian network is scaled down to: the size of the state"""


class AbstractDraw(eqx.Module):
    """One function drawn from a random function: the same function each time it is called."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """Evaluate the function at any number of inputs."""

    def odd(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        """(f(x) - f(-x)) / 2."""
        there, opposite = self(jnp.stack([x, -x]))
        return 0.5 * (there - opposite)


class Nothing(AbstractDraw):
    """What is drawn where nothing acts: a random function need not be asked, nor compiled."""

    out_size: int = eqx.field(static=True)

    def __call__(self, x: Float[Array, "*batch I"]) -> Float[Array, "*batch Q"]:
        return jnp.zeros((*x.shape[:-1], self.out_size), x.dtype)


class AbstractRandomFunction(eqx.Module):
    """A distribution over functions from `in_size` inputs to `out_size` outputs."""

    @classmethod
    @abc.abstractmethod
    def build(
        cls, in_size: int, out_size: int, capacity: Capacity, *, key: Key
    ) -> "AbstractRandomFunction":
        """Before any data are seen: for inputs of mean zero and variance one, outputs about one."""

    @classmethod
    @abc.abstractmethod
    def parameters(cls, in_size: int, out_size: int, capacity: Capacity) -> int:
        """How many parameters grow with its size: what a joint system is allowed as many of."""

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

    def adapted_to(
        self, inputs: Float[np.ndarray, "N I"], scale: Float[np.ndarray, " Q"], *, key: Key
    ) -> "AbstractRandomFunction":
        """The same before training, but for inputs that data visit and outputs as large as
        `scale`; by default as it is.
        """
        return self
