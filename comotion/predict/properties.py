"""What a model infers about each object that no column says: a charge, a mass, a temper."""

from typing import Any

import jax
import numpy as np

from comotion.data.cells import DataTable
from comotion.data.frames import as_frame
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput
from comotion.predict.fitted import FittedModel


def inferred_properties(fitted: FittedModel, data: Trajectories, kind: str = "") -> Any:
    """A row for each object and property; the prior is standard normal, so units are the model's
    own, and so is the sign: turned round in f_b, too, it is the same model."""
    if fitted.config.system.properties != "inferred":
        raise BadInput(
            "This model infers no properties of objects: fit one with properties='inferred'."
        )
    belief = jax.vmap(fitted.model.encode)(fitted.excerpts(data)).properties
    assert belief is not None
    mean, factor = np.asarray(belief.mean), np.asarray(belief.factor)
    sd = np.sqrt((factor**2).sum(axis=-1))
    p, a, c = np.nonzero(np.broadcast_to(data.exists[..., None], mean.shape))
    names = np.array(data.object_names, dtype=object)
    columns = [
        ("sequence", np.array(data.sequence_names)[p].astype(str)),
        ("object", names[p, a].astype(str)),
        ("property", (c + 1).astype(str)),
        ("mean", mean[p, a, c].astype(float)),
        ("sd", sd[p, a, c].astype(float)),
    ]
    return as_frame(DataTable(columns), kind or data.frame_kind)
