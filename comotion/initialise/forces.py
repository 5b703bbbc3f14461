"""Whether anything bends flights between contacts."""

import numpy as np
from jaxtyping import Bool, Float

from comotion.initialise.tracks import NoiseScale, Tracks, by_track

FRAMES = 12
"""Of a window in which no contact is known to have fallen."""
STRAIGHT = 2.0
"""Curvatures in units of their errors are about one where no force acts."""


def flies_straight(tracks: Tracks, noise: NoiseScale, eventful: Bool[np.ndarray, "P J A"]) -> bool:
    """Whether paths away from contacts are no more curved than noise makes them.

    Flights do not say it: a curved path is cut into so many that each of them looks straight.
    """
    busy = np.moveaxis(eventful, 2, 1).reshape(-1, eventful.shape[1])
    bends = [_bends(by_track(tracks.times, tracks.positions), busy, 2) / noise.position]
    if tracks.velocities is not None and noise.velocity is not None:
        bends.append(_bends(by_track(tracks.times, tracks.velocities), busy, 1) / noise.velocity)
    return all(
        len(sizes) > 0 and float(1.4826 * np.median(np.abs(sizes))) < STRAIGHT for sizes in bends
    )


def _bends(
    rows: tuple[Float[np.ndarray, "T N"], Float[np.ndarray, "T N d"]],
    busy: Bool[np.ndarray, "T J"],
    order: int,
) -> Float[np.ndarray, " n"]:
    """The part of this order in time of quiet windows, scaled to the noise of one frame."""
    times, values = rows
    frames = min(FRAMES, times.shape[1])
    found = []
    for first in range(0, times.shape[1] - frames + 1, frames):
        window = slice(first, first + frames)
        t, x = times[:, window], values[:, window]
        quiet = ~busy[:, first : first + frames - 1].any(axis=1)
        quiet &= np.isfinite(t).all(axis=1) & np.isfinite(x).all(axis=(1, 2))
        t = t[quiet] - t[quiet].mean(axis=1, keepdims=True)
        powers = np.stack([t**k for k in range(order + 1)], axis=2)
        basis = np.linalg.qr(powers)[0][:, :, order]
        found.append(np.einsum("tn,tnd->td", basis, x[quiet]).ravel())
    return np.concatenate([np.zeros(0), *found])
