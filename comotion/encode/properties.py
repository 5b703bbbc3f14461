"""Static properties inferred from the motion of all objects (the paper's global latents)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.data.batches import Window
from comotion.encode.gaussian import Belief, independent_belief
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
    frames: int = eqx.field(static=True)

    def __call__(self, window: Window) -> Belief:
        count = min(self.frames, window.times.shape[0])
        values = jnp.swapaxes(window.values[:count], 0, 1)  # (A, F, O)
        seen = jnp.swapaxes(jnp.any(window.present[:count], axis=2), 0, 1)  # (A, F)
        read_others = jax.vmap(self._read_pair, in_axes=(None, None, 0, 0))
        memories = jax.vmap(read_others, in_axes=(0, 0, None, None))(values, seen, values, seen)
        pairs = window.neighbours & window.exists[None, :] & window.exists[:, None]
        weights = pairs.astype(values.dtype)
        weights = weights / jnp.maximum(jnp.sum(weights, axis=1, keepdims=True), 1.0)
        summary = jnp.einsum("ab,abz->az", weights, memories)
        mean, deviation = jnp.split(jax.vmap(self.head)(summary), 2, axis=1)
        return independent_belief(mean, jax.nn.softplus(deviation) + SMALLEST_DEVIATION)

    def _read_pair(
        self,
        own: Float[Array, "F O"],
        own_seen: Array,
        other: Float[Array, "F O"],
        other_seen: Array,
    ) -> Float[Array, " Z"]:
        def read_frame(memory, frame):
            inputs, seen = frame
            return jnp.where(seen, self.cell(inputs, memory), memory), None

        inputs = jnp.concatenate([own, other - own], axis=1)
        start = jnp.zeros(self.cell.hidden_size, own.dtype)
        memory, _ = jax.lax.scan(read_frame, start, (inputs, own_seen & other_seen), reverse=True)
        return memory


def property_encoder(
    observed: int, count: int, *, size: str, activation: str, frames: int, key: Key
) -> PropertyEncoder:
    key_cell, key_head = jax.random.split(key)
    memory, hidden = SIZES[size]
    cell = eqx.nn.GRUCell(2 * observed, memory, dtype=FAST, key=key_cell)
    head = eqx.nn.MLP(
        memory,
        2 * count,
        hidden,
        depth=1,
        activation=ACTIVATIONS[activation],
        dtype=FAST,
        key=key_head,
    )
    return PropertyEncoder(cell, head, frames)
