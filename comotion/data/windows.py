"""From trajectories to arrays on the device: windows of frames, and random windows of windows."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion._types import FAST, Key
from comotion.data.scaling import Scaling
from comotion.data.trajectories import Trajectories


class Grid(eqx.Module):
    """The times a trajectory is wanted at, and what is known about each interval between them."""

    times: Float[Array, "*P K"]
    active: Bool[Array, "*P J A"]
    controls: Float[Array, "*P K A U"]


class Window(eqx.Module):
    """A stretch of frames of one sequence in scaled units; with a leading axis, a batch of them.

    Times start at zero, are padded with the last time, and missing values are zero: `present`
    says which values count, `alive` which objects are in the scene.
    """

    times: Float[Array, "*P N"]
    values: Float[Array, "*P N A O"]
    present: Bool[Array, "*P N A O"]
    alive: Bool[Array, "*P N A"]
    properties: Float[Array, "*P A C"]
    controls: Float[Array, "*P N A U"]
    neighbours: Bool[Array, "*P A A"]

    def __getitem__(self, some: slice) -> "Window":
        """Some of a batch."""
        return jax.tree.map(lambda leaf: leaf[some], self)

    @property
    def entry(self) -> Int[Array, " A"]:
        """The frame at which each object enters the scene."""
        return jnp.argmax(self.alive, axis=0)

    @property
    def exists(self) -> Bool[Array, " A"]:
        return jnp.any(self.alive, axis=0)

    @property
    def grid(self) -> Grid:
        """The window's own frames; an object moves in an interval if it is there at both ends."""
        return Grid(self.times, self.alive[:-1] & self.alive[1:], self.controls)


class Excerpt(eqx.Module):
    """A window, and the opening of the sequence it comes from: properties are read off that."""

    window: Window
    opening: Window


class Dataset(eqx.Module):
    """All sequences of a data set as one batch of windows, and how long each really is."""

    windows: Window
    lengths: Int[Array, " P"]
    straight_line: Float[Array, "H O"] | None = None
    """mean absolute error of a straight line from the last step, by lead: what scores are
    measured in"""

    def __len__(self) -> int:
        return self.lengths.shape[0]


def to_dataset(data: Trajectories, scaling: Scaling) -> Dataset:
    lengths = data.lengths
    times = (data.times - data.times[:, :1]) / float(scaling.time)
    last = np.take_along_axis(times, lengths[:, None] - 1, axis=1)
    times = np.where(np.arange(times.shape[1])[None, :] < lengths[:, None], times, last)
    windows = Window(
        times=jnp.asarray(times, FAST),
        values=jnp.asarray(np.nan_to_num(scaling.to_scaled(data.values)), FAST),
        present=jnp.asarray(data.present),
        alive=jnp.asarray(data.alive),
        properties=jnp.asarray(
            np.nan_to_num(data.static / np.asarray(scaling.property_scale)), FAST
        ),
        controls=jnp.asarray(without_gaps(data), FAST),
        neighbours=jnp.asarray(data.neighbours),
    )
    return Dataset(windows, jnp.asarray(lengths))


