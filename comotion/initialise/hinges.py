"""Jumps fitted again as bends of one unbroken path, at a time that is free.

Flights that were cut first and made to meet afterwards are biased: frames near a contact go to
the wrong side of it, which rounds the corner off. Here both sides share the place of the contact,
and two objects that touch share its time.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from comotion.initialise.flights import Flights
from comotion.initialise.jumps import Jumps
from comotion.initialise.tracks import NoiseScale, Tracks, by_track

REACH = 30
"""Frames on each side."""
TRIES, LOOK = 31, 3.0
"""Times tried, up to so many frames before and after the first guess."""
STEPS = 8
"""Of Gauss-Newton from the best time tried; it converges quadratically."""
TINY = 1e-300
"""Keeps what nothing is known of from a division by zero."""


@dataclass(frozen=True)
class _Seen:
    """Frames around each contact, for each object that takes part; weights are 1/σ²."""

    t: Float[np.ndarray, "E K F"]
    x: Float[np.ndarray, "E K F d"]
    v: Float[np.ndarray, "E K F d"]
    w: Float[np.ndarray, "E K F"]
    u: Float[np.ndarray, "E K F"]
    low: Float[np.ndarray, " E"]
    high: Float[np.ndarray, " E"]


def hinged(jumps: Jumps, flights: Flights, tracks: Tracks, noise: NoiseScale) -> Jumps:
    """The same jumps with better places, times and speeds."""
    if not len(jumps):
        return jumps
    pairs = jumps.other[0] >= 0
    rows = [jumps.flight] if not pairs else [jumps.flight, jumps.other_flight]
    seen = _frames(np.stack(rows, axis=1), flights, tracks, noise)
    time = _best_time(seen, jumps.time, float(np.nanmedian(np.diff(tracks.times, axis=1))))
    for _ in range(STEPS):
        time = _improved(seen, time)
    return _with_bends(jumps, seen, time)


def _frames(
    rows: Int[np.ndarray, "E K"], flights: Flights, tracks: Tracks, noise: NoiseScale
) -> _Seen:
    times, x = by_track(tracks.times, tracks.positions)
    N = times.shape[1]
    track, cut = flights.track[rows], flights.last[rows]
    frames = cut[..., None] + np.arange(1 - REACH, REACH + 1)
    inside = (frames >= flights.first[rows][..., None]) & (
        frames <= flights.last[rows + 1][..., None]
    )
    frames = frames.clip(0, N - 1)
    t, x = times[track[..., None], frames], x[track[..., None], frames]
    there = inside & np.isfinite(x).all(axis=-1) & np.isfinite(t)
    w, u, v = there / noise.position**2, np.zeros(there.shape), np.zeros_like(x)
    if tracks.velocities is not None and noise.velocity is not None:
        v = by_track(tracks.times, tracks.velocities)[1][track[..., None], frames]
        shown = inside & np.isfinite(v).all(axis=-1) & np.isfinite(t)
        u, v = shown / noise.velocity**2, np.where(shown[..., None], v, 0.0)
    # One frame at least stays on each side of the bend, two where no velocity is seen.
    fewest = 0 if u.any() else 1
    begin, end = flights.first[rows] + fewest, flights.last[rows + 1] - fewest
    low = times[track, begin.clip(0, N - 1)].max(axis=1)
    high = times[track, end.clip(0, N - 1)].min(axis=1)
    t = np.where(there, t, 0.0)
    return _Seen(t, np.where(there[..., None], x, 0.0), v, w, u, low, high)


def _bases(seen: _Seen, time: Float[np.ndarray, " E"]) -> tuple[np.ndarray, np.ndarray]:
    """How positions and velocities depend on (place, velocity before, velocity after)."""
    since = seen.t - time[:, None, None]
    early = since < 0
    positions = np.stack([np.ones_like(since), np.minimum(since, 0), np.maximum(since, 0)], axis=-1)
    return positions, np.stack([np.zeros_like(since), 1.0 * early, 1.0 * ~early], axis=-1)


@dataclass(frozen=True)
class _Bend:
    """Least squares at given times."""

    solution: Float[np.ndarray, "E K 3 d"]
    inverse: Float[np.ndarray, "E K 3 3"]
    misfit: Float[np.ndarray, " E"]
    move: Float[np.ndarray, " E"]
    """by which a later time would fit better still"""
    time_variance: Float[np.ndarray, " E"]
    shifted: Float[np.ndarray, "E K 3 d"]
    """how the solution changes with the time"""


def _bend(seen: _Seen, time: Float[np.ndarray, " E"]) -> _Bend:
    phi, psi = _bases(seen, time)
    weighted, speeds = phi * seen.w[..., None], psi * seen.u[..., None]
    information = np.swapaxes(weighted, -1, -2) @ phi + np.swapaxes(speeds, -1, -2) @ psi
    scale = np.maximum(np.einsum("ekii->eki", information), TINY)
    information = (
        information + 1e-12 * np.eye(3) * (scale + scale.max(-1, keepdims=True))[..., None]
    )
    inverse = np.linalg.inv(information)
    right = np.swapaxes(weighted, -1, -2) @ seen.x + np.swapaxes(speeds, -1, -2) @ seen.v
    solution = inverse @ right
    left, left_v = seen.x - phi @ solution, seen.v - psi @ solution
    misfit = np.einsum("ekf,ekfd->e", seen.w, left**2) + np.einsum("ekf,ekfd->e", seen.u, left_v**2)
    slope = -(psi @ solution)  # of positions, in the time of the bend
    cross = np.swapaxes(weighted, -1, -2) @ slope
    shifted = inverse @ cross
    known = np.einsum("ekf,ekfd->e", seen.w, slope**2) - np.einsum("ekid,ekid->e", cross, shifted)
    variance = 1 / np.maximum(known, TINY)
    move = np.einsum("ekf,ekfd,ekfd->e", seen.w, left, slope) * variance
    return _Bend(solution, inverse, misfit, move, variance, shifted)


def _best_time(seen: _Seen, guess: Float[np.ndarray, " E"], step: float) -> np.ndarray:
    tried = guess[None] + np.linspace(-LOOK, LOOK, TRIES)[:, None] * step
    tried = np.clip(tried, seen.low, np.maximum(seen.low, seen.high))
    misfits = np.stack([_bend(seen, time).misfit for time in tried])
    return tried[misfits.argmin(axis=0), np.arange(len(guess))]


def _improved(seen: _Seen, time: Float[np.ndarray, " E"]) -> Float[np.ndarray, " E"]:
    now = _bend(seen, time)
    moved = np.clip(time + now.move, seen.low, np.maximum(seen.low, seen.high))
    return np.where(_bend(seen, moved).misfit < now.misfit, moved, time)


def _with_bends(jumps: Jumps, seen: _Seen, time: np.ndarray) -> Jumps:
    bend = _bend(seen, time)
    signs = np.array([1.0, -1.0])[: seen.t.shape[1]]
    place, before, after = np.einsum("k,ekid->ied", signs, bend.solution)
    shifted = np.einsum("k,ekd->ed", signs, bend.shifted[:, :, 0])
    change = after - before
    normal = change / np.maximum(np.linalg.norm(change, axis=1, keepdims=True), TINY)
    along = (shifted * normal).sum(axis=1)
    own = np.einsum("ekii->ei", bend.inverse)
    return replace(
        jumps,
        time=time,
        place=place,
        before=before,
        after=after,
        variance=own[:, 0] + along**2 * bend.time_variance,
        before_variance=own[:, 1],
        after_variance=own[:, 2],
    )
