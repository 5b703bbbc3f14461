"""A smooth law regressed on whole flights: what bends them, whatever they began with.

Over a stretch of frames without a contact, positions and velocities are linear in where the object
was, how fast, and in the inducing values of f_s and f_b, whose accelerations are integrated once
and twice along the path. Where and how fast is eliminated stretch by stretch, so a weak force is
found under noise that hides it from frame to frame. FlightEquations that no law explains (a contact
nobody knows of) count little: their errors are Student-t distributed.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion._types import EXACT
from comotion.coordinates import Actor
from comotion.data.windows import Window
from comotion.encode.paths import NODES, between, quadrature
from comotion.initialise.curves import Curves
from comotion.initialise.linear_rates import Laws, design_at, whitener
from comotion.initialise.rates import Paths
from comotion.initialise.tracks import NoiseScale, Tracks, by_track

TAIL = 4.0
"""Degrees of freedom of a stretch's errors."""
TOGETHER = 20
"""Sequences whose bends stand in memory together."""
ROUNDS, CLIMBS = 5, 6
FEWEST = 3
"""Frames of a stretch: two are explained by any law."""
WEAK = 1e-12
SMALLEST = 1e-3
"""Variance of errors, in units of the noise: data may have less than was thought, never none."""
LEAST = 1e-6
"""Scale of a block that says nothing."""


@dataclass(frozen=True)
class Bends:
    """How each whitened inducing value of unit scale bends the paths, from rest at zero."""

    speeds: Float[np.ndarray, "P J A d n"]
    """added in each interval"""
    ways: Float[np.ndarray, "P J A d n"]
    """added to what the speed before goes"""
    steps: Float[np.ndarray, "P J"]

    @property
    def gathered(self) -> tuple[Float[np.ndarray, "P N A d n"], Float[np.ndarray, "P N A d n"]]:
        """Path and speed in each frame."""
        speeds = _summed(self.speeds)
        return _summed(self.ways + self.steps[..., None, None, None] * speeds[:, :-1]), speeds

    def __matmul__(self, weights: Float[np.ndarray, " n"]) -> "Bends":
        """Of one law."""
        speeds, ways = (part @ weights[:, None] for part in (self.speeds, self.ways))
        return Bends(speeds, ways, self.steps)


@dataclass(frozen=True)
class FlightEquations:
    """Equations of many stretches, their starts eliminated, in units of the noise."""

    design: Float[np.ndarray, "r n"]
    seen: Float[np.ndarray, " r"]
    owner: Int[np.ndarray, " r"]
    freedom: Float[np.ndarray, " E"]


@dataclass(frozen=True)
class Regressed:
    """The posterior of the weights, each block of them with a scale of its own."""

    mean: Float[np.ndarray, " n"]
    white: Float[np.ndarray, " n"]
    precision: Float[np.ndarray, "n n"]
    """of the white ones: the weights in units of their scales"""
    scales: Float[np.ndarray, " k"]
    log_evidence: float
    gains: Float[np.ndarray, " k"]
    """log evidence that each block brings"""
    misfit: Float[np.ndarray, " E"]
    """of each stretch, for each degree of freedom, in units of the noise variance"""
    straight: Float[np.ndarray, " E"]
    """the same where nothing acts"""


def curves_under(
    laws: Laws,
    weights: Float[np.ndarray, " n"],
    states: Float[np.ndarray, "P N A D"],
    windows: Window,
    tracks: Tracks,
) -> Curves:
    """What a law makes of the tracks, a few sequences after the other."""
    paths, speeds = [], []
    for first in range(0, len(states), TOGETHER):
        some = slice(first, first + TOGETHER)
        path, speed = (bends_of(laws, states[some], windows[some]) @ weights).gathered
        paths.append(path[..., 0])
        speeds.append(speed[..., 0])
    last = np.nanmax(tracks.times, axis=1, keepdims=True)
    filled = np.where(np.isfinite(tracks.times), tracks.times, last)
    times, path = by_track(filled, np.concatenate(paths))
    return Curves(times, path, by_track(filled, np.concatenate(speeds))[1])


def bends_of(laws: Laws, states: Float[np.ndarray, "P N A D"], windows: Window) -> Bends:
    speeds, ways = _bends(laws, jnp.asarray(states, EXACT), windows)
    return Bends(np.asarray(speeds), np.asarray(ways), np.diff(np.asarray(windows.times, float)))


