"""Contacts that yield: they push back along the normal by how deep they are pressed, and keep the
energy they are given."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.contacts.posterior import Gaussian

SCALE = 10.0
"""Prior sd of log stiffness and power."""
TINY = 1e-30


class Springs(eqx.Module):
    """One draw. The push on a mass of one is exp(log stiffness) · unit · (depth / unit)^power;
    `pair` and `wall` hold both numbers, and a power of one is a spring."""

    pair: Float[Array, "2 *b"]
    wall: Float[Array, "2 *b"]
    unit: Float[Array, "*b"]
    steps: int = eqx.field(static=True)

    def push(self, spring: Float[Array, "2 *b"], depths: Float[Array, "*n"]) -> Float[Array, "*n"]:
        pressed = depths > 0
        log_depth = jnp.log(jnp.where(pressed, depths, 1.0) / self.unit)
        return jnp.where(pressed, self.unit * jnp.exp(spring[0] + spring[1] * log_depth), 0.0)


class SpringLaw(eqx.Module):
    """A posterior over springs."""

    pair: Gaussian
    wall: Gaussian
    unit: Float[Array, ""]
    """of depth"""
    steps: int = eqx.field(static=True)
    """to a frame, so that a touch is followed in several"""

    def draw(self, *, key: Key) -> Springs:
        pair, wall = jax.random.split(key)
        return Springs(self.pair.draw(key=pair), self.wall.draw(key=wall), self.unit, self.steps)

    def kl(self) -> Float[Array, ""]:
        return self.pair.kl(0.0, SCALE) + self.wall.kl(0.0, SCALE)

    def lasting(self, speed: float, *, pair: bool) -> float:
        """How long a touch lasts that begins at this closing speed, by the mean law.

        Two objects of mass one give way to each other twice as fast as to a wall.
        """
        spring, unit = self.pair if pair else self.wall, float(self.unit)
        log_stiffness, power = (float(number) for number in spring.mean)
        stiffness = math.exp(log_stiffness) * (2 if pair else 1)
        deepest = ((power + 1) / 2 * (speed / unit) ** 2 / stiffness) ** (1 / (power + 1)) * unit
        share = 1 / (power + 1)
        turn = math.sqrt(math.pi) * math.gamma(1 + share) / math.gamma(0.5 + share)
        return 2 * deepest / max(speed, TINY) * turn
