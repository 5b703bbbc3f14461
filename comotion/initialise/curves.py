"""How a smooth law bends paths: what is left after taking it away flies straight again."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from comotion.initialise.tracks import Tracks, by_track

Vectors = Float[np.ndarray, "K d"]
SHORTEST = 1e-9
"""Frames that only fill a track up are no time apart."""


@dataclass(frozen=True)
class Curves:
    """The path of each track under its smooth accelerations alone, from rest at zero."""

    times: Float[np.ndarray, "T N"]
    paths: Float[np.ndarray, "T N d"]
    speeds: Float[np.ndarray, "T N d"]

    def at(
        self, track: Int[np.ndarray, " K"], time: Float[np.ndarray, " K"]
    ) -> tuple[Vectors, Vectors]:
        """Path and speed at any time, by cubic pieces between frames."""
        times = self.times[track]
        frame = (times <= time[:, None]).sum(axis=1).clip(1, times.shape[1] - 1) - 1
        rows = np.arange(len(track))
        length = np.maximum(times[rows, frame + 1] - times[rows, frame], SHORTEST)[:, None]
        s = ((time - times[rows, frame])[:, None] / length).clip(-1, 2)
        x0, x1 = self.paths[track, frame], self.paths[track, frame + 1]
        v0, v1 = self.speeds[track, frame], self.speeds[track, frame + 1]
        way = x1 - x0
        curved = length * v0, 3 * way - length * (2 * v0 + v1), length * (v0 + v1) - 2 * way
        path = x0 + s * (curved[0] + s * (curved[1] + s * curved[2]))
        speed = (curved[0] + s * (2 * curved[1] + 3 * s * curved[2])) / length
        return path, speed


def curves_of(tracks: Tracks, accelerations: Float[np.ndarray, "P N A d"] | None) -> Curves:
    """Integrated frame by frame; without accelerations nothing is bent."""
    a = np.zeros_like(tracks.positions) if accelerations is None else accelerations
    times, a = by_track(tracks.times, np.nan_to_num(a))
    last = np.nanmax(times, axis=1, keepdims=True)
    times = np.where(np.isfinite(times), times, last)
    h = np.diff(times, axis=1)[..., None]
    zero = np.zeros_like(a[:, :1])
    speeds = np.concatenate([zero, np.cumsum(h * (a[:, 1:] + a[:, :-1]) / 2, axis=1)], axis=1)
    ways = h * (speeds[:, 1:] + speeds[:, :-1]) / 2 - h**2 * (a[:, 1:] - a[:, :-1]) / 12
    paths = np.concatenate([zero, np.cumsum(ways, axis=1)], axis=1)
    return Curves(times, paths, speeds)


def without(tracks: Tracks, curves: Curves) -> Tracks:
    """What is left of the tracks."""
    return _shifted(tracks, curves, -1.0)


def along(tracks: Tracks, curves: Curves) -> Tracks:
    """Straight tracks bent again."""
    return _shifted(tracks, curves, 1.0)


def _shifted(tracks: Tracks, curves: Curves, sign: float) -> Tracks:
    P, N, A, d = tracks.positions.shape

    def by_object(values: Float[np.ndarray, "T N d"]) -> Float[np.ndarray, "P N A d"]:
        return np.moveaxis(values.reshape(P, A, N, d), 1, 2)

    positions = tracks.positions + sign * by_object(curves.paths)
    if tracks.velocities is None:
        return Tracks(tracks.times, positions, None)
    return Tracks(tracks.times, positions, tracks.velocities + sign * by_object(curves.speeds))
