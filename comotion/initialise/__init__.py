"""Starting values: the only room that looks at data to set numbers of a model."""

import jax

from comotion._types import Key
from comotion.config import Recipe
from comotion.data.windows import Dataset
from comotion.encode import SignReader
from comotion.errors import BadInput
from comotion.initialise.components import with_components
from comotion.initialise.contact_start import (
    look_for_contacts,
    nothing_else_acts,
    unless_it_leaks,
    with_contact_law,
    with_contacts_beside_forces,
    with_walls,
)
from comotion.initialise.find_contacts import Finding
from comotion.initialise.functions import with_adapted_functions
from comotion.initialise.motion_scale import pace, with_motion_scale
from comotion.initialise.noise_scale import with_noise_scale
from comotion.initialise.pretrain import pretrained
from comotion.initialise.regression import rates_are_linear, with_regression
from comotion.initialise.shooting import can_shoot, with_shooting
from comotion.initialise.shown import look_at
from comotion.initialise.simple_laws import (
    SimpleLaw,
    simple_law,
    with_simple_law,
)
from comotion.model import Model

__all__ = [
    "SimpleLaw",
    "initialise",
    "look_for_contacts",
    "nothing_else_acts",
    "pace",
    "simple_law",
    "unless_it_leaks",
    "with_simple_law",
    "with_walls",
]


def initialise(
    model: Model, dataset: Dataset, plan: Recipe, *, found: Finding | None = None, key: Key
) -> Model:
    """The model as training finds it; `plan` says which of the steps to take.

    What has a closed form is solved; what has none is pretrained on rates and states. `found` says
    what was found of hard contacts, if they were looked for (`look_for_contacts`).
    """
    if found is not None and nothing_else_acts(model, found):
        return with_contact_law(model, found)
    if isinstance(model.property_encoder, SignReader):
        raise BadInput(
            "property_encoder='signs' is for a law that multiplies a property of -1 and 1, and "
            "these data show none; use 'small' or 'large'"
        )
    key_shown, key_functions, key_regression, key_pretrain, key_motion = jax.random.split(key, 5)
    model = with_noise_scale(model, dataset.windows, plan)
    model = with_motion_scale(model, dataset, key=key_motion)
    model = with_components(model, dataset.windows)
    shown = look_at(model, dataset, plan, key=key_shown)
    model = with_adapted_functions(model, shown.paths, key=key_functions)
    solved = plan.regression and shown.properties_known and rates_are_linear(model)
    if solved:
        model = with_regression(model, shown, key=key_regression)
        if plan.shooting and can_shoot(model):
            model = with_shooting(
                model, shown, plan.shooting, key=jax.random.fold_in(key_regression, 2)
            )
    if found is not None:
        key_contacts = jax.random.fold_in(key_regression, 1)
        model = with_contacts_beside_forces(model, shown, found, key=key_contacts)
    solved = solved and model.encoder.is_closed_form
    if solved and model.property_encoder is None:
        return model
    return pretrained(model, shown, plan, properties_only=solved, key=key_pretrain)
