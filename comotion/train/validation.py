"""How well a fitted model explains data it was not fitted to, as its bound."""

import jax

from comotion.backend.devices import everywhere
from comotion.data.trajectories import Trajectories
from comotion.data.windows import to_dataset
from comotion.predict import FittedModel
from comotion.train.step import held_out_bound, step_plan


def held_out_elbo(fitted: FittedModel, data: Trajectories, *, seed: int = 0) -> float:
    """The bound per observed value, on windows of the last stage's length."""
    dataset = to_dataset(data, fitted.scaling)
    plan = step_plan(fitted.config, fitted.config.recipe.stages[-1], dataset)
    model, dataset = everywhere((fitted.model, dataset), plan.mesh)
    bound = held_out_bound(model, dataset, jax.random.key(seed), plan)
    return float(bound.elbo / bound.observations)
