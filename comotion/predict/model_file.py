"""A fitted model as a file: its numbers, and in the header what builds the rest."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from comotion.config import RunConfig, from_dict, to_dict
from comotion.contacts import ContactShape, blank_law, contact_shape
from comotion.data.scaling import identity_scaling
from comotion.data.summary import TrainingSummary
from comotion.errors import BadInput
from comotion.model import Model
from comotion.predict import checkpoint
from comotion.predict.findings import Findings
from comotion.predict.fitted import FittedModel
from comotion.predict.stretch import Stretch
from comotion.systems import DataShape, build

ENDLESS = (".contacts.", ".process_noise.most")
"""What may be without end: walls, and noise that was not measured."""


def save(fitted: FittedModel, path: Path) -> None:
    law = fitted.contact_law
    header = {
        "run": to_dict(fitted.config),
        "shape": dataclasses.asdict(fitted.shape),
        "leads": len(fitted.summary.lead),
        "contacts": None if law is None else dataclasses.asdict(contact_shape(law)),
        "findings": dataclasses.asdict(fitted.findings),
        "stretch": dataclasses.asdict(fitted.stretch),
    }
    checkpoint.write(path, _arrays(fitted), header)


def load(path: str | Path) -> FittedModel:
    """A model file, or that of a run's folder, as it was: the same numbers, bit for bit.

    >>> model.save("model.safetensors")
    >>> cm.load("model.safetensors").system
    'I-GPODE-S'
    """
    path = Path(path)
    if path.is_dir():
        path = path / "model.safetensors"
        if not path.is_file():
            raise BadInput(
                f"{path.parent}: there is no model.safetensors in this folder; give the folder of "
                "a finished run, or finish it with `comotion fit … --resume`"
            )
    arrays, header = checkpoint.read(path)
    try:
        empty = _template(header, arrays, path)
    except BadInput:
        raise
    except Exception as error:
        why = f"its config builds no model: {checkpoint.first_line(error)}"
        raise checkpoint.damaged(path, why) from error
    restored = checkpoint.restore(_arrays(empty), arrays, path)
    _check_numbers(arrays, path)
    summary = {name: np.asarray(value) for name, value in restored["summary"].items()}
    return dataclasses.replace(
        empty,
        model=restored["model"],
        scaling=restored["scaling"],
        summary=TrainingSummary(**summary),
    )


def _arrays(fitted: FittedModel) -> dict[str, Any]:
    summary = dataclasses.asdict(fitted.summary)
    arrays = {name: jnp.asarray(value) for name, value in summary.items()}
    return {"model": fitted.model, "scaling": fitted.scaling, "summary": arrays}


def _template(header: dict[str, Any], arrays: dict[str, np.ndarray], path: Path) -> FittedModel:
    """A model without numbers, of the shape that was saved."""
    _check_sizes(header, arrays, path)
    config = from_dict(RunConfig, header["run"], where=str(path))
    shape = from_dict(DataShape, header["shape"], where=str(path))
    model: Model = eqx.filter_eval_shape(build, config.system, shape, key=jax.random.key(0))
    if header.get("contacts") is not None:
        contacts = from_dict(ContactShape, header["contacts"], where=str(path))
        law = eqx.filter_eval_shape(lambda: blank_law(contacts))
        dynamics = dataclasses.replace(model.dynamics, contacts=law)
        model = dataclasses.replace(model, dynamics=dynamics)
    leads, features = header["leads"], len(shape.features)
    summary = TrainingSummary(
        mean=np.zeros(features),
        sd=np.zeros(features),
        lead=np.zeros(leads),
        drift_sd=np.zeros((leads, features)),
    )
    scaling = identity_scaling(features, len(shape.properties))
    findings = from_dict(Findings, header.get("findings", {}), where=str(path))
    stretch = from_dict(Stretch, header.get("stretch", {}), where=str(path))
    return FittedModel(model, scaling, summary, shape, config, findings, stretch)


def _check_sizes(header: dict[str, Any], arrays: dict[str, np.ndarray], path: Path) -> None:
    """Nothing is made larger than the file itself on the word of its header."""
    most = sum(array.size for array in arrays.values())
    told = {"leads": header["leads"], **(header.get("contacts") or {})}
    for name, number in told.items():
        if isinstance(number, int) and not 0 <= number <= most:
            raise checkpoint.damaged(path, f"{name} is {number}")
    for name in ("shape", "stretch"):
        for key, value in (header.get(name) or {}).items():
            numbers = value if isinstance(value, list) else [value]
            if any(isinstance(n, float) and not math.isfinite(n) for n in numbers):
                raise checkpoint.damaged(path, f"{key} is {value}")
    if not header["shape"]["step"] > 0:
        raise checkpoint.damaged(path, f"step is {header['shape']['step']}")


def _check_numbers(arrays: dict[str, np.ndarray], path: Path) -> None:
    """Refuses a model that would forecast nothing but NaN."""
    for name, array in arrays.items():
        if not np.issubdtype(array.dtype, np.floating):
            continue
        endless = any(part in name for part in ENDLESS)
        there = ~np.isnan(array) if endless else np.isfinite(array)
        if not there.all():
            raise BadInput(
                f"{path}: {name} holds numbers that are not finite, so the model forecasts "
                "nothing; use another copy, or fit again"
            )
    for name in ("scaling.scale", "scaling.time", "scaling.property_scale"):
        if not (arrays[name] > 0).all():
            raise BadInput(f"{path}: {name} holds units that are not above 0; use another copy")
