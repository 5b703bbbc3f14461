"""From simulated motion to `Trajectories`: frame times, checks of arguments, what is shown."""

from typing import Any

import numpy as np
from jaxtyping import Float

from comotion.data import BadInput, Trajectories
from comotion.data.checks import POSITIONS, VELOCITIES
from comotion.simulate.noise import add_noise, noise_level

Times = Float[np.ndarray, "N"] | Float[np.ndarray, "P N"]
Motion = tuple[Float[np.ndarray, "P N A d"], Float[np.ndarray, "P N A d"]]


def record(
    motion: Motion,
    times: Float[np.ndarray, "N"],
    *,
    noise: str | float,
    velocities: bool,
    seed: int,
    **properties: Any,
) -> Trajectories:
    """What an observer of this motion writes down; `properties` as in `from_arrays`."""
    d = motion[0].shape[-1]
    clean = Trajectories.from_arrays(
        np.concatenate(motion, axis=-1),
        times,
        features=POSITIONS[:d] + VELOCITIES[:d],
        **properties,
    )
    seen = add_noise(clean, noise, seed=seed)
    return seen if velocities else seen.hide_velocities()


def frame_times(frames: int, step: float) -> Float[np.ndarray, "N"]:
    """The first frame is at time 0."""
    return step * np.arange(frames, dtype=np.float64)


def times_per_sequence(times: Times, sequences: int) -> Float[np.ndarray, "P N"]:
    """Give every sequence its own row of times, none before 0 and none before its predecessor."""
    rows = np.broadcast_to(times, (sequences, np.shape(times)[-1]))
    if not (np.isfinite(rows).all() and (np.diff(rows, axis=1, prepend=0.0) >= 0).all()):
        raise BadInput("times must be finite, begin at 0 or later and never decrease; sort them.")
    return rows


def check_scene(*, noise: str | float, **arguments: int | float) -> None:
    """Refuse, before any long computation, what cannot be simulated."""
    noise_level(noise)
    require_positive(**arguments)


def require_positive(**arguments: int | float) -> None:
    """Refuse arguments that count or measure something and are not above 0."""
    for name, value in arguments.items():
        if not 0 < value < float("inf"):
            raise BadInput(f"{name}={value} makes no scene; give a finite number above 0.")
