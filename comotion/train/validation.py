"""How likely a fitted model finds data it was not fitted to."""

from comotion.backend.devices import everywhere
from comotion.backend.keys import key_for
from comotion.data.trajectories import Trajectories
from comotion.data.windows import to_dataset
from comotion.predict import FittedModel
from comotion.train.step import held_out_figure, step_plan


def held_out_log_likelihood(fitted: FittedModel, data: Trajectories, *, seed: int = 0) -> float:
    """Per observed value, on windows of the last stage's length."""
    dataset = to_dataset(data, fitted.scaling)
    layout = fitted.model.dynamics.layout
    plan = step_plan(fitted.config, fitted.config.recipe.stages[-1], dataset, layout)
    model, dataset = everywhere((fitted.model, dataset), plan.mesh)
    return float(held_out_figure(model, dataset, key_for("held out", seed), plan))
