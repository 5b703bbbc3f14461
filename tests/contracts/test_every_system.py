"""Every named system keeps the same promises."""

import dataclasses
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.config import Recipe, RunConfig
from comotion.data import BadInput, Trajectories
from comotion.dynamics import Scene
from comotion.encode.smoother import SmoothingEncoder
from comotion.predict import FittedModel, load
from comotion.predict.draws import believed, one_draw
from comotion.predict.origin import CANDIDATES, Search
from comotion.predict.times import plan_forecast
from comotion.systems import MOTION, SYSTEMS, data_shape, state_layout, system
from comotion.train.fit import prepare

TINY = {
    "inducing_alone": 8,
    "inducing_pair": 8,
    "fourier_features": 16,
    "hidden_alone": 8,
    "hidden_pair": 8,
}
NOT_LEARNED = {"['observation'].tolerance": "set by the recipe, never learned"}


def some_data(objects: int = 3, sequences: int = 2) -> Trajectories:
    """Ragged, with an object that enters late and single values missing."""
    rng = np.random.default_rng(objects)
    start = rng.normal(size=(sequences, 1, objects, 4))
    values = start + np.cumsum(0.2 * rng.normal(size=(sequences, 6, objects, 4)), axis=1)
    times = np.tile(0.5 * np.arange(6), (sequences, 1))
    values[0, 3, 0, 1] = np.nan
    values[0, :2, 1:2] = np.nan
    values[1, 5], times[1, 5] = np.nan, np.nan
    charge = rng.choice([-1.0, 1.0], size=(sequences, objects, 1))
    return Trajectories.from_arrays(values, times, static=charge, static_names=["charge"])


def fitted_to(data: Trajectories, name: str, **parts) -> FittedModel:
    config = RunConfig(system(name, **TINY, **parts), Recipe())
    return prepare(data, config, key=jax.random.key(0))[0]


@dataclass(frozen=True)
class Case:
    name: str
    fitted: FittedModel
    data: Trajectories

    @property
    def interacting(self) -> bool:
        return self.fitted.config.system.who == "interacting"


FROM_FIRST_FRAMES = [name for name in SYSTEMS if name != MOTION and not name.endswith("-16")]
"""Forecasts from the last frame, and what is learned by their score, have tests of their own; a
state of 16 hidden numbers differs from one of 8 by the number."""


@pytest.fixture(scope="module", params=FROM_FIRST_FRAMES)
def case(request) -> Case:
    return Case(request.param, fitted_to(some_data(), request.param), some_data())


def abstract_forecast(fitted: FittedModel, data: Trajectories):
    """Shapes of a forecast without computing it."""
    whole = fitted.config.system.time == "discrete"
    plan = plan_forecast(data, None, fitted.scaling, fitted.shape, whole)
    excerpts, key = fitted.excerpts(data), jax.random.key(0)
    search = Search(CANDIDATES, fitted.config.system.encoder_frames)
    model = fitted.model
    beliefs = eqx.filter_eval_shape(believed, model, excerpts)
    shapes = eqx.filter_eval_shape
    return shapes(one_draw, model, beliefs, excerpts, plan.grids, None, search, key)


def nearly_certain(fitted: FittedModel) -> FittedModel:
    """With initial states as certain as the encoder can make them."""
    encoder = fitted.model.encoder
    if isinstance(encoder, SmoothingEncoder):
        doubts = lambda m: (m.encoder.log_misfit, m.observation.log_noise_variance)
        model = eqx.tree_at(doubts, fitted.model, replace_fn=lambda log: jnp.full_like(log, -20.0))
    else:
        layers = lambda m: [head.layers[-1] for head in m.encoder.heads]
        model = eqx.tree_at(layers, fitted.model, replace_fn=_sure)
    return dataclasses.replace(fitted, model=model)