def with_straight_line(dataset: Dataset, spatial: int, horizon: int) -> Dataset:
    """The data set with the error a straight line makes at each of `horizon` leads."""
    windows = dataset.windows
    values = np.where(windows.present, np.asarray(windows.values, np.float64), np.nan)
    times = np.asarray(windows.times, np.float64)
    steps = np.diff(times, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.diff(values[..., :spatial], axis=1) / steps[:, :, None, None]
    slopes[~np.isfinite(slopes)] = np.nan
    errors = [_straight_errors(values, times, slopes, lead) for lead in range(1, horizon + 1)]
    known = np.stack(errors)
    usual = np.nanmean(known) if np.isfinite(known).any() else 1.0
    floor = 1e-3 * usual if usual > 0 else 1.0
    scale = np.maximum(np.where(np.isfinite(known), known, usual), floor)
    return eqx.tree_at(
        lambda d: d.straight_line, dataset, jnp.asarray(scale, FAST), is_leaf=lambda x: x is None
    )


def _straight_errors(
    values: Float[np.ndarray, "P N A O"],
    times: Float[np.ndarray, "P N"],
    slopes: Float[np.ndarray, "P J A d"],
    lead: int,
) -> Float[np.ndarray, " O"]:
    """Of positions that go on at the last slope, and of everything else that stays as it is."""
    spatial, frames = slopes.shape[-1], values.shape[1]
    if frames < lead + 2:
        return np.full(values.shape[-1], np.nan)
    now, later = values[:, 1 : frames - lead], values[:, 1 + lead :]
    ahead = times[:, 1 + lead :] - times[:, 1 : frames - lead]
    moved = np.zeros_like(now)
    moved[..., :spatial] = slopes[:, : frames - lead - 1] * ahead[:, :, None, None]
    errors = np.abs(later - now - moved)
    real = np.broadcast_to((ahead > 0)[:, :, None, None], errors.shape)
    counted = np.isfinite(errors) & real
    return np.where(counted, errors, 0.0).sum(axis=(0, 1, 2)) / np.maximum(
        counted.sum(axis=(0, 1, 2)), 1
    )


def without_gaps(data: Trajectories) -> Float[np.ndarray, "P N A U"]:
    """Controls run straight through frames in which they are not known; zero where nobody is."""
    controls = data.controls.copy()
    gaps = np.isnan(controls).any(axis=1) & ~np.isnan(controls).all(axis=1)
    for p, a, u in np.argwhere(gaps):
        frames, column = data.times[p, : data.lengths[p]], controls[p, : data.lengths[p], a, u]
        known = np.isfinite(column)
        controls[p, : len(frames), a, u] = np.interp(frames, frames[known], column[known])
    return np.nan_to_num(controls)


def cut(window: Window, start: Int[Array, ""], horizon: int) -> Window:
    """`horizon` frames from frame `start` on, with times starting at zero again."""

    def stretch(frames: Array) -> Array:
        return jax.lax.dynamic_slice_in_dim(frames, start, horizon, axis=0)

    times = stretch(window.times)
    return Window(
        times=times - times[0],
        values=stretch(window.values),
        present=stretch(window.present),
        alive=stretch(window.alive),
        properties=window.properties,
        controls=stretch(window.controls),
        neighbours=window.neighbours,
    )


def most_together(dataset: Dataset, frames: int) -> int:
    """The most objects that are there in any window of so many frames."""
    alive = np.asarray(dataset.windows.alive)
    frames = min(frames, alive.shape[1])
    ever = np.lib.stride_tricks.sliding_window_view(alive, frames, axis=1).any(axis=-1)
    return int(ever.sum(axis=-1).max())


def crowd(window: Window, slots: int, frame: int, *, key: Key) -> Window:
    """The same window with few slots: those who are there in a frame, then those who are at all.

    Of more of them a random choice is kept.
    """
    luck = jax.random.uniform(key, window.exists.shape, FAST)
    rank = luck - window.alive[frame].astype(FAST) - window.exists.astype(FAST)
    return _with_slots(window, jnp.argsort(rank)[:slots])


def _with_slots(window: Window, kept: Int[Array, " a"]) -> Window:
    return Window(
        times=window.times,
        values=window.values[:, kept],
        present=window.present[:, kept],
        alive=window.alive[:, kept],
        properties=window.properties[kept],
        controls=window.controls[:, kept],
        neighbours=window.neighbours[kept][:, kept],
    )


def neighbourhood(
    window: Window, slots: int, judged: int, seen: int, spatial: int, *, key: Key
) -> Window:
    """The same window with those who are nearest to one of the objects in the last frame seen.

    The farther of them are only there to be heard: what is known of the frames after is left out
    for all but the `judged` nearest.
    """
    there = window.alive[seen - 1]
    luck = jax.random.uniform(key, there.shape, FAST)
    middle = jnp.argmax(jnp.where(there, luck, -1.0))
    places = window.values[seen - 1, :, :spatial]
    squared = jnp.sum((places - places[middle][None]) ** 2, axis=-1)
    kept = jnp.argsort(jnp.where(there, squared, jnp.inf))[:slots]
    few = _with_slots(window, kept)
    later = jnp.arange(window.times.shape[0]) >= seen
    only_heard = later[:, None] & (jnp.arange(slots) >= judged)[None]
    return eqx.tree_at(lambda w: w.present, few, few.present & ~only_heard[..., None])


@partial(jax.jit, static_argnames=("horizon", "opening", "count", "anywhere"))
def sample_excerpts(
    dataset: Dataset, horizon: int, opening: int, count: int, *, anywhere: bool = False, key: Key
) -> Excerpt:
    """`count` windows of `horizon` frames of random sequences at random starts.

    Sequences come in shuffled order rather than independently, so that with as many windows as
    sequences each sequence is seen once: the same expectation, less variance. With `anywhere`,
    openings are cut at random too: properties are the same in all frames.
    """
    key_sequences, key_starts = jax.random.split(key)
    sequences = _shuffled_indices(len(dataset), count, key=key_sequences)
    chosen = jax.tree.map(lambda leaf: leaf[sequences], dataset.windows)
    lengths = dataset.lengths[sequences]
    window = _random_cuts(chosen, lengths, horizon, key=key_starts)
    if not anywhere:
        return Excerpt(window, first(chosen, opening))
    key_openings = jax.random.fold_in(key_starts, 1)
    return Excerpt(window, _random_cuts(chosen, lengths, opening, key=key_openings))


def _random_cuts(windows: Window, lengths: Int[Array, " B"], frames: int, *, key: Key) -> Window:
    free = jnp.maximum(lengths - frames, 0)
    starts = jax.random.randint(key, lengths.shape, 0, free + 1)
    return jax.vmap(lambda window, start: cut(window, start, frames))(windows, starts)


@partial(jax.jit, static_argnames="frames")
def first(windows: Window, frames: int) -> Window:
    """The first frames of every window of a batch."""
    start = jnp.zeros((), jnp.int32)
    return jax.vmap(lambda window: cut(window, start, frames))(windows)


def _shuffled_indices(population: int, count: int, *, key: Key) -> Int[Array, " B"]:
    rounds = -(-count // population)
    keys = jax.random.split(key, rounds)
    orders = jax.vmap(lambda k: jax.random.permutation(k, population))(keys)
    return orders.reshape(-1)[:count]