@jax.jit
def _bends(laws: Laws, states: Float[Array, "P N A D"], windows: Window) -> tuple[Array, Array]:
    layout = laws.alone_coordinates.layout
    whiten = whitener(laws.alone), whitener(laws.pair)
    n = laws.alone.mean.size + laws.pair.mean.size

    def of_sequence(both: tuple[Array, Window]) -> tuple[Array, Array]:
        states, window = both
        active, length = window.grid.active, jnp.diff(window.times.astype(EXACT))[:, None, None]
        (J, A), d = active.shape, layout.spatial
        given = window.properties[None, :, : layout.properties].astype(EXACT)
        given = jnp.broadcast_to(given, (J, A, layout.properties))
        heard = jnp.broadcast_to(window.neighbours[None], (J, A, A))

        def add(total: tuple[Array, Array], node: tuple[Array, ...]) -> tuple:
            fraction, speed, way = node
            state = between(states[:-1], states[1:], length, fraction)
            actors = Actor(state, given, jnp.zeros((J, A, 0), EXACT))
            paths = Paths(actors, None, jnp.zeros((J, A, d), EXACT), active, heard)
            rows = design_at(laws, actors, paths, *whiten)
            return (total[0] + speed * rows, total[1] + way * rows), None

        none = jnp.zeros((J, A, d, n), EXACT)
        nodes = tuple(jnp.asarray(column) for column in (NODES, *quadrature()))
        (speeds, ways), _ = jax.lax.scan(add, (none, none), nodes)
        moves = jnp.where(active, 1.0, 0.0)[..., None, None]
        return speeds * (moves * length[..., None]), ways * (moves * length[..., None] ** 2)

    return jax.lax.map(of_sequence, (states, windows))


def stretches_of(
    bends: Bends,
    tracks: Tracks,
    noise: NoiseScale,
    calm: Bool[np.ndarray, "P J A"],
    longest: int,
) -> FlightEquations:
    """FlightEquations of up to so many frames, in whose intervals it is calm."""
    P, J, A, d, n = bends.ways.shape
    track, first, after = _cut(np.moveaxis(calm, 2, 1).reshape(P * A, J), longest)
    frames = first[:, None] + np.arange(longest)[None]
    inside, frames = frames < after[:, None], frames.clip(0, J)
    paths, speeds = bends.gathered

    def of_stretches(values: np.ndarray) -> np.ndarray:
        rows = np.moveaxis(values, 2, 1).reshape(P * A, J + 1, *values.shape[3:])
        return rows[track[:, None], frames]

    times, x = (part[track[:, None], frames] for part in by_track(tracks.times, tracks.positions))
    since = times - times[:, :1]
    w = (inside & np.isfinite(x).all(axis=2)) / noise.position
    u, v = np.zeros_like(w), np.zeros_like(x)
    if tracks.velocities is not None and noise.velocity is not None:
        v = of_stretches(tracks.velocities)
        u = (inside & np.isfinite(v).all(axis=2)) / noise.velocity
    start = np.zeros((len(track), 2 * longest, 2))
    start[:, :longest, 0], start[:, :longest, 1], start[:, longest:, 1] = w, w * since, u
    rows = [
        weight[..., None, None]
        * np.concatenate([np.nan_to_num(seen)[..., None], of_stretches(bent)], axis=-1)
        for weight, seen, bent in ((w, x, paths), (u, v, speeds))
    ]
    both = np.concatenate(rows, axis=1).reshape(len(track), 2 * longest, d * (n + 1))
    turned = np.swapaxes(start, 1, 2)
    known = turned @ start + WEAK * np.eye(2)
    left = (both - start @ np.linalg.solve(known, turned @ both)).reshape(*both.shape[:2], d, n + 1)
    seen = np.concatenate([w, u], axis=1) > 0
    left = left[seen].reshape(-1, n + 1)
    owner = np.repeat(np.nonzero(seen)[0], d)
    freedom = np.maximum(d * (seen.sum(axis=1) - 2.0), 1.0)
    return FlightEquations(left[:, 1:], left[:, 0], owner, freedom)


def _summed(parts: Float[np.ndarray, "P J A d n"]) -> Float[np.ndarray, "P N A d n"]:
    return np.cumsum(np.pad(parts, [(0, 0), (1, 0), *[(0, 0)] * 3]), axis=1)


def _cut(calm: Bool[np.ndarray, "T J"], longest: int) -> tuple[np.ndarray, ...]:
    """Track, first frame and the frame after the last."""
    found = []
    edges = np.diff(np.pad(calm.astype(int), [(0, 0), (1, 1)]), axis=1)
    begins, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    for (track, begin), (_, end) in zip(begins, ends, strict=True):
        # Neighbours share a frame, so that no interval is lost between them.
        for first in range(begin, end, longest - 1):
            after = min(first + longest, end + 1)
            if after - first >= FEWEST:
                found.append((track, first, after))
    return tuple(np.array(found, int).reshape(-1, 3).T)