def _sure(layer: eqx.nn.Linear) -> eqx.nn.Linear:
    bias = jnp.asarray(layer.bias)
    deviations = slice(bias.shape[0] // 2, None)
    return eqx.tree_at(lambda one: one.bias, layer, bias.at[deviations].add(-100.0))


def permuted(data: Trajectories, order: list[int]) -> Trajectories:
    return Trajectories.from_arrays(
        data.values[:, :, order],
        data.times,
        static=data.static[:, order],
        static_names=data.static_names,
    )


def test_a_reloaded_system_predicts_the_same_numbers_without_compiling_again(
    case, tmp_path, compiled
):
    forecast = case.fitted.predict(case.data, draws=2, seed=3)
    case.fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.config == case.fitted.config
    compiled.clear()
    repeated = again.predict(case.data, draws=2, seed=3)
    assert not compiled
    assert forecast.identical(repeated)
    assert forecast.trajectory.shape == (2, 2, 6, 3, 4)
    assert forecast.trajectory.dtype == np.float32
    alive = forecast.alive.to_numpy()
    np.testing.assert_array_equal(alive, case.data.alive)
    for kind in ("trajectory", "observation"):
        present = np.isfinite(forecast[kind].to_numpy())
        assert np.array_equal(present, np.broadcast_to(alive[None, ..., None], present.shape))
    other_seed = case.fitted.predict(case.data, draws=2, seed=4)
    assert not forecast.trajectory.equals(other_seed.trajectory)


def test_permuting_the_objects_permutes_the_forecast_of_interacting_systems_only(case):
    order = [2, 0, 1]
    fitted = nearly_certain(case.fitted)
    forecast = fitted.predict(case.data, draws=2).trajectory.to_numpy()
    swapped = fitted.predict(permuted(case.data, order), draws=2).trajectory.to_numpy()
    same = np.allclose(swapped, forecast[:, :, :, order], atol=0.02, equal_nan=True)
    assert same == case.interacting


def test_other_numbers_of_objects_are_welcome_where_promised(case):
    if case.interacting:
        trajectory, observation, _ = abstract_forecast(case.fitted, some_data(5))
        assert trajectory.shape == observation.shape == (2, 6, 5, 4)
        assert trajectory.dtype == jnp.float32
    else:
        with pytest.raises(
            BadInput, match="one function of exactly 3 objects, but the data have 5"
        ):
            case.fitted.predict(some_data(5), draws=1)


@eqx.filter_jit
@eqx.filter_grad
def slope_of_law(dynamics, states, scene):
    rates = dynamics.draw(key=jax.random.key(1))(states, scene)
    return jnp.sum(jnp.sin(rates)) + sum(dynamics.kl().values())


@eqx.filter_jit
@eqx.filter_grad
def slope_of_belief(encoder, window):
    belief = encoder(window, jnp.ones(window.values.shape[-1], jnp.float32))
    return jnp.sum(belief.draw(key=jax.random.key(1))) + belief.kl(window.exists)


@eqx.filter_jit
@eqx.filter_grad
def slope_of_likelihood(observation, window, states):
    return observation.log_likelihood(window.values, window.present, states)


def test_gradients_reach_every_parameter_of_every_part(case):
    """Part by part; that they go through the whole bound is tested with finite differences."""
    model = case.fitted.model
    window = jax.tree.map(lambda leaf: leaf[1], case.fitted.excerpts(case.data).window)
    layout = model.dynamics.layout
    states = 0.01 * np.random.default_rng(0).normal(size=(6, 3, layout.state))
    states[..., :4] += np.asarray(window.values)
    states = jnp.asarray(states, jnp.float32)
    scene = Scene(window.properties, window.controls[0], window.neighbours, window.exists)
    slopes = {
        "dynamics": slope_of_law(model.dynamics, states[2], scene),
        "encoder": slope_of_belief(model.encoder, window),
        "observation": slope_of_likelihood(model.observation, window, states),
    }
    leaves = jax.tree.leaves_with_path(eqx.filter(slopes, eqx.is_inexact_array))
    without = eqx.tree_at(lambda m: m.process_noise, model, None)  # calibrated, not trained
    trained = jax.tree.leaves(eqx.filter(without, eqx.is_inexact_array))
    assert len(leaves) == len(trained)
    sizes = {jax.tree_util.keystr(path): float(np.abs(leaf).max()) for path, leaf in leaves}
    assert all(np.isfinite(size) for size in sizes.values()), sizes
    assert {name for name, size in sizes.items() if size == 0.0} == NOT_LEARNED.keys()


def test_velocities_that_are_not_observed_are_in_the_state_where_the_name_says_so(case):
    config, data = case.fitted.config.system, case.data.hide_velocities()
    layout = state_layout(config, data_shape(data))
    assert layout.has_velocity == config.hidden_velocity
    assert layout.state == max(4 if config.hidden_velocity else 2, config.latent)
    if case.name in ("NODE-L", "I-GPODE-L-S"):
        trajectory, _, _ = abstract_forecast(fitted_to(data, case.name), data)
        assert trajectory.shape == (2, 6, 3, 2)
