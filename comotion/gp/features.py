"""Random Fourier features: a stationary prior draw as a weighted sum of cosines."""

import math

import equinox as eqx
import jax
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.backend.fast_math import cosine

_TWO_PI = 2 * math.pi


class Spectrum(eqx.Module):
    """Frequencies drawn from a kernel's spectral density, and the weight each one carries."""

    frequencies: Float[Array, "S I"]
    weights: Float[Array, " S"]


class FourierBasis(eqx.Module):
    """S waves whose products, scaled by the amplitudes, sum to the kernel on average."""

    frequencies: Float[Array, "I S"]
    phases: Float[Array, " S"]

    def __call__(self, x: Float[Array, "N I"]) -> Float[Array, "N S"]:
        return cosine(x @ self.frequencies + self.phases[None])


def fourier_basis(spectrum: Spectrum, *, key: Key) -> tuple[FourierBasis, Float[Array, " S"]]:
    """The waves of a spectrum with random phases, and their amplitudes √(2/S)·weight."""
    S = spectrum.weights.shape[0]
    dtype = spectrum.weights.dtype
    phases = jax.random.uniform(key, (S,), dtype, maxval=_TWO_PI)
    return FourierBasis(spectrum.frequencies.T, phases), math.sqrt(2 / S) * spectrum.weights