def regressed(stretches: FlightEquations, blocks: Int[np.ndarray, " n"]) -> Regressed:
    """Robust least squares; `blocks` says which weights share a scale, and the evidence how large
    it is (MacKay 1992)."""
    count, last = len(stretches.freedom), blocks.max() + 1
    straight = np.bincount(stretches.owner, stretches.seen**2, count) / stretches.freedom
    sums = _totals(stretches, np.ones(count))
    climbed = _climbed(sums, blocks, np.ones(last))
    for _ in range(ROUNDS):
        misfit = _misfit(stretches, climbed)
        usual = max(float(np.median(misfit)), SMALLEST)
        trust = (TAIL + stretches.freedom) / (TAIL + stretches.freedom * misfit / usual)
        sums = _totals(stretches, trust)
        climbed = _climbed(sums, blocks, climbed.scales)
    others = [blocks != k for k in range(last)]
    without = [_climbed(sums.only(kept), blocks[kept], climbed.scales) for kept in others]
    gains = np.array([climbed.log_evidence - other.log_evidence for other in without])
    parts = climbed.mean, climbed.white, climbed.precision, climbed.scales, climbed.log_evidence
    return Regressed(*parts, gains, _misfit(stretches, climbed), straight)


@dataclass(frozen=True)
class _Totals:
    gram: Float[np.ndarray, "n n"]
    products: Float[np.ndarray, " n"]
    squares: float
    freedom: float

    def only(self, which: Bool[np.ndarray, " n"]) -> "_Totals":
        return _Totals(
            self.gram[np.ix_(which, which)], self.products[which], self.squares, self.freedom
        )


@dataclass(frozen=True)
class _Climbed:
    mean: Float[np.ndarray, " n"]
    white: Float[np.ndarray, " n"]
    precision: Float[np.ndarray, "n n"]
    known: Float[np.ndarray, " n"]
    left: float
    scales: Float[np.ndarray, " k"]
    log_evidence: float


def _misfit(stretches: FlightEquations, climbed: _Climbed) -> Float[np.ndarray, " E"]:
    left = (stretches.seen - stretches.design @ climbed.mean) ** 2
    return np.bincount(stretches.owner, left, len(stretches.freedom)) / stretches.freedom


def _totals(stretches: FlightEquations, trust: Float[np.ndarray, " E"]) -> _Totals:
    rows = np.sqrt(trust)[stretches.owner]
    design, seen = stretches.design * rows[:, None], stretches.seen * rows
    freedom = float((stretches.freedom * trust).sum())
    return _Totals(design.T @ design, design.T @ seen, float(seen @ seen), freedom)


def _climbed(
    sums: _Totals, blocks: Int[np.ndarray, " n"], scales: Float[np.ndarray, " k"]
) -> _Climbed:
    """Weights by turns with the scales of the blocks and the size of the noise."""
    variance = 1.0
    now = _solved(sums, blocks, scales, variance)
    for _ in range(CLIMBS):
        known = np.bincount(blocks, now.known, len(scales))
        grown = np.bincount(blocks, now.white**2, len(scales)) / np.maximum(known, WEAK)
        variance = max(now.left / max(sums.freedom - known.sum(), 1.0), SMALLEST)
        now = _solved(sums, blocks, now.scales * np.sqrt(grown), variance)
    return now


def _solved(
    sums: _Totals, blocks: Int[np.ndarray, " n"], scales: Float[np.ndarray, " k"], variance: float
) -> _Climbed:
    """In units of the prior, by eigenvalues: what the data know nothing of stays as it was."""
    scales = np.maximum(scales, LEAST)
    sizes = scales[blocks]
    told, axes = np.linalg.eigh(sizes[:, None] * sums.gram * sizes[None] / variance)
    told = told.clip(0)
    white = axes @ ((axes.T @ (sizes * sums.products)) / variance / (1 + told))
    weights = sizes * white
    # Left errors and prior, not a difference of large numbers.
    left = sums.squares - 2 * sums.products @ weights + weights @ sums.gram @ weights
    misfit = left / variance + white @ white
    log_evidence = -0.5 * float(misfit + sums.freedom * np.log(variance) + np.log1p(told).sum())
    precision = np.eye(len(told)) + (axes * told) @ axes.T
    known = axes**2 @ (told / (1 + told))
    return _Climbed(weights, white, precision, known, float(left), scales, log_evidence)
