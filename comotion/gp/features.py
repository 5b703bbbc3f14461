"""Random Fourier features: a stationary prior draw as a weighted sum of cosines."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import FAST, Key

_TWO_PI = 2 * math.pi
_HALF_PI = math.pi / 2


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


@jax.custom_jvp
def cosine(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """cos(x), fast on every platform: XLA does not vectorise its own on CPU."""
    return _fast_on_cpu(x, jnp.cos, shift=0.0)


@jax.custom_jvp
def sine(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """sin(x), fast on every platform."""
    return _fast_on_cpu(x, jnp.sin, shift=_HALF_PI)


# A rule of their own, so that the backward pass stores one array and not every partial product.
cosine.defjvps(lambda tangent, _, x: -sine(x) * tangent)
sine.defjvps(lambda tangent, _, x: cosine(x) * tangent)


def _fast_on_cpu(x: Array, builtin, shift: float) -> Array:
    if x.dtype != FAST:
        return builtin(x)
    return jax.lax.platform_dependent(x, cpu=lambda x: _polynomial(x, shift), default=builtin)


def _in_three_parts(value: float) -> tuple[float, float, float]:
    """Split a constant so that its first two parts times a small integer are exact in 32 bits."""
    first = float(np.round(value * 2**9) / 2**9)
    second = float(np.round((value - first) * 2**22) / 2**22)
    return first, second, value - first - second


def _sine_coefficients(degree: int) -> list[float]:
    """sin(s)/s on [-π/2, π/2] as a polynomial of s², highest power first."""
    fit = np.polynomial.Chebyshev.interpolate(
        lambda u: np.sinc(np.sqrt(u) / math.pi), degree, domain=[0, _HALF_PI**2]
    )
    return fit.convert(kind=np.polynomial.Polynomial).coef[::-1].tolist()


_TURN = _in_three_parts(_TWO_PI)
_SINE = _sine_coefficients(degree=5)


def _polynomial(x: Array, shift: float) -> Array:
    """cos(x - shift): remove whole turns, fold onto a half turn of the sine, then Horner."""
    turns = jnp.round(x * (1 / _TWO_PI) - shift / _TWO_PI)
    for part in _TURN:
        x = x - turns * part
    # The floor keeps the value a cosine where x is too large for its turns to be counted.
    s = jnp.maximum(_HALF_PI - jnp.abs(x - shift), -_HALF_PI)
    squared = s * s
    value = jnp.full_like(s, _SINE[0])
    for coefficient in _SINE[1:]:
        value = value * squared + coefficient
    return s * value
