"""What a law leaves open: a small push in every interval, larger where much happens.

A learned collision is a little too early, too late, too soft or too hard, each time anew. Drawing
another law cannot say that, because one law makes the same mistake every time.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST
from comotion.coordinates.layout import Layout
from comotion.integrate.base import AbstractIntegrator, Interval, Rates, States, Time

TINY = 1e-30


class Disturbance(eqx.Module):
    """Noise on velocities, or on the whole state where it has no velocities.

    Every change is multiplied by 1 + share · ε, with one ε for all entries of an object, so that
    a push keeps its direction whichever way the axes point; a steady part is added that grows
    with the root of time. Pushes never make an object faster than `most`: noise that multiplies
    would carry some through any wall. Training follows the law without any of this.
    """

    share: Float[Array, ""]
    steady: Float[Array, ""]
    most: Float[Array, ""]
    begin: int = eqx.field(static=True)
    end: int = eqx.field(static=True)

    def __call__(
        self, before: States, after: States, length: Time, noise: Float[Array, "A 1+D"]
    ) -> States:
        entries = slice(self.begin, self.end)
        start, calm = before[:, entries], after[:, entries]
        strength, wander = noise[:, :1], noise[:, 1:][:, entries]
        steady = self.steady * jnp.sqrt(length) * wander
        pushed = calm + self.share * strength * (calm - start) + steady
        limit = jnp.maximum(self.most, _size(calm))
        pushed = pushed * jnp.minimum(1.0, limit / jnp.maximum(_size(pushed), TINY))
        moved = jnp.any(after != before, axis=1, keepdims=True)  # the others are not in the scene
        return after.at[:, entries].set(jnp.where(moved, pushed, calm))


def _size(vectors: Float[Array, "A d"]) -> Float[Array, "A 1"]:
    return jnp.sqrt(jnp.sum(vectors**2, axis=1, keepdims=True))


def undisturbed(layout: Layout) -> Disturbance:
    entries = layout.velocity if layout.has_velocity else slice(0, layout.state)
    none, endless = jnp.zeros((), FAST), jnp.full((), jnp.inf, FAST)
    return Disturbance(none, none, endless, entries.start, entries.stop)


class Disturbed(AbstractIntegrator):
    """Each interval knows its own noise beside what the rates need to know."""

    calm: AbstractIntegrator
    disturbance: Disturbance

    def advance(self, rates: Rates, states: States, interval: Interval) -> States:
        known, noise = interval.known
        calm = Interval(interval.start, interval.end, known)
        later = self.calm.advance(rates, states, calm)
        return self.disturbance(states, later, interval.end - interval.start, noise)
