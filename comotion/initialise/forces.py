"""Whether anything bends flights between contacts."""

import numpy as np
from jaxtyping import Float

from comotion.initialise.flights import Flights
from comotion.initialise.tracks import NoiseScale, Tracks, by_track

SHORTEST = 6
STRAIGHT = 2.0
"""Curvatures in units of their errors are about one where no force acts."""
MOST = 2000


def flies_straight(flights: Flights, tracks: Tracks, noise: NoiseScale) -> bool:
    """Whether flights are no more curved than noise makes them; positions are asked."""
    times, x = by_track(tracks.times, tracks.positions)
    long = np.flatnonzero(flights.last - flights.first + 1 >= SHORTEST)
    chosen = long[:: max(1, len(long) // MOST)]
    bends = [_bend(times, x, flights, row) for row in chosen.tolist()]
    sizes = np.concatenate([np.zeros(0), *bends]) / noise.position
    return len(sizes) > 0 and float(1.4826 * np.median(np.abs(sizes))) < STRAIGHT


def _bend(
    times: Float[np.ndarray, "T N"], x: Float[np.ndarray, "T N d"], flights: Flights, row: int
) -> Float[np.ndarray, " n"]:
    """The second-order part of a flight along each axis, scaled to the noise of one frame; a
    short flight has none."""
    frames = slice(flights.first[row], flights.last[row] + 1)
    t, places = times[flights.track[row], frames], x[flights.track[row], frames]
    seen = np.isfinite(places).all(axis=1) & np.isfinite(t)
    if seen.sum() < SHORTEST:
        return np.zeros(0)
    t = t[seen] - t[seen].mean()
    basis = np.linalg.qr(np.stack([np.ones_like(t), t, t**2], axis=1))[0]
    return basis[:, 2] @ places[seen]
