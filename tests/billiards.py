"""Scenes with hard contacts for tests, made by the library's own bouncing drift.

That drift is compared with an independent event simulation in tests/integrate.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from comotion._types import FAST
from comotion.contacts import Parts, contact_law
from comotion.coordinates.layout import Layout
from comotion.initialise.tracks import Tracks
from comotion.integrate import Bouncing, Interval


def billiard(parts, *, sequences=40, objects=3, frames=80, step=0.5, speed=0.3, spread=2.5,
             noise=0.0, velocities=True, push=None, seed=0):  # fmt: skip
    """Tracks of discs that start anywhere without overlap."""
    rng = np.random.default_rng(seed)
    contacts = contact_law(parts).draw(key=jax.random.key(0))
    d = parts.spatial
    radii = np.broadcast_to(np.asarray(parts.radii, float) if len(parts.radii) else 0.0, objects)
    places = np.stack([_place(rng, radii, spread, d) for _ in range(sequences)])
    speeds = rng.normal(size=places.shape) * speed
    integrator = Bouncing(contacts, Layout(d), steps=4, rounds=8)
    pull = jnp.concatenate([jnp.zeros(d, FAST), jnp.asarray(push or [0.0] * d, FAST)])
    known = (jnp.ones(objects, bool),)

    @eqx.filter_jit
    def follow(integrator, states):
        def frame(states, _):
            interval = Interval(jnp.zeros((), FAST), jnp.asarray(step, FAST), known)
            rates = lambda s, t, i: jnp.broadcast_to(pull[None], s.shape)
            states, missed = integrator.advance_counting(rates, states, interval)
            return states, (states, missed)

        return jax.lax.scan(frame, states, None, length=frames - 1)[1]

    start = np.concatenate([places, speeds], axis=-1)
    later, missed = jax.vmap(follow, in_axes=(None, 0))(integrator, jnp.asarray(start, FAST))
    assert float(missed.sum()) == 0
    states = np.concatenate([start[:, None], np.asarray(later, float)], axis=1)
    x = states[..., :d] + noise * rng.normal(size=states[..., :d].shape)
    v = states[..., d:] + noise / 7 * rng.normal(size=states[..., d:].shape)
    times = np.tile(step * np.arange(frames), (sequences, 1))
    return Tracks(times, x, v if velocities else None)


def _place(rng, radii, spread, d):
    while True:
        x = rng.uniform(-spread, spread, (len(radii), d))
        apart = np.linalg.norm(x[:, None] - x[None], axis=-1) + 1e3 * np.eye(len(radii))
        if (apart > radii[:, None] + radii[None]).all():
            return x


__all__ = ["Parts", "billiard"]
