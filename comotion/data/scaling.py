"""Units in which positions and velocities are about one, and back."""

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import EXACT
from comotion.data.trajectories import Trajectories

FAR = 100.0
"""Units from the origin beyond which single precision leaves too few digits for the motion."""


class Scaling(eqx.Module):
    """Affine map per feature and a unit of time; the same length unit for all positions.

    One length unit keeps circles round; the velocity unit is length over time, so that in
    scaled units velocity is still the derivative of position.
    """

    shift: Float[Array, " O"]
    scale: Float[Array, " O"]
    time: Float[Array, ""]
    property_scale: Float[Array, " C"]

    def to_scaled(self, values: Float[np.ndarray, "*b O"]) -> Float[np.ndarray, "*b O"]:
        return (values - np.asarray(self.shift)) / np.asarray(self.scale)

    def to_data(self, values: Float[np.ndarray, "*b O"]) -> Float[np.ndarray, "*b O"]:
        """In double precision: far from the origin single precision rounds the motion away."""
        return values.astype(np.float64) * np.asarray(self.scale) + np.asarray(self.shift)

    @property
    def precision(self) -> type[np.floating]:
        """The shortest numbers that hold values in the data's units as finely as the model's."""
        far = np.max(np.abs(np.asarray(self.shift)) / np.asarray(self.scale), initial=0.0)
        return np.float32 if far < FAR else np.float64


def identity_scaling(features: int, properties: int) -> Scaling:
    return Scaling(
        shift=jnp.zeros(features, EXACT),
        scale=jnp.ones(features, EXACT),
        time=jnp.ones((), EXACT),
        property_scale=jnp.ones(properties, EXACT),
    )


def unit_scaling(data: Trajectories) -> Scaling:
    """Length unit: spread of positions; time unit: the time to cross it at typical speed.

    Features without positions (pixels) are of one kind: one unit for all of them, and the time
    in which they change by it.
    """
    spatial = data.spatial or len(data.features)
    positions = data.values[..., :spatial]
    centre = np.nanmean(positions, axis=(0, 1, 2))
    length = _spread(positions - centre)
    speed = _spread(_velocities(data, spatial))
    shift, scale = np.zeros(len(data.features)), np.ones(len(data.features))
    shift[:spatial], scale[:spatial] = centre, length
    rest = spatial
    if data.velocities_observed:
        scale[spatial : 2 * spatial] = speed
        rest = 2 * spatial
    others = data.values[..., rest:]
    shift[rest:] = np.nanmean(others, axis=(0, 1, 2)) if others.shape[-1] else 0.0
    for feature in range(rest, len(data.features)):
        scale[feature] = _spread(data.values[..., feature] - shift[feature])
    properties = [_spread(data.static[..., c]) for c in range(len(data.static_names))]
    return Scaling(
        shift=jnp.asarray(shift, EXACT),
        scale=jnp.asarray(scale, EXACT),
        time=jnp.asarray(length / speed, EXACT),
        property_scale=jnp.asarray(np.array(properties), EXACT),
    )


def fit_scaling(data: Trajectories, kind: Literal["none", "units"]) -> Scaling:
    """With "none" only what is far from the origin is moved there: all of it the model sees is in
    single precision."""
    if kind == "units":
        return unit_scaling(data)
    scaling = identity_scaling(len(data.features), len(data.static_names))
    spatial = data.spatial or len(data.features)
    positions = data.values[..., :spatial]
    centre = np.nanmean(positions, axis=(0, 1, 2))
    if np.abs(centre).max() < FAR * _spread(positions - centre):
        return scaling
    shift = np.zeros(len(data.features))
    shift[:spatial] = centre
    return eqx.tree_at(lambda s: s.shift, scaling, jnp.asarray(shift, EXACT))


def _spread(values: np.ndarray) -> float:
    """Root mean square over the present values; one where there is nothing to scale by."""
    present = values[np.isfinite(values)]
    spread = float(np.sqrt(np.mean(present**2))) if present.size else 0.0
    return spread if spread > 0.0 else 1.0


def _velocities(data: Trajectories, spatial: int) -> np.ndarray:
    if data.velocities_observed:
        return data.values[..., spatial : 2 * spatial]
    steps = np.diff(data.times, axis=1)[:, :, None, None]
    return np.diff(data.values[..., :spatial], axis=1) / steps
