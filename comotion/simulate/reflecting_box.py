"""Point masses in a box with reflecting walls, carried forward by the leapfrog rule.

Half a drift, a kick, half a drift: second order, symplectic and reversible, at the price of Euler
steps (one acceleration a step). Straight flight with mirrored walls is exact for any step; a kick
does not know when within its step a wall was hit, which costs one order in those steps.
Sequences are the last axis on the device, where the compiler vectorises over them.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from comotion._types import EXACT
from comotion.simulate.recording import Motion, Times, require_positive, times_per_sequence

Acceleration = Callable[[Float[Array, "A d P"], Float[Array, "A A P"]], Float[Array, "A d P"]]
State = tuple[Float[Array, "A d P"], Float[Array, "A d P"]]
SEQUENCES_AT_ONCE = 256
SPEED = 0.5


def start(
    streams: list[np.random.Generator], objects: int, half_width: float
) -> tuple[Float[np.ndarray, "P A 2"], Float[np.ndarray, "P A 2"]]:
    """Places from a Gaussian of a fifth of the half-width, directions at random, equal speeds."""
    places = np.stack([stream.normal(size=(objects, 2)) for stream in streams]) * half_width / 5
    directions = np.stack([stream.normal(size=(objects, 2)) for stream in streams])
    speeds = SPEED * directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    return np.clip(places, -half_width, half_width), speeds


def move(
    acceleration: Acceleration,
    positions: Float[np.ndarray, "P A d"],
    velocities: Float[np.ndarray, "P A d"],
    coupling: Float[np.ndarray, "P A A"],
    times: Times,
    *,
    inner_step: float,
    half_width: float,
) -> Motion:
    """Carry the states at time 0 to the given times with inner steps of at most `inner_step`.

    `acceleration(x, coupling)` follows from the positions and a number per ordered pair.
    """
    require_positive(inner_step=inner_step, half_width=half_width)
    times = times_per_sequence(times, len(positions))
    gaps = np.diff(times, axis=1, prepend=0.0)
    # The slack keeps a gap of 1000 inner steps from becoming 1001 by rounding.
    counts = np.ceil(gaps.max(axis=0) / inner_step * (1 - 1e-9)).clip(min=1).astype(np.int32)
    steps = gaps / counts

    def move_chunk(chunk: slice) -> Motion:
        moved = _frames(
            acceleration,
            (_sequences_last(positions[chunk]), _sequences_last(velocities[chunk])),
            _sequences_last(coupling[chunk]),
            _sequences_last(steps[chunk]),
            jnp.asarray(counts),
            jnp.asarray(half_width, EXACT),
        )
        x, v = (np.moveaxis(np.asarray(part), -1, 0) for part in moved)
        return x, v

    starts = range(0, len(positions), SEQUENCES_AT_ONCE)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        chunks = list(threads.map(move_chunk, (slice(s, s + SEQUENCES_AT_ONCE) for s in starts)))
    x, v = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    return x, v


@partial(jax.jit, static_argnums=0)
def _frames(
    acceleration: Acceleration,
    state: State,
    coupling: Float[Array, "A A P"],
    steps: Float[Array, "N P"],
    counts: Int[Array, "N"],
    half_width: Float[Array, ""],
) -> tuple[Float[Array, "N A d P"], Float[Array, "N A d P"]]:
    def to_next_frame(state: State, frame: tuple[Array, Array]) -> tuple[State, State]:
        step, count = frame[0][None, None], frame[1]

        def kick_and_drift(state: State, drift_step: Float[Array, "1 1 P"]) -> State:
            x, v = state
            return _drift(x, v + step * acceleration(x, coupling), drift_step, half_width)

        # The half drifts of neighbouring steps are made in one: two thirds of the time.
        state = _drift(*state, step / 2, half_width)
        state = jax.lax.fori_loop(1, count, lambda _, s: kick_and_drift(s, step), state)
        state = kick_and_drift(state, step / 2)
        return state, state

    return jax.lax.scan(to_next_frame, state, (steps, counts))[1]


def _drift(
    x: Float[Array, "A d P"],
    v: Float[Array, "A d P"],
    step: Float[Array, "1 1 P"],
    half_width: Float[Array, ""],
) -> State:
    """Straight flight; what would be behind a wall is mirrored back and turned inwards."""
    x = x + step * v
    inside = jnp.clip(x, -half_width, half_width)
    return 2 * inside - x, jnp.where(inside == x, v, -jnp.copysign(v, x))


def _sequences_last(array: np.ndarray) -> Array:
    return jnp.asarray(np.moveaxis(array, 0, -1), EXACT)
