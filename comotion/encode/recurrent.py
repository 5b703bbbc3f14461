"""The paper's encoder of initial states: a GRU that reads the first frames backwards."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.data.batches import Window
from comotion.encode.base import AbstractInitialStateEncoder, FirstFrames, first_frames
from comotion.encode.gaussian import Belief, independent_belief
from comotion.layout import Layout

CHUNK = 5
HIDDEN = 50
SMALLEST_DEVIATION = 1e-4


class RecurrentEncoder(AbstractInitialStateEncoder):
    """Each part of the state has a small network of its own on its own chunk of the GRU's output.

    A missing value is read as the one seen just before in reading order, a frame with nothing in
    it is skipped. With `reads_times` the time to the frame read before is an input as well, for
    data with irregular steps.
    """

    cell: eqx.nn.GRUCell
    heads: tuple[eqx.nn.MLP, ...]
    frames: int = eqx.field(static=True)
    reads_times: bool = eqx.field(static=True)

    def __call__(self, window: Window, noise_variance: Float[Array, " O"]) -> Belief:
        summary = jax.vmap(self._read)(first_frames(window, self.frames))
        chunks = jnp.split(summary, len(self.heads), axis=1)
        outputs = [jax.vmap(head)(chunk) for head, chunk in zip(self.heads, chunks, strict=True)]
        means, deviations = zip(*(jnp.split(output, 2, axis=1) for output in outputs), strict=True)
        deviation = jax.nn.softplus(jnp.concatenate(deviations, axis=1)) + SMALLEST_DEVIATION
        return independent_belief(jnp.concatenate(means, axis=1), deviation)

    def _read(self, seen: FirstFrames) -> Float[Array, " Z"]:
        counts = jnp.maximum(jnp.sum(seen.present, axis=0), 1).astype(seen.values.dtype)
        average = jnp.sum(jnp.where(seen.present, seen.values, 0.0), axis=0) / counts
        read = jnp.where(jnp.any(seen.present, axis=1), seen.times, jnp.inf)
        before = jnp.append(jax.lax.cummin(read, reverse=True)[1:], jnp.inf)
        steps = jnp.where(jnp.isfinite(before), before - seen.times, 0.0)

        def read_frame(carry, frame):
            memory, latest = carry
            values, present, step = frame
            latest = jnp.where(present, values, latest)
            inputs = jnp.append(latest, step) if self.reads_times else latest
            memory = jnp.where(jnp.any(present), self.cell(inputs, memory), memory)
            return (memory, latest), None

        start = (jnp.zeros(self.cell.hidden_size, seen.values.dtype), average)
        frames = (seen.values, seen.present, steps)
        (memory, _), _ = jax.lax.scan(read_frame, start, frames, reverse=True)
        return memory


def recurrent_encoder(
    layout: Layout, observed: int, *, frames: int, reads_times: bool, key: Key
) -> RecurrentEncoder:
    key_cell, *key_heads = jax.random.split(key, 1 + len(layout.blocks))
    inputs = observed + (1 if reads_times else 0)
    cell = eqx.nn.GRUCell(inputs, CHUNK * len(layout.blocks), dtype=FAST, key=key_cell)
    heads = tuple(
        eqx.nn.MLP(CHUNK, 2 * size, HIDDEN, depth=1, dtype=FAST, key=key_head)
        for size, key_head in zip(layout.blocks, key_heads, strict=True)
    )
    return RecurrentEncoder(cell, heads, frames, reads_times)
