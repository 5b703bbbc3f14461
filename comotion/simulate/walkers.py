"""Objects that know nothing of each other: what a model must not take for interaction."""

import numpy as np
from jaxtyping import Float

from comotion.data import Trajectories
from comotion.simulate.noise import generators
from comotion.simulate.recording import check_scene, frame_times, record, require_positive

HALF_WIDTH = 5.0
PERSISTENCE = 2.0
SPEED = 1.0
INNER_STEPS = 20


def walkers(
    *,
    sequences: int = 100,
    objects: int = 3,
    frames: int = 100,
    step: float = 0.1,
    noise: str | float = "none",
    velocities: bool = True,
    seed: int = 0,
    persistence: float = PERSISTENCE,
    half_width: float = HALF_WIDTH,
) -> Trajectories:
    """Walkers in a box with reflecting walls, each with a velocity that wanders; no interaction.

    Velocities are Ornstein-Uhlenbeck processes of speed 1 that forget in a time `persistence`.
    """
    check_scene(noise=noise, sequences=sequences, objects=objects, frames=frames, step=step)
    require_positive(persistence=persistence, half_width=half_width)
    streams = generators(seed, sequences)
    walks = [_walk(s, objects, frames, step, persistence, half_width) for s in streams]
    x, v = (np.stack(part) for part in zip(*walks, strict=True))
    return record((x, v), frame_times(frames, step), noise=noise, velocities=velocities, seed=seed)


def drifters(
    *,
    sequences: int = 100,
    objects: int = 3,
    frames: int = 40,
    step: float = 0.1,
    noise: str | float = "none",
    velocities: bool = True,
    seed: int = 0,
) -> Trajectories:
    """Straight flight at constant velocity: nothing is to be learned."""
    check_scene(noise=noise, sequences=sequences, objects=objects, frames=frames, step=step)
    times = frame_times(frames, step)
    draws = [stream.normal(size=(2, 1, objects, 2)) for stream in generators(seed, sequences)]
    place, speed = np.moveaxis(np.stack(draws), 1, 0)  # each P 1 A 2
    path = 2 * place + speed * times[:, None, None]
    motion = path, np.broadcast_to(speed, path.shape)
    return record(motion, times, noise=noise, velocities=velocities, seed=seed)


def _walk(
    stream: np.random.Generator,
    objects: int,
    frames: int,
    step: float,
    persistence: float,
    half_width: float,
) -> tuple[Float[np.ndarray, "N A d"], Float[np.ndarray, "N A d"]]:
    """Exact steps of the velocity, straight flight and mirrored walls in between."""
    x = stream.uniform(-half_width, half_width, size=(objects, 2))
    v = SPEED / 2**0.5 * stream.normal(size=(objects, 2))
    h = step / INNER_STEPS
    kept = np.exp(-h / persistence)
    gained = SPEED / 2**0.5 * np.sqrt(1 - kept**2)
    path = [(x, v)]
    for _ in range(frames - 1):
        for kick in stream.normal(size=(INNER_STEPS, objects, 2)):
            x = x + h * v
            inside = np.clip(x, -half_width, half_width)
            x, v = 2 * inside - x, np.where(inside == x, v, -np.copysign(v, x))
            v = kept * v + gained * kick
        path.append((x, v))
    places, speeds = zip(*path, strict=True)
    return np.stack(places), np.stack(speeds)
