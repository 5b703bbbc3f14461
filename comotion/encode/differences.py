"""States and rates read off the data by finite differences, for starting values."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.coordinates.layout import Layout
from comotion.data.windows import Window


class Snapshots(eqx.Module):
    """States at both ends of each interval, the mean rate over it, and where all are known."""

    states: Float[Array, "P J A D"]
    after: Float[Array, "P J A D"]
    rates: Float[Array, "P J A D"]
    known: Bool[Array, "P J A"]


def finite_differences(windows: Window, layout: Layout, *, jumps: bool = False) -> Snapshots:
    """`windows` is a batch; entries of the state that are never observed are zero.

    With `jumps` time is discrete: a rate is the whole change to the next frame, and there is no
    path between the frames.
    """
    states, known = _states(windows, layout)
    steps = jnp.diff(windows.times, axis=1)[:, :, None, None]
    both = known[:, :-1] & known[:, 1:] & (steps[..., 0] > 0)
    before, after = states[:, :-1], states[:, 1:]
    if jumps:
        return Snapshots(before, before, after - before, both)
    return Snapshots(before, after, (after - before) / jnp.where(steps > 0, steps, 1.0), both)


def _states(windows: Window, layout: Layout) -> tuple[Array, Array]:
    """Observed features in every frame; hidden velocities from central differences."""
    states, known = windows.values, jnp.all(windows.present, axis=-1)
    if states.shape[-1] < layout.spatial * layout.vectors:
        velocities, velocity_known = _central_differences(states, known, windows.times)
        states = jnp.concatenate([states, velocities], axis=-1)
        known = known & velocity_known
    latent = jnp.zeros((*states.shape[:-1], layout.state - states.shape[-1]), states.dtype)
    return jnp.concatenate([states, latent], axis=-1), known


def _central_differences(values: Array, known: Array, times: Array) -> tuple[Array, Array]:
    """(x₊ − x₋) / (t₊ − t₋), one-sided at the ends."""
    after = jnp.concatenate([values[:, 1:], values[:, -1:]], axis=1)
    before = jnp.concatenate([values[:, :1], values[:, :-1]], axis=1)
    later = jnp.concatenate([times[:, 1:], times[:, -1:]], axis=1)
    earlier = jnp.concatenate([times[:, :1], times[:, :-1]], axis=1)
    known_after = jnp.concatenate([known[:, 1:], known[:, -1:]], axis=1)
    known_before = jnp.concatenate([known[:, :1], known[:, :-1]], axis=1)
    span = (later - earlier)[:, :, None, None]
    slopes = (after - before) / jnp.where(span > 0, span, 1.0)
    return slopes, known_after & known_before & (span[..., 0] > 0)
