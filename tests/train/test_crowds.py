"""A crowd in which everyone hears the nearest is trained on by neighbourhoods."""

import equinox as eqx
import jax
import numpy as np

from comotion.config import Recipe, Stage
from comotion.data import Trajectories
from comotion.train.fit import run_config, untrained
from comotion.train.step import AROUND, ENOUGH, held_out_figure, step_plan


def planned(**parts):
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(1, 30, 40, 2))
    data = Trajectories.from_arrays(np.cumsum(steps, axis=1), 0.4 * np.arange(30))
    recipe = Recipe("now", (Stage(4, 1, 1e-2, objective="score"),), windows=2, draws=2)
    config = run_config("motion", recipe, 0, {"encoder_frames": 5, **parts})
    fitted, dataset = untrained(data, config, key=jax.random.key(0))
    layout = fitted.model.dynamics.layout
    return fitted.model, dataset, step_plan(config, recipe.stages[0], dataset, layout)


def test_no_more_move_than_a_neighbourhood():
    model, dataset, plan = planned(pair="body", nearest=8)
    assert plan.slots == AROUND
    figure = eqx.filter_eval_shape(held_out_figure, model, dataset, jax.random.key(0), plan)
    assert figure.shape == ()


def test_without_neighbours_a_few_are_enough_and_with_all_of_them_nobody_is_left_out():
    assert planned()[2].slots == ENOUGH
    assert planned(pair="body")[2].slots == 40
