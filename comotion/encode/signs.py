"""A property of two values, -1 and 1, read off the changes of velocity it explains best.

Where a law multiplies the properties of both objects of a pair, turning all of them is the same
motion, so of all patterns half are enough. Each is judged by how well the law explains, with it,
what happened from frame to frame; contacts with walls explain themselves as rare large errors.
"""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import FAST, Key
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window, cut
from comotion.encode.paths import NODES, between, quadrature

TAIL = 4.0
"""Degrees of freedom of the errors."""
MOST_OBJECTS = 10
TINY = 1e-12


class SignBelief(eqx.Module):
    """Patterns of signs, and how likely each of them is."""

    patterns: Float[Array, "*b K A"]
    log_weights: Float[Array, "*b K"]

    def draw(self, *, key: Key) -> Float[Array, "A 1"]:
        return self.patterns[jax.random.categorical(key, self.log_weights)][:, None]

    @property
    def likeliest(self) -> Float[Array, "A 1"]:
        return self.patterns[jnp.argmax(self.log_weights)][:, None]

    @property
    def mean(self) -> Float[Array, "*b A 1"]:
        weights = jax.nn.softmax(self.log_weights, axis=-1)
        return jnp.sum(weights[..., None] * self.patterns, axis=-2)[..., None]

    @property
    def factor(self) -> Float[Array, "*b A 1 1"]:
        return jnp.sqrt(jnp.maximum(1 - self.mean**2, 0.0))[..., None]

    def kl(self, exists: Bool[Array, " A"]) -> Float[Array, ""]:
        """From patterns that are all as likely."""
        log_p = jax.nn.log_softmax(self.log_weights)
        return jnp.sum(jnp.exp(log_p) * log_p) + jnp.log(float(len(log_p)))


class SignReader(eqx.Module):
    """q(C | first frames) under pushes (φ₀ + c c' φ) / r, tables over log r."""

    places: Float[Array, " M"]
    pushes: Float[Array, "2 M"]
    log_noise: Float[Array, ""]
    """of a change of velocity"""
    layout: Layout = eqx.field(static=True)
    frames: int = eqx.field(static=True)

    def __call__(self, window: Window) -> SignBelief:
        changes, product, known = self._changes(window)
        patterns = jnp.asarray(_patterns(known.shape[1]), changes.dtype)
        spatial, log_variance = self.layout.spatial, 2 * self.log_noise

        def log_weight(signs: Float[Array, " A"]) -> Float[Array, ""]:
            left = _without(changes, product, signs)
            squares = jnp.sum(left**2, axis=-1) / jnp.exp(log_variance)
            each = (TAIL + spatial) * jnp.log1p(squares / TAIL) + spatial * log_variance
            return -0.5 * jnp.sum(jnp.where(known, each, 0.0))

        return SignBelief(patterns, jax.lax.map(log_weight, patterns))

    def unexplained(
        self, window: Window, signs: Float[Array, " A"]
    ) -> tuple[Float[Array, "J A d"], Bool[Array, "J A"]]:
        """Changes of velocity that are left from frame to frame, and which are known."""
        changes, product, known = self._changes(window)
        return _without(changes, product, signs), known

    def _changes(
        self, window: Window
    ) -> tuple[Float[Array, "J A d"], Float[Array, "J A A d"], Bool[Array, "J A"]]:
        """Without what φ₀ does; what φ does to each object by each other; which are known."""
        window = cut(window, jnp.zeros((), jnp.int32), min(self.frames, window.times.shape[0]))
        states = window.values[..., : self.layout.state]
        seen = jnp.all(window.present, axis=-1)
        known = seen[:-1] & seen[1:]
        length = jnp.diff(window.times)[:, None, None]
        heard = (window.neighbours[None] & known[:, :, None] & known[:, None])[..., None]

        def push(node: Float[Array, ""]) -> Float[Array, "2 J A A d"]:
            x = between(states[:-1], states[1:], length, node)[..., self.layout.position]
            gap = x[:, :, None] - x[:, None]
            square = jnp.sum(gap**2, axis=-1, keepdims=True) + TINY
            tables = [jnp.interp(0.5 * jnp.log(square), self.places, t) for t in self.pushes]
            return jnp.stack([jnp.where(heard, t * gap / square, 0.0) for t in tables])

        weights = jnp.asarray(quadrature()[0], states.dtype)
        pushes = jax.vmap(push)(jnp.asarray(NODES, states.dtype))
        alone, product = jnp.einsum("k,kqjabd->qjabd", weights, pushes) * length[None, ..., None]
        changes = jnp.diff(states[..., self.layout.velocity], axis=0) - jnp.sum(alone, axis=2)
        return changes, product, known


def _without(
    changes: Float[Array, "J A d"], product: Float[Array, "J A A d"], signs: Float[Array, " A"]
) -> Float[Array, "J A d"]:
    return changes - jnp.einsum("a,b,jabd->jad", signs, signs, product)


def _patterns(objects: int) -> Float[np.ndarray, "K A"]:
    rest = itertools.product([1.0, -1.0], repeat=objects - 1)
    return np.array([(1.0, *signs) for signs in rest])


def sign_reader(layout: Layout, *, places: int, frames: int) -> SignReader:
    """Of a law that says nothing."""
    return SignReader(
        jnp.arange(places, dtype=FAST),
        jnp.zeros((2, places), FAST),
        jnp.zeros((), FAST),
        layout,
        frames,
    )
