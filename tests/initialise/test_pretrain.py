"""Fitting rates and states directly."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.data.trajectories import Trajectories
from comotion.data.windows import first
from comotion.initialise.denoise import denoised
from comotion.initialise.pretrain import matching
from comotion.systems import system
from comotion.train import recipe
from comotion.train.fit import prepare, run_config

SMALL = {"hidden_alone": 16, "hidden_pair": 16, "inducing_alone": 8, "inducing_pair": 8}
STEPS = 60
measured = eqx.filter_jit(matching)


def prepared(data, name, steps=STEPS, **parts):
    short = recipe("short", system(name))
    start = {"pretrain": steps, "regression": False, "find_properties": False}
    plan = dataclasses.replace(short, windows=10, **start)
    config = run_config(name, plan, 0, SMALL | {"fourier_features": 16} | parts)
    return prepare(data, config, key=jax.random.key(0))


def score(data, name, steps, **parts):
    """Of the whole data set, with the same draw whatever the model has learned."""
    fitted, dataset = prepared(data, name, steps, **parts)
    layout = fitted.model.dynamics.layout
    size = jnp.ones(layout.state, jnp.float32)
    smooth = denoised(dataset.windows, layout)
    excerpts = fitted.excerpts(data)
    return measured(fitted.model, excerpts, smooth, size, 1.0, key=jax.random.key(1))


@pytest.mark.parametrize("name", ["NODE", "I-BNODE", "I-GPSSM"])
def test_rates_and_initial_states_come_closer(balls, name):
    before, after = score(balls, name, 0), score(balls, name, STEPS)
    assert after.rates > before.rates
    assert after.states > before.states


def test_velocities_that_are_hidden_are_matched_too(balls):
    positions = Trajectories.from_arrays(balls.values[..., :2], balls.times)
    before, after = (score(positions, "I-NODE-L", steps) for steps in (0, STEPS))
    assert after.states > before.states


def test_inferred_properties_are_part_of_it(balls):
    before, _ = prepared(balls, "I-NODE/with-globals", 0)
    after, _ = prepared(balls, "I-NODE/with-globals", 5)
    assert not eqx.tree_equal(before.model.property_encoder, after.model.property_encoder)


def test_a_learned_decoder_leaves_nothing_to_match(balls):
    before, after = (prepared(balls, "I-NODE-8", steps)[0] for steps in (0, STEPS))
    assert eqx.tree_equal(before.model, after.model)


def test_what_is_missing_does_not_count(balls):
    fitted, dataset = prepared(balls, "I-NODE", 0)
    layout = fitted.model.dynamics.layout
    windows = first(dataset.windows, 6)
    hole = jnp.zeros(windows.present.shape, bool).at[0, 4:, 1].set(True)

    def with_values(value):
        values = jnp.where(hole, value, windows.values)
        smooth = eqx.tree_at(
            lambda w: (w.values, w.present), windows, (values, windows.present & ~hole)
        )
        excerpts = eqx.tree_at(lambda e: e.window, fitted.excerpts(balls), windows)
        size = jnp.ones(layout.state, jnp.float32)
        return measured(fitted.model, excerpts, smooth, size, 1.0, key=jax.random.key(1))

    np.testing.assert_allclose(with_values(0.0).count, with_values(5.0).count)
    np.testing.assert_allclose(with_values(0.0).states, with_values(5.0).states, rtol=1e-6)
