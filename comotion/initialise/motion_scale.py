"""Filter and process noise before training: by the likelihood of frames and the sizes of steps."""

import math
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.backend.processor import RUNS_ONCE
from comotion.data.windows import Dataset, Window, crowd, sample_excerpts
from comotion.encode import OriginFilter
from comotion.encode.filter import Filtered
from comotion.integrate import BodyNoise
from comotion.model import Model

NOISE_OF_STEP = 0.05
"""Observation noise to begin with, as a share of a usual step."""
FASTEST = 0.999
"""Quantile of seen speeds that counts as the fastest: glitches lie above it."""
LEEWAY = 1.5
"""Objects may become so many times faster than that."""
REMEMBERED = 3.0
"""Steps for which an acceleration lasts, to begin with."""
MOST_CARRIED = 0.9
"""Of an acceleration seen, to begin with."""
MOST_TRACKS, TOGETHER = 150, 6
"""What the likelihood looks at: enough for sizes within a few per cent, in seconds."""
FRAMES = 2
"""Of a window whose likelihood is looked at, for each that a forecast sees."""
CLIMB, RATE = 50, 0.15
"""Steps of Adam and their size: far enough for sizes wrong by a factor of a thousand."""


def with_motion_scale(model: Model, dataset: Dataset, *, key: Key) -> Model:
    """Models without a filter come back as they are."""
    if not isinstance(model.encoder, OriginFilter):
        return model
    windows = dataset.windows
    found = pace(windows, model.encoder.spatial)
    usual, step = found.usual, found.step
    noise = jnp.full_like(
        model.observation.log_noise_variance, 2 * math.log(NOISE_OF_STEP * usual * step)
    )
    kinds = noise.shape[0] // model.encoder.spatial
    if kinds > 1:
        noise = noise.at[model.encoder.spatial :].set(2 * math.log(NOISE_OF_STEP * usual))
    accelerated = jnp.asarray(math.log(0.3 * usual / step), FAST)
    remembered = jnp.asarray(math.log(REMEMBERED * step), FAST)
    encoder = eqx.tree_at(
        lambda e: (e.log_acceleration, e.log_memory), model.encoder, (accelerated, remembered)
    )
    encoder, noise = _likeliest(encoder, noise, _some(dataset, model.encoder.frames, key=key))
    model = eqx.tree_at(
        lambda m: (m.encoder, m.observation.log_noise_variance), model, (encoder, noise)
    )
    if not isinstance(model.process_noise, BodyNoise):
        return model
    return eqx.tree_at(
        lambda m: m.process_noise, model, _noise(model.process_noise, encoder, found)
    )


def _noise(noise: BodyNoise, encoder: OriginFilter, pace: "Pace") -> BodyNoise:
    """As restless along and across the heading as the filter found accelerations to be.

    What a filter forgets within a frame is white to it, while what moves things through a whole
    forecast may last: the memory begins at a few frames, where scores still have a slope, with as
    much diffusion and as much of the acceleration seen as the filter says.
    """
    found = float(jnp.exp(encoder.log_memory))
    memory = max(found, REMEMBERED * pace.step)
    acceleration = float(jnp.exp(encoder.log_acceleration)) * math.sqrt(found / memory)
    share = min(found / memory, MOST_CARRIED)
    steady = {
        "along": jnp.zeros(4, FAST).at[0].set(math.log(0.5 * acceleration)).at[2].set(0.5),
        "turn": jnp.zeros(4, FAST)
        .at[0]
        .set(math.log(0.5 * acceleration / pace.usual))
        .at[2]
        .set(0.5),
        "log_memory": jnp.full(2, math.log(memory), FAST),
        "carried": jnp.full(2, math.log(share / (1.0 - share)), FAST),
        "log_isotropic": jnp.asarray(math.log(0.1 * acceleration * math.sqrt(memory)), FAST),
        "log_relaxation": jnp.asarray(math.log(0.1 / memory), FAST),
        "log_typical": jnp.asarray(math.log(pace.usual), FAST),
        "most": jnp.asarray(LEEWAY * pace.fastest, FAST),
    }
    return eqx.tree_at(
        lambda n: [getattr(n, name) for name in steady], noise, list(steady.values())
    )


class Pace(NamedTuple):
    """From frame to frame: the median and nearly the largest, and the median step of time."""

    usual: float
    fastest: float
    step: float


def pace(windows: Window, spatial: int) -> Pace:
    """Positions come first among the values."""
    positions = np.where(windows.present, windows.values, np.nan)[..., :spatial]
    steps = np.diff(np.asarray(windows.times, np.float64), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        sizes = np.linalg.norm(np.diff(positions, axis=1), axis=-1) / steps[..., None]
    sizes = sizes[np.isfinite(sizes)]
    step = float(np.median(steps[steps > 0]))
    usual = float(np.median(sizes)) if sizes.size else 0.0
    fastest = float(np.quantile(sizes, FASTEST)) if sizes.size else 0.0
    floor = 1e-3  # of the unit: data in which nothing moves
    return Pace(max(usual, 1e-2 * fastest, floor), max(fastest, floor), step)


def _some(dataset: Dataset, seen: int, *, key: Key) -> Window:
    frames = min(FRAMES * seen, dataset.windows.times.shape[1])
    slots = min(TOGETHER, dataset.windows.values.shape[2])
    key_windows, key_crowd = jax.random.split(key)
    windows = sample_excerpts(dataset, frames, 1, MOST_TRACKS // slots, key=key_windows).window
    keys = jax.random.split(key_crowd, MOST_TRACKS // slots)
    few = jax.vmap(lambda window, key: crowd(window, slots, frames // 2, key=key))
    return few(windows, keys)


@partial(jax.jit, compiler_options=RUNS_ONCE)
def _likeliest(
    encoder: OriginFilter, noise: Float[Array, " O"], windows: Window
) -> tuple[OriginFilter, Float[Array, " O"]]:
    """Maximum likelihood of the frames, one program from end to end for all fits."""
    count = jnp.maximum(jnp.sum(windows.present), 1)

    def filtered(encoder: OriginFilter, log_noise: Float[Array, " O"]) -> Filtered:
        return jax.vmap(lambda window: encoder.filtered(window, jnp.exp(log_noise)))(windows)

    def loss(parts: tuple[OriginFilter, Array]) -> Float[Array, ""]:
        return -jnp.sum(filtered(*parts).log_likelihood) / count.astype(FAST)

    optimiser = optax.adam(RATE)

    def climb(now: tuple, _: None) -> tuple[tuple, None]:
        parts, state = now
        slope = jax.grad(loss)(parts)
        slope = jax.tree.map(lambda g: jnp.where(jnp.isfinite(g), g, 0.0), slope)
        with jax.numpy_dtype_promotion("standard"):
            updates, state = optimiser.update(slope, state)
        return (eqx.apply_updates(parts, updates), state), None

    first = (encoder, noise), optimiser.init(eqx.filter((encoder, noise), eqx.is_array))
    encoder, noise = jax.lax.scan(climb, first, length=CLIMB)[0][0]
    # The bank weighs factors on the noise: what these windows have on average is the usual.
    return encoder, jnp.mean(jnp.log(filtered(encoder, noise).noise_variance), axis=0)
