"""The path between two frames, and integrals of accelerations along it."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

NODES = np.linspace(0.0, 1.0, 5)
"""Of an interval, where accelerations are asked for."""


def between(
    before: Float[Array, "J A D"],
    after: Float[Array, "J A D"],
    length: Float[Array, "J 1 1"],
    fraction: Float[Array, ""],
) -> Float[Array, "J A D"]:
    """The cubic through both ends with the velocities there."""
    d = before.shape[-1] // 2
    x, v, way = before[..., :d], before[..., d:], after[..., :d] - before[..., :d]
    u, s = after[..., d:], fraction
    curved = s**2 * (3 * way - length * (2 * v + u)) + s**3 * (length * (v + u) - 2 * way)
    return jnp.concatenate([x + s * length * v + curved, v + s * (u - v)], axis=-1)


def quadrature() -> tuple[Float[np.ndarray, "5"], Float[np.ndarray, "5"]]:
    """Weights of the nodes for the integrals of a and of (1 - s) a over an interval of length one,
    which are the speed and the way that are added; exact for a quartic."""
    k = np.arange(len(NODES))
    powers = NODES[None] ** k[:, None]
    once, twice = 1 / (k + 1), 1 / (k + 1) - 1 / (k + 2)
    return np.linalg.solve(powers, once), np.linalg.solve(powers, twice)
