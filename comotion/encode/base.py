"""What every encoder of initial states promises, and the frames it may look at."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.data.windows import Window
from comotion.encode.gaussian import Belief


class FirstFrames(eqx.Module):
    """The first frames of one object from its entry on; times count from the entry."""

    times: Float[Array, "*A F"]
    values: Float[Array, "*A F O"]
    present: Bool[Array, "*A F O"]


class AbstractInitialStateEncoder(eqx.Module):
    """q(H₁ | first frames): a belief about each object's state at the moment it enters."""

    is_closed_form: ClassVar[bool] = False
    """whether it is of use before any training"""
    frames: eqx.AbstractVar[int]

    @abstractmethod
    def __call__(self, window: Window, noise_variance: Float[Array, " O"]) -> Belief: ...


def first_frames(window: Window, count: int) -> FirstFrames:
    """The first `count` frames of each object, with a leading axis of objects."""
    frames = window.entry[:, None] + jnp.arange(count)[None, :]  # (A, F)
    inside = frames < window.times.shape[0]
    frames = jnp.minimum(frames, window.times.shape[0] - 1)
    times = window.times[frames]

    def gather(per_object: Array) -> Array:
        return jax.vmap(lambda column, rows: column[rows])(jnp.swapaxes(per_object, 0, 1), frames)

    present = gather(window.present) & inside[:, :, None]
    return FirstFrames(times - times[:, :1], gather(window.values), present)
