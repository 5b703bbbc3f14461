"""Stationary correlation functions, k(x, x) = 1, with the frequencies of their spectra."""

import abc
import functools
import operator
from collections.abc import Callable, Sequence
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from comotion._types import EXACT, FAST, Key
from comotion.backend.fast_math import decay
from comotion.backend.normal import standard_normal
from comotion.gp.features import Spectrum


class AbstractAnchoredKernel(eqx.Module):
    """x -> k(x, Z) for fixed Z: everything that depends on Z alone is already computed."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "N I"]) -> Float[Array, "N M"]: ...


class AbstractKernel(eqx.Module):
    """A stationary correlation function; its dtype follows its inputs."""

    @property
    @abc.abstractmethod
    def in_size(self) -> int:
        """Number of inputs."""

    @abc.abstractmethod
    def anchor(self, z: Float[Array, "M I"]) -> AbstractAnchoredKernel:
        """Fix the second argument."""

    @abc.abstractmethod
    def spectrum(self, *, key: Key, features: int) -> Spectrum:
        """Frequencies ω with E[weight² cos(ω·(x - y))] = k(x, y), averaged over features."""

    @abc.abstractmethod
    def lengthscales(self) -> Float[Array, " lengthscales"]:
        """All lengthscales, one after the other."""

    @abc.abstractmethod
    def at_least(self, shortest: Float[Array, " I"]) -> "AbstractKernel":
        """The same kernel with lengthscales no shorter than given for each input."""

    @abc.abstractmethod
    def stretched(self, by: Float[np.ndarray, " I"]) -> "AbstractKernel":
        """The same kernel with the lengthscales of each input multiplied by a number."""

    def __call__(self, x: Float[Array, "N I"], y: Float[Array, "M I"]) -> Float[Array, "N M"]:
        return self.anchor(y)(x)


class AbstractRadial(AbstractKernel):
    """A function of the distance between scaled inputs, of all inputs or of the chosen ones."""

    degrees: ClassVar[int]  # of freedom of its t-distributed spectrum; 0 is normal

    log_lengthscales: Float[Array, " chosen"]
    inputs: tuple[int, ...] = eqx.field(static=True)
    total_inputs: int = eqx.field(static=True)

    @classmethod
    def init(
        cls,
        lengthscales: Float[ArrayLike, " chosen"] | Sequence[float],
        *,
        inputs: Sequence[int] | None = None,
        in_size: int | None = None,
    ) -> "AbstractRadial":
        """`inputs` chooses some of the `in_size` inputs, one lengthscale each; default all."""
        scales = jnp.asarray(lengthscales, FAST)
        chosen = range(len(scales)) if inputs is None else inputs
        total = len(scales) if in_size is None else in_size
        if len(chosen) != len(scales) or not all(0 <= i < total for i in chosen):
            raise ValueError(
                f"A kernel on inputs {tuple(chosen)} of {total} was given {len(scales)} "
                "lengthscales: give one per chosen input, and `in_size` above every index."
            )
        return cls(jnp.log(scales), tuple(chosen), total)

    @staticmethod
    @abc.abstractmethod
    def correlation(squared_distance: Float[Array, "N M"]) -> Float[Array, "N M"]:
        """The kernel as a function of the squared distance between scaled inputs."""

    @property
    def in_size(self) -> int:
        return self.total_inputs

    def lengthscales(self) -> Float[Array, " chosen"]:
        return jnp.exp(self.log_lengthscales)

    def at_least(self, shortest: Float[Array, " I"]) -> "AbstractRadial":
        floor = jnp.log(shortest[jnp.array(self.inputs)]).astype(self.log_lengthscales.dtype)
        return eqx.tree_at(
            lambda k: k.log_lengthscales, self, jnp.maximum(self.log_lengthscales, floor)
        )

    def stretched(self, by: Float[np.ndarray, " I"]) -> "AbstractRadial":
        stretched = np.asarray(self.log_lengthscales) + np.log(by[list(self.inputs)])
        return eqx.tree_at(lambda k: k.log_lengthscales, self, jnp.asarray(stretched, FAST))

    def anchor(self, z: Float[Array, "M I"]) -> "AnchoredRadial":
        inverse = jnp.exp(-self.log_lengthscales.astype(z.dtype))
        # Distances do not depend on the centre, but their rounding errors do.
        centre = jax.lax.stop_gradient(jnp.mean(z, axis=0))
        scale = jnp.zeros((self.in_size, len(self.inputs)), z.dtype)
        scale = scale.at[jnp.array(self.inputs), jnp.arange(len(self.inputs))].set(inverse)
        scaled = (z - centre[None]) @ scale
        return AnchoredRadial(centre, scale, scaled.T, self.correlation)

    def spectrum(self, *, key: Key, features: int) -> Spectrum:
        count = len(self.inputs)
        noise = standard_normal((features, count + self.degrees), EXACT, key=key)
        chosen = noise[:, :count] * jnp.exp(-self.log_lengthscales.astype(EXACT))[None]
        if self.degrees:
            # One chi-squared draw per frequency, shared by its inputs: a multivariate t.
            chi_squared = jnp.sum(noise[:, count:] ** 2, axis=1)
            chosen = chosen * jnp.sqrt(self.degrees / chi_squared)[:, None]
        frequencies = jnp.zeros((features, self.in_size), EXACT)
        frequencies = frequencies.at[:, jnp.array(self.inputs)].set(chosen)
        return Spectrum(frequencies, jnp.ones(features, EXACT))


class AnchoredRadial(AbstractAnchoredKernel):
    centre: Float[Array, " I"]
    scale: Float[Array, "I chosen"]
    scaled: Float[Array, "chosen M"]
    correlation: Callable[[Array], Array] = eqx.field(static=True)

    def __call__(self, x: Float[Array, "N I"]) -> Float[Array, "N M"]:
        scaled = (x - self.centre[None]) @ self.scale
        return self.correlation(_squared_distances(scaled, self.scaled))


# Up to here differences are as fast as a matrix product, and inducing inputs lie so close
# together that the rounding errors of the product would be felt.
_FEW_INPUTS = 4


def _plain_distances(x: Float[Array, "N I"], z: Float[Array, "I M"]) -> Float[Array, "N M"]:
    """Squared."""
    if len(z) <= _FEW_INPUTS:
        squares = ((column[:, None] - row[None]) ** 2 for column, row in zip(x.T, z, strict=True))
        return functools.reduce(operator.add, squares)
    norms = jnp.sum(x**2, axis=1)[:, None] + jnp.sum(z**2, axis=0)[None]
    return norms - 2 * (x @ z)


def _with_inputs(x: Array, z: Array) -> tuple[Array, tuple[Array, Array]]:
    return _plain_distances(x, z), (x, z)


def _from_products(inputs: tuple[Array, Array], slope: Float[Array, "N M"]) -> tuple[Array, Array]:
    """One matrix product for the slopes and their sums, each way: two to three times as fast as
    the reductions that differentiating the differences would give."""
    x, z = inputs
    z_and_one = jnp.concatenate([z, jnp.ones_like(z[:1])])
    x_and_one = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    over_z = jnp.einsum("nm,im->ni", slope, z_and_one)
    over_x = jnp.einsum("nm,ni->im", slope, x_and_one)
    return 2 * (x * over_z[:, -1:] - over_z[:, :-1]), 2 * (z * over_x[-1:] - over_x[:-1])


_squared_distances = jax.custom_vjp(_plain_distances)
_squared_distances.defvjp(_with_inputs, _from_products)


class SquaredExponential(AbstractRadial):
    """exp(-r²/2)."""

    degrees: ClassVar[int] = 0

    @staticmethod
    def correlation(squared_distance: Float[Array, "N M"]) -> Float[Array, "N M"]:
        return decay(0.5 * jnp.maximum(squared_distance, 0))


class Matern12(AbstractRadial):
    """exp(-r)."""

    degrees: ClassVar[int] = 1

    @staticmethod
    def correlation(squared_distance: Float[Array, "N M"]) -> Float[Array, "N M"]:
        return decay(_distance(squared_distance, times=1.0))


class Matern32(AbstractRadial):
    """(1 + √3 r) exp(-√3 r)."""

    degrees: ClassVar[int] = 3

    @staticmethod
    def correlation(squared_distance: Float[Array, "N M"]) -> Float[Array, "N M"]:
        r = _distance(squared_distance, times=3.0)
        return (1 + r) * decay(r)


class Matern52(AbstractRadial):
    """(1 + √5 r + 5 r²/3) exp(-√5 r)."""

    degrees: ClassVar[int] = 5

    @staticmethod
    def correlation(squared_distance: Float[Array, "N M"]) -> Float[Array, "N M"]:
        r = _distance(squared_distance, times=5.0)
        return (1 + r + r * r / 3) * decay(r)


def _distance(squared: Float[Array, "N M"], times: float) -> Float[Array, "N M"]:
    # The smallest normal number and not zero: the derivative of √0 is not a number.
    return jnp.sqrt(jnp.maximum(times * squared, jnp.finfo(squared.dtype).tiny))
