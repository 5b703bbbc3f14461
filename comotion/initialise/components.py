"""Leading principal components: a stand-in for positions where only pixels or the like are seen."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from comotion._types import FAST
from comotion.data.windows import Window
from comotion.encode import Components, RecurrentEncoder
from comotion.errors import BadInput
from comotion.model import Model

SMALLEST_SHARE = 1e-6
"""Of the largest variance: below it, directions are rounding."""


def with_components(model: Model, windows: Window) -> Model:
    """What an encoder of hidden positions looks at first; other encoders stay as they are."""
    encoder = model.encoder
    if not isinstance(encoder, RecurrentEncoder) or encoder.glance is None:
        return model
    found = principal_components(windows, encoder.glance.directions.shape[1])
    return eqx.tree_at(lambda m: m.encoder.glance, model, found)


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
