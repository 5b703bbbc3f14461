"""Draws of the future: some on each device at once, every sequence under each drawn law."""

import dataclasses
import math
from collections.abc import Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float

from comotion._types import Key, Keys
from comotion.backend.devices import everywhere, mesh_of, over_parts
from comotion.backend.normal import standard_normal
from comotion.data.windows import Excerpt, Grid
from comotion.dynamics import InteractingDynamics
from comotion.model import Beliefs, Model
from comotion.predict.change import Change
from comotion.predict.origin import Search

SEQUENCES_TOGETHER = 100
"""Few sequences are followed under several laws together."""
MESSAGES_TOGETHER = 200_000
"""So many messages of f_b on a device take half a gigabyte."""
NUMBERS_TOGETHER = 10_000_000
"""So many numbers of a forecast are drawn together on a device."""


class DrawnFutures(NamedTuple):
    """Futures of every sequence under each law, and how many of their steps missed a contact."""

    trajectory: Float[Array | np.ndarray, "*L P K A O"]
    observation: Float[Array | np.ndarray, "*L P K A O"]
    missed: Float[Array | np.ndarray, "*L"]


def draw_chunks(
    model: Model,
    excerpts: Excerpt,
    grids: Grid,
    draws: int,
    search: Search,
    change: Change | None = None,
    *,
    key: Key,
) -> Iterator[tuple[int, DrawnFutures]]:
    """Draws, some on each device at once: how many are done, and those of this chunk.

    Few sequences alone would leave a device waiting for its own overhead, so it follows them under
    several laws together.
    """
    model = dataclasses.replace(model, integrator=model.integrator.without_gradient())
    devices = jax.local_devices()[:draws]
    mesh = mesh_of(devices)
    together = draws_together(model, grids, math.ceil(draws / len(devices)))
    size = together * len(devices)
    keys = jax.random.split(key, draws)
    beliefs = believed(*everywhere((model, excerpts), None))
    shared = everywhere((model, beliefs, excerpts, grids, change), mesh)
    for start in range(0, draws, size):
        numbers = np.minimum(np.arange(start, start + size), draws - 1)  # the last may be too many
        chunk = _some_draws(*shared, keys[numbers], search, mesh)
        done = min(start + size, draws)
        yield done, DrawnFutures(*(np.asarray(values)[: done - start] for values in chunk))


def draws_together(model: Model, grids: Grid, most: int) -> int:
    """On one device: as many as keep it busy, and no more than memory holds."""
    (sequences, times), objects = grids.times.shape, grids.active.shape[-1]
    numbers = sequences * times * objects * model.dynamics.layout.state
    room = min(
        SEQUENCES_TOGETHER // sequences,
        MESSAGES_TOGETHER // (sequences * messages_of(model, objects)),
        NUMBERS_TOGETHER // numbers,
    )
    return min(max(1, room), most)


def messages_of(model: Model, objects: int) -> int:
    """In one sequence, at least one for each object."""
    most = max(1, objects - 1)
    if isinstance(model.dynamics, InteractingDynamics):
        most = min(most, model.dynamics.graph.most or most)
    return objects * most


@eqx.filter_jit
def believed(model: Model, excerpts: Excerpt) -> Beliefs:
    """Of every sequence, once for all draws."""
    return jax.vmap(model.encode)(excerpts)


@eqx.filter_jit
def _some_draws(
    model: Model,
    beliefs: Beliefs,
    excerpts: Excerpt,
    grids: Grid,
    change: Change | None,
    keys: Keys,
    search: Search,
    mesh: Mesh | None,
) -> DrawnFutures:
    def part(
        shared: tuple[Model, Beliefs, Excerpt, Grid, Change | None], keys: Keys
    ) -> DrawnFutures:
        return jax.vmap(lambda key: one_draw(*shared, search, key))(keys)

    return over_parts(part, mesh, (model, beliefs, excerpts, grids, change), keys)


def one_draw(
    model: Model,
    beliefs: Beliefs,
    excerpts: Excerpt,
    grids: Grid,
    change: Change | None,
    search: Search,
    key: Key,
) -> DrawnFutures:
    """Every sequence under one drawn law: noise-free, and as it would be observed."""
    key_field, key_states, key_noise = jax.random.split(key, 3)
    field = model.dynamics.draw(key=key_field)

    def follow(
        beliefs: Beliefs, excerpt: Excerpt, grid: Grid, key: Key, change: Change | None
    ) -> tuple[Array, Array, Array]:
        key_start, key_follow = jax.random.split(key)
        window = excerpt.window
        if beliefs.habits is None:
            start = search.draw_start(model, field, beliefs, excerpt, key=key_start)
        else:  # at the last frame seen there is nothing left to lead through
            start = model.draw_start(beliefs, excerpt, key=key_start)
        if change is not None:
            start, window, grid = change.apply(start, window, grid)
        states, missed = model.follow_noisy(field, start, window, grid, key=key_follow)
        return model.observation.decoder(states), jnp.sqrt(beliefs.noise_variance), missed

    keys = jax.random.split(key_states, grids.times.shape[0])
    each = (beliefs, excerpts, grids, keys, change)
    together = MESSAGES_TOGETHER // messages_of(model, grids.active.shape[-1])
    if together >= len(keys):
        means, noise_sd, missed = jax.vmap(follow)(*each)
    else:  # so many that memory would not hold what they tell each other
        means, noise_sd, missed = jax.lax.map(
            lambda one: follow(*one), each, batch_size=max(1, together)
        )
    noise = standard_normal(means.shape, means.dtype, key=key_noise)
    observed = means + jnp.einsum("pkao,po->pkao", noise, noise_sd)
    return DrawnFutures(means, observed, jnp.sum(missed))
