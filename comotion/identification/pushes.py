"""What few functions of a structure would push objects with, in the frames of some stretches.

A structure sees objects through its coordinates. The few functions stand for a Gaussian process:
columns with independent weights, each an acceleration (of first order a velocity) of every object
in every frame.
"""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from comotion._types import FAST
from comotion.coordinates import (
    ALONE,
    PAIR,
    AbstractAloneCoordinates,
    AbstractPairCoordinates,
    Actor,
)
from comotion.coordinates.layout import Layout
from comotion.data import Trajectories
from comotion.data.scaling import unit_scaling
from comotion.data.slots import gather

FRAMES = 48
"""Of a stretch."""
MOST_STATES, MOST_PAIRS = 6_000, 60_000
"""Looked at: enough for laws that matter, in seconds."""
COLUMNS = 20
"""Of each output of a function: enough to be told from others."""
SETTLED = 3
"""Positions after which an object's velocity means something."""
JITTER = 1e-6


@dataclass(frozen=True, eq=False)
class Stretches:
    """Some stretches of the data, in units in which positions and velocities are about one."""

    data: Trajectories
    length: float
    time: float

    def seen(self, times: int) -> Bool[np.ndarray, "W F A"]:
        """Who is there and has been seen so often."""
        seen = np.all(self.data.present[..., : self.data.spatial], axis=-1)
        return self.data.alive & (np.cumsum(seen, axis=1) >= times)


def stretches_of(data: Trajectories) -> Stretches:
    """Evenly over the data, as many as are affordable."""
    scaling, size = unit_scaling(data), min(FRAMES, data.values.shape[1])
    cuts = [
        (p, slice(n, n + size))
        for p, frames in enumerate(data.lengths.tolist())
        for n in range(0, max(frames - size, 0) + 1, size)
    ]
    objects = data.values.shape[2]
    most = min(MOST_STATES // objects, MOST_PAIRS // objects**2) // size
    chosen = np.linspace(0, len(cuts) - 1, min(len(cuts), max(most, 1))).astype(int)
    some = gather(data, [cuts[i] for i in chosen], [str(i) for i in chosen])
    time = float(scaling.time)
    scaled = replace(some, values=scaling.to_scaled(some.values), times=some.times / time)
    return Stretches(scaled, float(np.asarray(scaling.scale)[0]), time)


def pushes_of(
    stretches: Stretches,
    states: Float[np.ndarray, "W F A D"],
    what: tuple[str, str],
    nearest: int,
) -> Float[np.ndarray, "c W F A d"]:
    """Of f_s (`"alone", NAME`) or f_b (`"pair", NAME`), asked at the states after each frame."""
    kind, name = what
    d = stretches.data.spatial
    layout = Layout(d, has_velocity=states.shape[-1] > d)
    there = stretches.seen(SETTLED if layout.has_velocity else 1)
    if kind == "alone":
        return _of_alone(ALONE[name](layout, 1), states, there)
    return _of_pairs(PAIR[name](layout, 1), states, _heard(stretches, states, there, nearest))


def _of_alone(
    coordinates: AbstractAloneCoordinates,
    states: Float[np.ndarray, "W F A D"],
    there: Bool[np.ndarray, "W F A"],
) -> Float[np.ndarray, "c W F A d"]:
    rows = np.argwhere(there)
    columns = _columns(coordinates, states[tuple(rows.T)])
    pushes = np.zeros((*there.shape, *columns.shape[1:]))
    pushes[tuple(rows.T)] = columns
    return np.moveaxis(pushes, -1, 0)


def _of_pairs(
    coordinates: AbstractPairCoordinates,
    states: Float[np.ndarray, "W F A D"],
    heard: Bool[np.ndarray, "W F A A"],
) -> Float[np.ndarray, "c W F A d"]:
    """Of all others together."""
    w, f, a, b = np.nonzero(heard)
    columns = _columns(coordinates, states[w, f, a], states[w, f, b])
    pushes = np.zeros((*heard.shape[:3], *columns.shape[1:]))
    np.add.at(pushes, (w, f, a), columns)
    return np.moveaxis(pushes, -1, 0)


def _heard(
    stretches: Stretches,
    states: Float[np.ndarray, "W F A D"],
    there: Bool[np.ndarray, "W F A"],
    nearest: int,
) -> Bool[np.ndarray, "W F A A"]:
    """Whom each object hears in each frame: all it may, or the nearest of them."""
    heard = there[..., :, None] & there[..., None, :] & stretches.data.neighbours[:, None]
    if not nearest or heard.shape[-1] <= nearest:
        return heard
    x = states[..., : stretches.data.spatial]
    apart = np.linalg.norm(x[..., :, None, :] - x[..., None, :, :], axis=-1)
    apart = np.where(heard, apart, np.inf)
    return heard & (apart <= np.sort(apart, axis=-1)[..., [nearest - 1]])


def _columns(
    coordinates: AbstractAloneCoordinates | AbstractPairCoordinates,
    *states: Float[np.ndarray, "n D"],
) -> Float[np.ndarray, "n d c"]:
    seen = _seen(coordinates, tuple(jnp.asarray(part, FAST) for part in states))
    inputs, meaning = (np.asarray(part, np.float64) for part in seen)
    basis = _basis(inputs)
    columns = meaning[..., None] * basis[:, None, None]  # (n, d, Q, c)
    return columns.reshape(*columns.shape[:2], -1)


@eqx.filter_jit
def _seen(
    coordinates: AbstractAloneCoordinates | AbstractPairCoordinates,
    states: tuple[Float[Array, "n D"], ...],
) -> tuple[Float[Array, "n I"], Float[Array, "n d Q"]]:
    """What the function sees, and the rates that a one in each of its outputs means."""

    def one(*states: Float[Array, " D"]) -> tuple[Array, Array]:
        nothing = jnp.zeros(0, FAST)
        actors = [Actor(state, nothing, nothing) for state in states]
        ones = jnp.eye(coordinates.out_size, dtype=FAST)
        meaning = jax.vmap(lambda outputs: coordinates.rates(outputs, *actors), out_axes=1)(ones)
        return coordinates.inputs(*actors), meaning

    return jax.vmap(one)(*states)


def _basis(inputs: Float[np.ndarray, "n I"]) -> Float[np.ndarray, "n c"]:
    """Columns whose products are the covariance of a Gaussian process: linear in the inputs, and
    smooth beside, seen at some of them."""
    size = np.std(inputs, axis=0) if len(inputs) else np.ones(inputs.shape[1])
    u = (inputs - inputs.mean(axis=0)) / np.where(size > 0, size, 1.0) if len(inputs) else inputs
    u = u / np.sqrt(inputs.shape[1])
    count = COLUMNS - inputs.shape[1]
    some = np.random.default_rng(0).permutation(len(u))[:count]
    Z = np.zeros((count, u.shape[1]))
    Z[: len(some)] = u[some]

    def kernel(x: Float[np.ndarray, "n I"]) -> Float[np.ndarray, "n z"]:
        return np.exp(-0.5 * ((x[:, None] - Z[None]) ** 2).sum(axis=-1))

    L = np.linalg.cholesky(kernel(Z) + JITTER * np.eye(count))
    return np.concatenate([u, np.linalg.solve(L, kernel(u).T).T], axis=1)
