"""What the data show, as all steps of a start see it."""

import equinox as eqx
import jax

from comotion._types import Key
from comotion.config import Recipe
from comotion.data.windows import Dataset
from comotion.initialise.denoise import denoised
from comotion.initialise.find_properties import find_properties
from comotion.initialise.rates import Paths, observed_paths
from comotion.model import FirstEntries, Model


class Shown(eqx.Module):
    """Sequences as measured and without their measurement noise, and the rates these show."""

    measured: Dataset
    smooth: Dataset
    paths: Paths
    properties_known: bool = eqx.field(static=True)
    """given with the data, left out, or found: then they stand in `smooth`"""


def look_at(model: Model, dataset: Dataset, plan: Recipe, *, key: Key) -> Shown:
    key_found, key_paths = jax.random.split(key)
    layout = model.dynamics.layout
    windows = dataset.windows
    if plan.regression or plan.pretrain:
        windows = denoised(windows, layout)
    smooth = Dataset(windows, dataset.lengths)
    known = model.property_encoder is None
    if not known and _can_be_found(model, plan):
        dataset, smooth = find_properties(dataset, smooth, layout, key=key_found)
        known = True
    paths = observed_paths(model, smooth.windows, properties_known=known, key=key_paths)
    return Shown(dataset, smooth, paths, known)


def _can_be_found(model: Model, plan: Recipe) -> bool:
    """Pretraining then teaches the encoder what was found."""
    read_off = isinstance(model.observation.decoder, FirstEntries)
    return (
        plan.find_properties and plan.pretrain > 0 and read_off and not model.dynamics.layout.hidden
    )
