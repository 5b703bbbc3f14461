"""Leading principal components: a stand-in for positions where only pixels or the like are seen."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from comotion._types import FAST
from comotion.data.windows import Window
from comotion.errors import BadInput

SMALLEST_SHARE = 1e-6


class Components(eqx.Module):
    """Scores are (values − mean) · directions, of variance one over the data."""

    mean: Float[Array, " O"]
    directions: Float[Array, "O G"]

    def scores(self, values: Float[Array, "*b O"]) -> Float[Array, "*b G"]:
        rows = values.reshape(-1, values.shape[-1]) - self.mean[None]
        return (rows @ self.directions).reshape(*values.shape[:-1], -1)


def principal_components(windows: Window, count: int) -> Components:
    """Of all object-frames with nothing missing; `windows` is a batch.

    Pictures of something that moves differ most, and most smoothly, by where it is.
    """
    complete = np.all(np.asarray(windows.present), axis=-1)
    if not complete.any():
        raise BadInput(
            "no object is seen in any frame with nothing missing, which their components need; "
            "fill some gaps, or leave out the features that are missing"
        )
    rows = np.asarray(windows.values, np.float64)[complete]
    mean = rows.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(rows - mean, rowvar=False, ddof=0))
    order = np.argsort(-variances)[:count]
    least = max(SMALLEST_SHARE * float(variances.max()), np.finfo(np.float64).tiny)
    scaled = directions[:, order] / np.sqrt(np.maximum(variances[order], least))
    return Components(jnp.asarray(mean, FAST), jnp.asarray(scaled, FAST))
