"""States and rates read off the data by finite differences, for starting values."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.data.batches import Window
from comotion.layout import Layout


class Snapshots(eqx.Module):
    """States at both ends of each interval, the mean rate over it, and where all are known."""

    states: Float[Array, "P J A D"]
    after: Float[Array, "P J A D"]
    rates: Float[Array, "P J A D"]
    known: Bool[Array, "P J A"]


def finite_differences(windows: Window, layout: Layout) -> Snapshots:
    """`windows` is a batch; extra state dimensions are unknown and start at zero."""
    moving = layout.spatial * layout.vectors
    states, known = _states(windows, layout)
    steps = jnp.diff(windows.times, axis=1)[:, :, None, None]
    safe = jnp.where(steps > 0, steps, 1.0)
    rates = jnp.diff(states, axis=1) / safe
    both = known[:, :-1] & known[:, 1:] & (steps[..., 0] > 0)
    extra = jnp.zeros((*states.shape[:-1], layout.state - moving), states.dtype)
    states = jnp.concatenate([states, extra], axis=-1)
    rates = jnp.concatenate([rates, extra[:, :-1]], axis=-1)
    return Snapshots(states[:, :-1], states[:, 1:], rates, both)


def _states(windows: Window, layout: Layout) -> tuple[Array, Array]:
    """Position and velocity in every frame; unobserved velocities from central differences."""
    moving = layout.spatial * layout.vectors
    observed = min(windows.values.shape[-1], moving)
    values, present = windows.values[..., :observed], windows.present[..., :observed]
    known = jnp.all(present, axis=-1)
    if observed == moving:
        return values, known
    velocities, velocity_known = _central_differences(values, known, windows.times)
    return jnp.concatenate([values, velocities], axis=-1), known & velocity_known


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
