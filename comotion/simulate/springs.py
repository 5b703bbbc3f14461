"""Equal masses in a box with reflecting walls, some of them joined by springs."""

import numpy as np
from jaxtyping import Array, Bool, Float

from comotion.data import Trajectories
from comotion.simulate.noise import generators
from comotion.simulate.recording import Motion, Times, check_scene, frame_times, record
from comotion.simulate.reflecting_box import move, start

HALF_WIDTH = 5.0
STIFFNESS = 0.1
INNER_STEP = 1e-3


def springs(
    *,
    sequences: int = 300,
    objects: int = 5,
    frames: int = 100,
    step: float = 0.5,
    noise: str | float = "none",
    velocities: bool = True,
    seed: int = 0,
    stiffness: float = STIFFNESS,
    inner_steps: int = 500,
    half_width: float = HALF_WIDTH,
) -> Trajectories:
    """Simulate masses of which each pair is joined by a spring with probability 1/2.

    The springs have no length at rest; who is joined to whom is in `neighbours`.
    """
    check_scene(
        noise=noise,
        sequences=sequences,
        objects=objects,
        frames=frames,
        step=step,
        inner_steps=inner_steps,
        stiffness=stiffness,
    )
    streams = generators(seed, sequences)
    neighbours = np.stack([_join(objects, stream) for stream in streams])
    times = frame_times(frames, step)
    motion = advance(
        *start(streams, objects, half_width),
        neighbours,
        times,
        stiffness=stiffness,
        inner_step=step / inner_steps,
        half_width=half_width,
    )
    return record(
        motion, times, noise=noise, velocities=velocities, seed=seed, neighbours=neighbours
    )


def advance(
    positions: Float[np.ndarray, "P A d"],
    velocities: Float[np.ndarray, "P A d"],
    neighbours: Bool[np.ndarray, "P A A"],
    times: Times,
    *,
    stiffness: float = STIFFNESS,
    inner_step: float = INNER_STEP,
    half_width: float = HALF_WIDTH,
) -> Motion:
    """Carry the states at time 0 to the given times."""
    return move(
        acceleration,
        positions,
        velocities,
        stiffness * neighbours,
        times,
        inner_step=inner_step,
        half_width=half_width,
    )


def acceleration(
    x: Float[Array, "A d P"], stiffness: Float[Array, "A A P"]
) -> Float[Array, "A d P"]:
    """The pull of every spring that ends at a mass, in proportion to its length."""
    gaps = x[None] - x[:, None]  # A A d P
    return (stiffness[:, :, None] * gaps).sum(axis=1)


def _join(objects: int, stream: np.random.Generator) -> Bool[np.ndarray, "A A"]:
    upper = np.triu(stream.random(size=(objects, objects)) < 0.5, k=1)
    return upper | upper.T
