"""How much the law leaves open is found again where it is known."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.config import Recipe, Stage, replace
from comotion.data.windows import Dataset, Excerpt
from comotion.integrate import StateNoise
from comotion.model import Start
from comotion.simulate import springs
from comotion.train.calibrate import calibrate, largest_seen
from comotion.train.fit import prepare, run_config, untrained

PARTS = {"function": "mlp", "hidden_alone": 4, "hidden_pair": 4, "encoder": "smoother"}
PARTS |= {"scaling": "units"}
RECIPE = Recipe(name="tiny", stages=(Stage(5, 2, 1e-3),), windows=4, calibration=60)
CONFIG = run_config("I-GPODE-S", RECIPE, 0, PARTS)


@pytest.fixture(scope="module")
def prepared():
    data = springs(sequences=60, objects=2, frames=20, seed=0)
    fitted, dataset = prepare(data, CONFIG, key=jax.random.key(0))
    quiet = jnp.full_like(fitted.model.observation.log_noise_variance, np.log(1e-4))
    model = eqx.tree_at(lambda m: m.observation.log_noise_variance, fitted.model, quiet)
    return model, dataset


def told_by(model, dataset: Dataset, share: float, steady: float) -> Dataset:
    """What would be seen if the model were right, and the law left this much open."""
    amounts = (jnp.asarray(share, jnp.float32), jnp.asarray(steady, jnp.float32))
    model = eqx.tree_at(lambda m: (m.process_noise.share, m.process_noise.steady), model, amounts)
    field = model.dynamics.draw(key=jax.random.key(1))
    windows = dataset.windows

    def one(window, key):
        excerpt = Excerpt(window, window)
        initial = model.encode(excerpt).initial.draw(key=key)
        start = Start(initial, window.properties)
        pushes = jax.random.fold_in(key, 0)
        return model.follow_noisy(field, start, window, window.grid, key=pushes)[0]

    keys = jax.random.split(jax.random.key(2), len(dataset))
    states = eqx.filter_jit(jax.vmap(one))(windows, keys)
    values = model.observation.draw(states, key=jax.random.key(3))
    return dataclasses.replace(dataset, windows=dataclasses.replace(windows, values=values))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_share_that_made_the_data_is_found_again(prepared, share):
    """The step of the ladder is a quarter; it may miss by one."""
    model, dataset = prepared
    told = told_by(model, dataset, share, 0.0)
    found = calibrate(model, CONFIG, told, key=jax.random.key(2)).process_noise
    assert isinstance(found, StateNoise)
    assert abs(float(found.share) - share) <= 0.26
    assert float(found.steady) <= 0.1
    speeds = np.linalg.norm(np.asarray(told.windows.values)[..., 2:], axis=-1)
    assert np.quantile(speeds, 0.99) <= float(found.most) <= speeds.max()


def test_the_limit_on_speeds_holds_where_velocities_are_hidden():
    data = springs(sequences=10, objects=2, frames=20, velocities=False, seed=0)
    config = dataclasses.replace(CONFIG, system=replace(CONFIG.system, hidden_velocity=True))
    fitted, dataset = untrained(data, config, key=jax.random.key(0))
    windows, step = dataset.windows, float(dataset.windows.times[0, 1])
    moved = np.linalg.norm(np.diff(np.asarray(windows.values), axis=1), axis=-1) / step
    most = float(largest_seen(fitted.model, dataset))
    assert np.quantile(moved, 0.99) <= most <= moved.max() * (1 + 1e-5)


def test_steady_noise_is_found_again(prepared):
    model, dataset = prepared
    found = calibrate(
        model, CONFIG, told_by(model, dataset, 0.0, 0.5), key=jax.random.key(2)
    ).process_noise
    assert isinstance(found, StateNoise)
    assert 0.2 < float(found.steady) < 1.0
