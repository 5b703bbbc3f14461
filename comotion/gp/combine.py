"""Kernels made of kernels: weighted means and products, again with k(x, x) = 1."""

import functools
import operator
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import EXACT, FAST, Key
from comotion.gp.features import Spectrum
from comotion.gp.kernels import AbstractAnchoredKernel, AbstractKernel


class KernelSum(AbstractKernel):
    """A weighted mean of kernels; the weights are learned and sum to one."""

    kernels: tuple[AbstractKernel, ...]
    logits: Float[Array, " parts"]

    def __init__(self, kernels: Sequence[AbstractKernel]):
        self.kernels = _alike(kernels)
        self.logits = jnp.zeros(len(self.kernels), FAST)

    @property
    def in_size(self) -> int:
        return self.kernels[0].in_size

    def lengthscales(self) -> Float[Array, " lengthscales"]:
        return jnp.concatenate([kernel.lengthscales() for kernel in self.kernels])

    def at_least(self, shortest: Float[Array, " I"]) -> "KernelSum":
        each = tuple(kernel.at_least(shortest) for kernel in self.kernels)
        return eqx.tree_at(lambda k: k.kernels, self, each)

    def stretched(self, by: Float[np.ndarray, " I"]) -> "KernelSum":
        each = tuple(kernel.stretched(by) for kernel in self.kernels)
        return eqx.tree_at(lambda k: k.kernels, self, each)

    def anchor(self, z: Float[Array, "M I"]) -> "AnchoredSum":
        weights = jax.nn.softmax(self.logits.astype(z.dtype))
        return AnchoredSum(tuple(kernel.anchor(z) for kernel in self.kernels), weights)

    def spectrum(self, *, key: Key, features: int) -> Spectrum:
        shares = _shares(features, len(self.kernels))
        weights = jax.nn.softmax(self.logits.astype(EXACT))
        keys = jax.random.split(key, len(self.kernels))
        parts = [
            kernel.spectrum(key=key, features=share)
            for kernel, key, share in zip(self.kernels, keys, shares, strict=True)
        ]
        carried = [
            part.weights * jnp.sqrt(weight * (features / share))
            for part, weight, share in zip(parts, weights, shares, strict=True)
        ]
        return Spectrum(
            jnp.concatenate([part.frequencies for part in parts]), jnp.concatenate(carried)
        )


class AnchoredSum(AbstractAnchoredKernel):
    parts: tuple[AbstractAnchoredKernel, ...]
    weights: Float[Array, " parts"]

    def __call__(self, x: Float[Array, "N I"]) -> Float[Array, "N M"]:
        weighted = (w * part(x) for w, part in zip(self.weights, self.parts, strict=True))
        return functools.reduce(operator.add, weighted)


class KernelProduct(AbstractKernel):
    """A product of kernels, usually on different inputs."""

    kernels: tuple[AbstractKernel, ...]

    def __init__(self, kernels: Sequence[AbstractKernel]):
        self.kernels = _alike(kernels)

    @property
    def in_size(self) -> int:
        return self.kernels[0].in_size

    def lengthscales(self) -> Float[Array, " lengthscales"]:
        return jnp.concatenate([kernel.lengthscales() for kernel in self.kernels])

    def at_least(self, shortest: Float[Array, " I"]) -> "KernelProduct":
        each = tuple(kernel.at_least(shortest) for kernel in self.kernels)
        return eqx.tree_at(lambda k: k.kernels, self, each)

    def stretched(self, by: Float[np.ndarray, " I"]) -> "KernelProduct":
        each = tuple(kernel.stretched(by) for kernel in self.kernels)
        return eqx.tree_at(lambda k: k.kernels, self, each)

    def anchor(self, z: Float[Array, "M I"]) -> "AnchoredProduct":
        return AnchoredProduct(tuple(kernel.anchor(z) for kernel in self.kernels))

    def spectrum(self, *, key: Key, features: int) -> Spectrum:
        keys = jax.random.split(key, len(self.kernels))
        parts = [
            _shuffled_spectrum(kernel, key=key, features=features)
            for kernel, key in zip(self.kernels, keys, strict=True)
        ]
        return Spectrum(
            functools.reduce(operator.add, (part.frequencies for part in parts)),
            functools.reduce(operator.mul, (part.weights for part in parts)),
        )


class AnchoredProduct(AbstractAnchoredKernel):
    parts: tuple[AbstractAnchoredKernel, ...]

    def __call__(self, x: Float[Array, "N I"]) -> Float[Array, "N M"]:
        return functools.reduce(operator.mul, (part(x) for part in self.parts))


def _shares(features: int, parts: int) -> list[int]:
    return [features // parts + (part < features % parts) for part in range(parts)]


def _shuffled_spectrum(kernel: AbstractKernel, *, key: Key, features: int) -> Spectrum:
    # A sum lists its parts in order: two sums inside a product must not meet in that order.
    key_spectrum, key_order = jax.random.split(key)
    spectrum = kernel.spectrum(key=key_spectrum, features=features)
    order = jax.random.permutation(key_order, features)
    return Spectrum(spectrum.frequencies[order], spectrum.weights[order])


def _alike(kernels: Sequence[AbstractKernel]) -> tuple[AbstractKernel, ...]:
    sizes = [kernel.in_size for kernel in kernels]
    if len(set(sizes)) != 1:
        raise ValueError(
            f"Kernels to be combined have {sizes} inputs: give each the same `in_size`, and "
            "choose among the inputs with `inputs`."
        )
    return tuple(kernels)
