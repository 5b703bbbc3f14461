"""How large observation noise is taken to be at the start, and what is tolerated beside it."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from comotion._types import FAST
from comotion.config import Recipe
from comotion.data.windows import Window
from comotion.model import Model


def with_noise_scale(model: Model, windows: Window, plan: Recipe) -> Model:
    """Shares of each feature's variance."""
    layout = model.dynamics.layout
    variance = _feature_variance(windows, together=layout.hidden)
    # Before a hidden state is learned, nothing of what is observed is explained.
    share = 1.0 if layout.hidden else plan.start_noise
    tolerance = plan.tolerance * variance
    if layout.has_velocity and not layout.hidden and len(variance) > layout.spatial:
        tolerance[layout.velocity] = plan.velocity_tolerance * variance[layout.velocity]
    return eqx.tree_at(
        lambda m: (m.observation.log_noise_variance, m.observation.tolerance),
        model,
        (jnp.asarray(np.log(share * variance), FAST), jnp.asarray(tolerance, FAST)),
    )


def _feature_variance(windows: Window, *, together: bool) -> Float[np.ndarray, " O"]:
    """`together`: the mean over all features for each, since some pixels are never lit."""
    values = np.where(windows.present, windows.values, np.nan)
    variance = np.nanvar(values, axis=(0, 1, 2))
    return (np.full_like(variance, variance.mean()) if together else variance).clip(1e-12)
