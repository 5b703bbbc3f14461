"""Standard normal noise."""

import math

import jax
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray


def standard_normal(
    shape: tuple[int, ...], dtype: DTypeLike, *, key: PRNGKeyArray
) -> Float[Array, "..."]:
    """The numbers of `jax.random.normal`, drawn in a row: with several axes XLA needs more than
    twice as long to compile them, and that is felt in every fit and forecast."""
    return jax.random.normal(key, (math.prod(shape),), dtype).reshape(shape)
