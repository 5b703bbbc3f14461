"""cos, sin, exp and softplus, fast on every platform.

On a CPU, XLA does not vectorise its own cosine, and its exponentials cost more than they could:
polynomials are as fast as the processor multiplies. Elsewhere the built-in functions are right.
"""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

_TWO_PI = 2 * math.pi
_HALF_PI = math.pi / 2


@jax.custom_jvp
def cosine(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """cos(x)."""
    return _fast_on_cpu(jnp.cos, partial(_cosine_of, shift=0.0), x)


@jax.custom_jvp
def sine(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """sin(x)."""
    return _fast_on_cpu(jnp.sin, partial(_cosine_of, shift=_HALF_PI), x)


@jax.custom_jvp
def decay(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """exp(-x) for x ≥ 0; what is smaller than 32 bits can say becomes about 1e-38, not 0."""
    if x.dtype != jnp.float32:
        return jnp.exp(-x)
    return _fast_on_cpu(lambda x: jnp.exp(-x), _decay_of, x)


@jax.custom_jvp
def softplus(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """log(1 + exp(x))."""
    if x.dtype != jnp.float32:
        return jax.nn.softplus(x)
    return _fast_on_cpu(jax.nn.softplus, _softplus_of, x)


def sigmoid(x: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """1 / (1 + exp(-x)), the slope of softplus."""
    rest = decay(jnp.abs(x))
    return jnp.where(x < 0, rest, jnp.ones_like(x)) / (1 + rest)


# Rules of their own, so that the backward pass stores one array and not every partial product.
cosine.defjvps(lambda tangent, _, x: -sine(x) * tangent)
sine.defjvps(lambda tangent, _, x: cosine(x) * tangent)
decay.defjvps(lambda tangent, value, _: -value * tangent)
softplus.defjvps(lambda tangent, _, x: sigmoid(x) * tangent)


def _fast_on_cpu(builtin: Callable, polynomial: Callable, x: Array) -> Array:
    return jax.lax.platform_dependent(x, cpu=polynomial, default=builtin)


def _cosine_of(x: Array, shift: float) -> Array:
    """cos(x - shift): remove whole turns, fold onto a half turn of the sine, then Horner."""
    turns = jnp.round(x * (1 / _TWO_PI) - shift / _TWO_PI)
    in_parts, sine = (_TURN, _SINE) if x.dtype == jnp.float32 else (_EXACT_TURN, _EXACT_SINE)
    for part in in_parts:
        x = x - turns * part
    # The floor keeps the value a cosine where x is too large for its turns to be counted.
    s = jnp.maximum(_HALF_PI - jnp.abs(x - shift), -_HALF_PI)
    return s * _horner(sine, s * s)


def _decay_of(x: Array) -> Array:
    """2 to the power of an integer, made of its bits, times 2 to the power of the rest.

    Beside a number as large as `_LARGE`, 32 bits have none left for a fraction: the last bits of
    the sum are the nearest integer. Taking it off again as a float would be simplified away.
    """
    power = jnp.maximum(x * (-1 / math.log(2)), _SMALLEST_POWER)
    whole = jax.lax.bitcast_convert_type(power + _LARGE, jnp.int32) - _BITS_OF_LARGE
    scale = jax.lax.bitcast_convert_type((whole << 23) + _BITS_OF_ONE, jnp.float32)
    return _horner(_POWER_OF_TWO, power - whole.astype(jnp.float32)) * scale


def _softplus_of(x: Array) -> Array:
    rest = decay(jnp.abs(x))
    return jnp.maximum(x, 0.0) + rest * _horner(_LOG_OF_MORE_THAN_ONE, rest)


def _horner(coefficients: list[float], x: Array) -> Array:
    value = jnp.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def _in_three_parts(value: float, bits: int) -> tuple[float, float, float]:
    """Split a constant so that its first two parts times a small integer are exact: they have no
    digits beyond so many bits after the point, and twice as many."""
    first = float(np.round(value * 2**bits) / 2**bits)
    rest = _TWO_PI_BEYOND + (value - first)
    second = float(np.round(rest * 2 ** (2 * bits)) / 2 ** (2 * bits))
    return first, second, rest - second


def _interpolated(function: Callable, low: float, high: float, degree: int) -> list[float]:
    """A polynomial through the Chebyshev points, highest power first."""
    fit = np.polynomial.Chebyshev.interpolate(function, degree, domain=[low, high])
    return fit.convert(kind=np.polynomial.Polynomial).coef[::-1].tolist()


_TWO_PI_BEYOND = 2.4492935982947064e-16
"""What 2π has beyond its 64 bits."""
_TURN, _EXACT_TURN = (_in_three_parts(_TWO_PI, bits) for bits in (10, 25))
_SINE, _EXACT_SINE = (
    _interpolated(lambda u: np.sinc(np.sqrt(u) / math.pi), 0.0, _HALF_PI**2, degree)
    for degree in (5, 9)
)
"""sin(s)/s on half a turn, in powers of s²"""
_POWER_OF_TWO = _interpolated(np.exp2, -0.5, 0.5, degree=6)
_LOG_OF_MORE_THAN_ONE = _interpolated(lambda u: np.log1p(u) / u, 0.0, 1.0, degree=8)
"""log(1 + u)/u"""
_SMALLEST_POWER = -126.0
_LARGE = 1.5 * 2**23
_BITS_OF_LARGE, _BITS_OF_ONE = (int(np.float32(x).view(np.int32)) for x in (_LARGE, 1.0))
