"""Recordings beside the states that drawn laws start from, at several moments of each."""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from comotion._types import Key, Keys
from comotion.data import Trajectories
from comotion.data.windows import Excerpt, Window, cut
from comotion.dynamics import AbstractField
from comotion.encode import OriginFilter
from comotion.model import Model, Start
from comotion.predict import FittedModel
from comotion.predict.origin import Search


class Drawn(eqx.Module):
    """Laws with a leading axis of draws; starts with axes (draw, origin, sequence, …)."""

    field: AbstractField
    starts: Start


class Seen(NamedTuple):
    """Which frames a forecast looks at, from its origin on, and with which of them it begins."""

    frames: int
    begins: int

    @property
    def and_begun(self) -> int:
        """Frames seen from the one on that it begins with."""
        return self.frames - self.begins


def seen_by(fitted: FittedModel) -> Seen:
    """A filter is at the last frame seen; other encoders lead through the first ones."""
    system, at_end = fitted.config.system, isinstance(fitted.model.encoder, OriginFilter)
    return Seen(system.encoder_frames, system.encoder_frames - 1 if at_end else 0)


def origins(data: Trajectories, seen: int, most: int) -> Int[np.ndarray, " origins"]:
    """Frames to forecast from: evenly spread, with `seen` frames and something to forecast after
    each of them in every sequence."""
    last = max(int(data.lengths.min()) - seen - 1, 0)
    return np.unique(np.linspace(0, last, most).astype(int))


@eqx.filter_jit
def draw(model: Model, excerpts: Excerpt, search: Search, frames: Array, keys: Keys) -> Drawn:
    """Draw k is draw k of a forecast with the same keys."""
    padded = jax.vmap(_with_empty_frames)(excerpts.window)
    # A filter looks at all frames it is given, so it is given no more than it may see.
    at_end = isinstance(model.encoder, OriginFilter)
    length = search.frames if at_end else excerpts.window.times.shape[1]

    def starts_of(field: AbstractField, keys: Keys, frame: Int[Array, ""]) -> Start:
        windows = jax.vmap(lambda window: cut(window, frame, length))(padded)
        starts = jax.vmap(partial(_start, model, search, field))
        return starts(Excerpt(windows, excerpts.opening), keys)

    def one(key: Key) -> Drawn:
        key_field, key_states, _ = jax.random.split(key, 3)  # as a forecast splits them
        field = model.dynamics.draw(key=key_field)
        keys = jax.random.split(key_states, excerpts.window.times.shape[0])
        return Drawn(field, jax.lax.map(partial(starts_of, field, keys), frames))

    return jax.lax.map(one, keys)


def _start(model: Model, search: Search, field: AbstractField, excerpt: Excerpt, key: Key) -> Start:
    key_start, _ = jax.random.split(key)
    if isinstance(model.encoder, OriginFilter):
        return model.draw_start(model.encode(excerpt), excerpt, key=key_start)
    return search.draw_start(model, field, model.encode(excerpt), excerpt, key=key_start)


def _with_empty_frames(window: Window) -> Window:
    """As many frames again in which nobody is there: whatever is cut has the same length."""

    def twice(frames: Array, like_last: bool) -> Array:
        more = jnp.broadcast_to(frames[-1:], frames.shape) if like_last else jnp.zeros_like(frames)
        return jnp.concatenate([frames, more])

    return Window(
        times=twice(window.times, like_last=True),
        values=twice(window.values, like_last=False),
        present=twice(window.present, like_last=False),
        alive=twice(window.alive, like_last=False),
        properties=window.properties,
        controls=twice(window.controls, like_last=True),
        neighbours=window.neighbours,
    )
