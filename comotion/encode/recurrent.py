"""The paper's encoder of initial states: a GRU that reads the first frames backwards."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window
from comotion.encode.base import AbstractInitialStateEncoder, FirstFrames, first_frames
from comotion.encode.gaussian import Belief, independent_belief

CHUNK = 5
HIDDEN_CHUNK = 20
HIDDEN = 50
GLANCE = 20
SMALLEST_DEVIATION = 1e-4
SURER = -3.0  # before the softplus: deviations of about 0.05


class Components(eqx.Module):
    """Scores are (values − mean) · directions, of variance one over the data."""

    mean: Float[Array, " O"]
    directions: Float[Array, "O G"]

    def scores(self, values: Float[Array, "*b O"]) -> Float[Array, "*b G"]:
        rows = values.reshape(-1, values.shape[-1]) - self.mean[None]
        return (rows @ self.directions).reshape(*values.shape[:-1], -1)


class RecurrentEncoder(AbstractInitialStateEncoder):
    """Each part of the state has a small network of its own on its own chunk of the GRU's output.

    A missing value is read as the one seen just before in reading order, a frame with nothing in
    it is skipped. With `reads_times` the time to the frame read before is an input as well, for
    data with irregular steps.

    Where positions are hidden, the GRU reads the scores that `glance` gives a frame, and the heads
    learn what to add to a straight line through the leading scores.
    """

    glance: Components | None
    cell: eqx.nn.GRUCell
    heads: tuple[eqx.nn.MLP, ...]
    frames: int = eqx.field(static=True)
    reads_times: bool = eqx.field(static=True)

    def __call__(self, window: Window, noise_variance: Float[Array, " O"]) -> Belief:
        seen = first_frames(window, self.frames)
        if self.glance is not None:
            seen = jax.lax.stop_gradient(glimpses(self.glance, seen))
        summary = jax.vmap(self._read)(seen)
        chunks = jnp.split(summary, len(self.heads), axis=1)
        outputs = [jax.vmap(head)(chunk) for head, chunk in zip(self.heads, chunks, strict=True)]
        means, deviations = zip(*(jnp.split(output, 2, axis=1) for output in outputs), strict=True)
        deviation = jax.nn.softplus(jnp.concatenate(deviations, axis=1)) + SMALLEST_DEVIATION
        mean = jnp.concatenate(means, axis=1)
        if self.glance is not None:
            mean = mean + _straight_line(seen, mean.shape[1], means[0].shape[1])
        return independent_belief(mean, deviation)

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


def glimpses(components: Components, seen: FirstFrames) -> FirstFrames:
    """Scores instead of values; a frame with anything missing gives none."""
    scores = components.scores(seen.values)
    complete = jnp.all(seen.present, axis=-1, keepdims=True)
    return FirstFrames(seen.times, scores, jnp.broadcast_to(complete, scores.shape))


def _straight_line(seen: FirstFrames, state: int, axes: int) -> Float[Array, "A D"]:
    """Position and velocity by least squares on the leading scores, and zero for what is left."""
    weight = seen.present[..., :axes].astype(seen.values.dtype)
    times = jnp.broadcast_to(seen.times[..., None], weight.shape)
    values = seen.values[..., :axes]
    count = jnp.maximum(jnp.sum(weight, axis=1), 1.0)
    middle, level = (jnp.sum(weight * part, axis=1) / count for part in (times, values))
    away = weight * (times - middle[:, None])
    squares = jnp.sum(away**2, axis=1)
    slope = jnp.sum(away * values, axis=1) / jnp.where(squares > 0, squares, 1.0)
    line = jnp.concatenate([level - slope * middle, slope], axis=1)[:, :state]
    return jnp.pad(line, ((0, 0), (0, state - line.shape[1])))


def recurrent_encoder(
    layout: Layout,
    observed: int,
    *,
    frames: int,
    reads_times: bool,
    key: Key,
) -> RecurrentEncoder:
    """What a glance at hidden positions shows is not known before data are seen."""
    glance = None
    if layout.hidden:
        few = min(GLANCE, observed)  # enough components to tell where things are
        glance = Components(jnp.zeros(observed, FAST), jnp.zeros((observed, few), FAST))
    key_cell, *key_heads = jax.random.split(key, 1 + len(layout.blocks))
    chunk = CHUNK if glance is None else HIDDEN_CHUNK
    read = observed if glance is None else glance.directions.shape[1]
    inputs = read + (1 if reads_times else 0)
    cell = eqx.nn.GRUCell(inputs, chunk * len(layout.blocks), dtype=FAST, key=key_cell)
    heads = tuple(
        eqx.nn.MLP(chunk, 2 * size, HIDDEN, depth=1, dtype=FAST, key=key_head)
        for size, key_head in zip(layout.blocks, key_heads, strict=True)
    )
    if glance is not None:
        heads = tuple(_surer(head) for head in heads)
    return RecurrentEncoder(
        glance=glance, cell=cell, heads=heads, frames=frames, reads_times=reads_times
    )


def _surer(head: eqx.nn.MLP) -> eqx.nn.MLP:
    """Deviations start small: a decoder learns nothing from states scattered over the prior."""
    bias = head.layers[-1].bias
    assert bias is not None
    mean, deviation = jnp.split(bias, 2)
    surer = jnp.concatenate([mean, deviation + SURER])
    return eqx.tree_at(lambda h: h.layers[-1].bias, head, surer)
