"""Tracks cut into straight flights: where the law is nothing but jumps, the best denoiser.

Optimal partitioning: over all ways to cut a track, the least sum of how badly a straight line
fits each piece and a penalty for each cut, by dynamic programming (Jackson et al. 2005).
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from comotion.initialise.tracks import NoiseScale, Tracks, by_track

PENALTY = 13.0
"""Of a cut for each axis, in units of the noise variance: chance alone rarely pays for it."""
LONGEST = 60
"""Frames of one piece."""
TINY = 1e-300  # a weight of nothing is divided by
WEAK = 1e-9
"""Knowledge of a velocity nothing is seen of, by that of one frame: keeps equations solvable."""
Rows = Int[np.ndarray, "*F"]


@dataclass(frozen=True)
class Flights:
    """Straight lines x(t) = place + velocity · (t - time), with errors that are independent.

    Rows stand in the order of tracks (object within sequence) and time.
    """

    track: Rows
    first: Rows
    last: Rows
    begin: Float[np.ndarray, " F"]
    end: Float[np.ndarray, " F"]
    time: Float[np.ndarray, " F"]
    place: Float[np.ndarray, "F d"]
    velocity: Float[np.ndarray, "F d"]
    place_variance: Float[np.ndarray, " F"]
    velocity_variance: Float[np.ndarray, " F"]
    misfit: Float[np.ndarray, " F"]
    """squared errors in units of the noise variance, for each degree of freedom"""

    def __getitem__(self, rows: Rows | np.ndarray) -> "Flights":
        return Flights(**{name: value[rows] for name, value in vars(self).items()})

    def at(self, time: Float[np.ndarray, " F"]) -> Float[np.ndarray, "F d"]:
        return self.place + (time - self.time)[:, None] * self.velocity

    def variance_at(self, time: Float[np.ndarray, " F"]) -> Float[np.ndarray, " F"]:
        return self.place_variance + (time - self.time) ** 2 * self.velocity_variance

    def minus(self, other: "Flights") -> "Flights":
        """Flights of one object as seen from another; times of `self` count."""
        return replace(
            self,
            place=self.place - other.at(self.time),
            velocity=self.velocity - other.velocity,
            place_variance=self.place_variance + other.variance_at(self.time),
            velocity_variance=self.velocity_variance + other.velocity_variance,
        )


def find_flights(tracks: Tracks, noise: NoiseScale, penalty: float = PENALTY) -> Flights:
    times, x = by_track(tracks.times, tracks.positions)
    # Sums of squares far from zero would lose their digits.
    middle, origin = np.nanmean(x, axis=(0, 1)), np.nanmin(times, axis=1)
    clocks = np.where(np.isfinite(times), times - origin[:, None], 0.0)
    v = None if tracks.velocities is None else by_track(tracks.times, tracks.velocities)[1]
    sums = _running_sums(clocks, x - middle, v, noise)
    first = _first_frames(sums, penalty * x.shape[-1])
    track, first, after = _pieces(first)
    part = sums.between(track, first, after)
    seen = part.count > 0
    return _fitted(part[seen], track[seen], first[seen], after[seen], times, middle, origin)


def straightened(tracks: Tracks, flights: Flights) -> Tracks:
    """Every frame of a flight where its line was: positions and velocities without noise."""
    P, N, A, d = tracks.positions.shape
    owner = np.full((P * A, N), -1)
    for row in range(len(flights.track)):
        owner[flights.track[row], flights.first[row] : flights.last[row] + 1] = row
    times = np.repeat(tracks.times, A, axis=0)
    line = flights[owner.ravel()]
    there = ((owner >= 0) & _alive(tracks)).ravel()[:, None]
    places = np.where(there, line.at(times.ravel()), np.nan)
    speeds = np.where(there, line.velocity, np.nan)
    shape = (P, A, N, d)
    return Tracks(
        tracks.times,
        np.moveaxis(places.reshape(shape), 1, 2),
        np.moveaxis(speeds.reshape(shape), 1, 2),
    )


def _alive(tracks: Tracks) -> Bool[np.ndarray, "T N"]:
    """From the first to the last frame in which a position is seen."""
    times, x = by_track(tracks.times, tracks.positions)
    seen = np.isfinite(x).all(axis=-1) & np.isfinite(times)
    entered = np.logical_or.accumulate(seen, axis=1)
    return entered & np.logical_or.accumulate(seen[:, ::-1], axis=1)[:, ::-1]


@dataclass(frozen=True)
class _Sums:
    """Running sums over the frames of each track, from which any piece is fitted at once."""

    weight: Float[np.ndarray, "*T"]
    time: Float[np.ndarray, "*T"]
    square: Float[np.ndarray, "*T"]
    place: Float[np.ndarray, "*T d"]
    moment: Float[np.ndarray, "*T d"]
    energy: Float[np.ndarray, "*T"]
    count: Float[np.ndarray, "*T"]

    def between(self, track: Rows, first: Rows, after: Rows) -> "_Sums":
        return _Sums(**{k: v[track, after] - v[track, first] for k, v in vars(self).items()})

    def __getitem__(self, rows: np.ndarray) -> "_Sums":
        return _Sums(**{k: v[rows] for k, v in vars(self).items()})

    @property
    def solved(self) -> tuple[np.ndarray, ...]:
        """Middle time, place then, velocity, what is known of both, and squared errors left."""
        weight = np.maximum(self.weight, TINY)
        time = self.time / weight
        spread = np.maximum(self.square - time * self.time, WEAK * weight * (1 + time**2))
        place = self.place / weight[..., None]
        moment = self.moment - time[..., None] * self.place
        velocity = moment / spread[..., None]
        explained = weight * (place**2).sum(axis=-1) + spread * (velocity**2).sum(axis=-1)
        return time, place, velocity, weight, spread, np.maximum(self.energy - explained, 0.0)


def _running_sums(
    t: Float[np.ndarray, "T N"],
    x: Float[np.ndarray, "T N d"],
    v: Float[np.ndarray, "T N d"] | None,
    noise: NoiseScale,
) -> _Sums:
    """Positions weigh as 1/σ², velocities likewise; what is missing weighs nothing."""
    w, x = _weighed(x, noise.position)
    u, v = (0 * w, 0 * x) if v is None or noise.velocity is None else _weighed(v, noise.velocity)
    parts = {
        "weight": w,
        "time": w * t,
        "square": w * t**2 + u,
        "place": w[..., None] * x,
        "moment": (w * t)[..., None] * x + u[..., None] * v,
        "energy": w * (x**2).sum(axis=-1) + u * (v**2).sum(axis=-1),
        "count": 1.0 * (w > 0) + (u > 0),
    }
    return _Sums(**{k: np.cumsum(_after_zero(p), axis=1) for k, p in parts.items()})


def _weighed(values: Float[np.ndarray, "T N d"], sd: float) -> tuple[np.ndarray, np.ndarray]:
    seen = np.asarray(np.isfinite(values).all(axis=-1))
    return np.asarray(seen / sd**2), np.where(seen[..., None], values, 0.0)


def _after_zero(values: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros_like(values[:, :1]), values], axis=1)


def _first_frames(sums: _Sums, penalty: float) -> Int[np.ndarray, "T N"]:
    """For each frame, the first one of the best last piece of the track up to there."""
    tracks, frames = sums.weight.shape[0], sums.weight.shape[1] - 1
    best = np.zeros((tracks, frames + 1))
    best[:, 0] = -penalty
    first = np.zeros((tracks, frames), int)
    for after in range(1, frames + 1):
        begin = max(0, after - LONGEST)
        starts = slice(begin, after)
        part = _Sums(**{k: v[:, after, None] - v[:, starts] for k, v in vars(sums).items()})
        cost = best[:, starts] + part.solved[-1]
        chosen = cost.argmin(axis=1)
        first[:, after - 1] = begin + chosen
        best[:, after] = cost[np.arange(tracks), chosen] + penalty
    return first


def _pieces(first: Int[np.ndarray, "T N"]) -> tuple[Rows, Rows, Rows]:
    """Track, first frame and the frame after the last of every piece, in order of time."""
    found = []
    for track in range(len(first)):
        after, backwards = first.shape[1], []
        while after > 0:
            begin = int(first[track, after - 1])
            backwards.append((track, begin, after))
            after = begin
        found += backwards[::-1]
    track, begin, after = np.array(found, int).reshape(-1, 3).T
    return track, begin, after


def _fitted(
    part: _Sums,
    track: Rows,
    first: Rows,
    after: Rows,
    times: Float[np.ndarray, "T N"],
    middle: Float[np.ndarray, " d"],
    origin: Float[np.ndarray, " T"],
) -> Flights:
    time, place, velocity, weight, spread, left = part.solved
    d = place.shape[-1]
    freedom = d * np.maximum(part.count - 2, 1)
    return Flights(
        track=track,
        first=first,
        last=after - 1,
        begin=times[track, first],
        end=times[track, after - 1],
        time=time + origin[track],
        place=place + middle,
        velocity=velocity,
        place_variance=1 / weight,
        velocity_variance=1 / spread,
        misfit=left / freedom,
    )
