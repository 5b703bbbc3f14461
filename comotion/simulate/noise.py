"""Measurement noise, and the random streams that keep motion and noise apart."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from comotion.data import BadInput, Trajectories

LEVELS = {"none": 0.0, "low": 0.02, "high": 0.04, "higher": 0.08}
MOTION, NOISE = 0, 1


def add_noise(clean: Trajectories, noise: str | float, *, seed: int) -> Trajectories:
    """Add Gaussian noise whose standard deviation is a fraction of each feature's range.

    `noise` is "none", "low" (0.02), "high" (0.04), "higher" (0.08) or the fraction itself.
    A feature gets the same noise whether or not later features are shown.
    """
    sd = noise_sd(clean, noise)
    frames_objects_features = clean.values.shape[1:]
    unit = np.stack(
        [
            np.moveaxis(stream.normal(size=np.roll(frames_objects_features, 1)), 0, -1)
            for stream in generators(seed, len(clean), purpose=NOISE)
        ]
    )
    return replace(clean, values=clean.values + sd * unit)


def noise_sd(clean: Trajectories, noise: str | float) -> Float[np.ndarray, "O"]:
    """The standard deviation of each feature's noise: level × (max - min over the data set)."""
    features = clean.values.reshape(-1, clean.values.shape[-1])
    return noise_level(noise) * (np.nanmax(features, axis=0) - np.nanmin(features, axis=0))


def noise_level(noise: str | float) -> float:
    """The fraction that a name stands for."""
    level = LEVELS.get(noise) if isinstance(noise, str) else float(noise)
    if level is None or not 0 <= level < float("inf"):
        raise BadInput(
            f"noise={noise!r} is not a noise level; "
            f"choose from {', '.join(LEVELS)} or give a fraction of the range, at least 0."
        )
    return level


def generators(seed: int, sequences: int, *, purpose: int = MOTION) -> list[np.random.Generator]:
    """One stream per sequence, so that a sequence does not depend on how many are asked for."""
    if seed < 0:
        raise BadInput(f"seed={seed} is negative; give a whole number of at least 0.")
    root = np.random.SeedSequence(seed, spawn_key=(purpose,))
    return [np.random.default_rng(child) for child in root.spawn(sequences)]
