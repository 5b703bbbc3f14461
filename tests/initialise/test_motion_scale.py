"""Noise begins where scores of forecasts have a slope, however white a filter finds it."""

import jax
import numpy as np
import pytest

import comotion as cm
from comotion.encode import OriginFilter
from comotion.initialise.motion_scale import REMEMBERED
from comotion.integrate import BodyNoise
from comotion.train.fit import prepare, run_config

STEP = 0.1


@pytest.fixture(scope="module")
def start():
    """Of walkers whose velocities change by independent pushes: a random walk, seen exactly."""
    rng = np.random.default_rng(0)
    velocities = 1.0 + 0.1 * np.cumsum(rng.normal(size=(1, 400, 5, 2)), axis=1)
    data = cm.Trajectories.from_arrays(
        np.cumsum(STEP * velocities, axis=1), STEP * np.arange(400.0), features=("x", "y")
    )
    fitted, _ = prepare(data, run_config("motion", "now", 0, {}), key=jax.random.key(0))
    noise, encoder = fitted.model.process_noise, fitted.model.encoder
    assert isinstance(noise, BodyNoise)
    assert isinstance(encoder, OriginFilter)
    return noise, encoder, float(fitted.scaling.time)


def test_a_memory_lasts_a_few_steps_though_the_filter_forgets_sooner(start):
    noise, encoder, unit = start
    steps = np.exp(noise.log_memory) * unit / STEP
    assert np.exp(encoder.log_memory) * unit / STEP < 0.6 * REMEMBERED
    np.testing.assert_allclose(steps, REMEMBERED, rtol=1e-3)


def test_diffusion_and_what_is_carried_are_those_of_the_filter(start):
    noise, encoder, _ = start
    memory, found = np.exp(noise.log_memory[0]), np.exp(encoder.log_memory)
    diffusion = np.exp(2 * noise.along[0]) * memory
    np.testing.assert_allclose(
        diffusion, 0.25 * np.exp(2 * encoder.log_acceleration) * found, rtol=1e-3
    )
    share = 1 / (1 + np.exp(-noise.carried))
    np.testing.assert_allclose(share * memory, found, rtol=1e-3)
