"""Static properties inferred from the motion of all objects (the paper's global latents)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import FAST, Key
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window, cut
from comotion.encode.gaussian import Belief, independent_belief
from comotion.encode.readings import READINGS, AbstractReading
from comotion.encode.recurrent import SMALLEST_DEVIATION

SIZES = {"small": (25, 50), "large": (100, 100)}
ACTIVATIONS = {"elu": jax.nn.elu, "relu": jax.nn.relu}


class PropertyEncoder(eqx.Module):
    """q(C | first frames of all objects).

    A recurrent network reads, for each ordered pair, what both objects do; an object's summary
    is the mean over the pairs it takes part in, so any number of objects in any order will do.
    """

    cell: eqx.nn.GRUCell
    head: eqx.nn.MLP
    reading: AbstractReading
    frames: int = eqx.field(static=True)

    def __call__(self, window: Window) -> Belief:
        count = min(self.frames, window.times.shape[0])
        opening = cut(window, jnp.zeros((), jnp.int32), count)
        read = self.reading(opening)
        memories = jax.vmap(jax.vmap(self._remember))(read.inputs, read.seen)
        pairs = window.neighbours & window.exists[None, :] & window.exists[:, None]
        weights = pairs.astype(memories.dtype)
        weights = weights / jnp.maximum(jnp.sum(weights, axis=1, keepdims=True), 1.0)
        summary = jnp.einsum("ab,abz->az", weights, memories)
        mean, deviation = jnp.split(jax.vmap(self.head)(summary), 2, axis=1)
        return independent_belief(mean, jax.nn.softplus(deviation) + SMALLEST_DEVIATION)

    def _remember(self, inputs: Float[Array, "F I"], seen: Bool[Array, " F"]) -> Float[Array, " Z"]:
        def read_frame(memory, frame):
            inputs, seen = frame
            return jnp.where(seen, self.cell(inputs, memory), memory), None

        start = jnp.zeros(self.cell.hidden_size, inputs.dtype)
        memory, _ = jax.lax.scan(read_frame, start, (inputs, seen), reverse=True)
        return memory


def property_encoder(
    observed: int,
    layout: Layout,
    *,
    reads: str,
    size: str,
    activation: str,
    frames: int,
    key: Key,
) -> PropertyEncoder:
    key_cell, key_head = jax.random.split(key)
    memory, hidden = SIZES[size]
    reading = READINGS[reads](observed, layout)
    cell = eqx.nn.GRUCell(reading.in_size, memory, dtype=FAST, key=key_cell)
    head = eqx.nn.MLP(
        memory,
        2 * layout.properties,
        hidden,
        depth=1,
        activation=ACTIVATIONS[activation],
        dtype=FAST,
        key=key_head,
    )
    return PropertyEncoder(cell, head, reading, frames)
