"""What every simulator promises."""

from functools import partial

import numpy as np
import pytest

from comotion.data import BadInput
from comotion.simulate import (
    LEVELS,
    add_noise,
    agents,
    bouncing_balls,
    charged_particles,
    drifters,
    noise_level,
    noise_sd,
    springs,
    walkers,
)

SIMULATORS = {
    "balls": partial(bouncing_balls, frames=20),
    "charges": partial(charged_particles, frames=20, inner_steps=50),
    "springs": partial(springs, frames=20),
    "walkers": partial(walkers, frames=20),
    "drifters": partial(drifters, frames=20),
    "swarm": partial(agents, "swarm", frames=20),
    "fish-milling": partial(agents, "fish-milling", frames=20, step=0.1),
    "predator-prey": partial(agents, "predator-prey", frames=20),
}
every_simulator = pytest.mark.parametrize("simulate", SIMULATORS.values(), ids=SIMULATORS)


@every_simulator
def test_same_seed_gives_the_same_numbers_and_another_seed_gives_others(simulate):
    first, again = (simulate(sequences=4, noise="low", seed=7) for _ in range(2))
    np.testing.assert_array_equal(first.values, again.values)
    np.testing.assert_array_equal(first.static, again.static)
    np.testing.assert_array_equal(first.neighbours, again.neighbours)
    other = simulate(sequences=4, noise="low", seed=8)
    assert np.abs(first.values - other.values).max() > 0.1


@every_simulator
def test_sequences_do_not_depend_on_how_many_are_asked_for(simulate):
    many = simulate(sequences=37, seed=1)
    for count in (1, 5):
        few = simulate(sequences=count, seed=1)
        np.testing.assert_allclose(few.values, many.values[:count], rtol=0, atol=1e-9)
        np.testing.assert_array_equal(few.static, many.static[:count])
        np.testing.assert_array_equal(few.neighbours, many.neighbours[:count])


@every_simulator
def test_sequences_differ(simulate):
    starts = simulate(sequences=30, seed=1).values[:, 0].reshape(30, -1)
    assert len(np.unique(starts[:, 0])) == 30


@every_simulator
def test_hidden_velocities_leave_the_positions_alone(simulate):
    shown = simulate(sequences=4, noise="high", seed=2)
    hidden = simulate(sequences=4, noise="high", seed=2, velocities=False)
    assert shown.features == ("x", "y", "vx", "vy")
    assert hidden.features == ("x", "y")
    assert not hidden.velocities_observed
    np.testing.assert_array_equal(hidden.values, shown.values[..., :2])


@every_simulator
@pytest.mark.parametrize("objects", [1, 2, 4])
def test_any_number_of_objects(simulate, objects):
    data = simulate(sequences=3, objects=objects)
    assert data.values.shape == (3, 20, objects, 4)
    assert np.isfinite(data.values).all()


@every_simulator
def test_every_noise_level_lies_on_the_same_motion(simulate):
    truth = simulate(sequences=3, seed=5)
    for noise in (*LEVELS, 0.5):
        noisy = simulate(sequences=3, seed=5, noise=noise)
        again = add_noise(truth, noise, seed=5)
        np.testing.assert_array_equal(noisy.values, again.values)
        np.testing.assert_array_equal(noisy.static, truth.static)
        np.testing.assert_array_equal(noisy.neighbours, truth.neighbours)


@every_simulator
@pytest.mark.parametrize("noise", ["loud", -0.1, float("nan"), float("inf")])
def test_unknown_noise_is_refused(simulate, noise):
    message = r"is not a noise level; choose from none, low, high, higher or give a fraction"
    with pytest.raises(BadInput, match=message):
        simulate(sequences=1, noise=noise)


@every_simulator
@pytest.mark.parametrize("name", ["sequences", "objects", "frames"])
def test_empty_scenes_are_refused(simulate, name):
    with pytest.raises(BadInput, match=f"{name}=0 makes no scene; give a finite number above 0"):
        simulate(**{"sequences": 1, name: 0})


@every_simulator
def test_negative_seed_is_refused(simulate):
    with pytest.raises(BadInput, match="seed=-1 is negative; give a whole number"):
        simulate(sequences=1, seed=-1)


@pytest.mark.parametrize(
    ("noise", "position_sd", "velocity_sd"), [("low", 0.15, 0.02), ("high", 0.30, 0.04)]
)
def test_noise_of_three_balls_agrees_with_the_published_table(noise, position_sd, velocity_sd):
    """The deviation of 90 000 values has an error bar of 4/√(2·90 000); 5 % for the rounding."""
    truth, noisy = bouncing_balls(seed=6), bouncing_balls(seed=6, noise=noise)
    measured = (noisy.values - truth.values).std(axis=(0, 1, 2))
    np.testing.assert_allclose(measured, noise_sd(truth, noise), rtol=4 / np.sqrt(2 * 90_000))
    np.testing.assert_allclose(measured, np.repeat([position_sd, velocity_sd], 2), rtol=0.05)


def test_noise_is_gaussian_and_independent_of_motion_objects_and_time():
    truth, noisy = bouncing_balls(seed=6), bouncing_balls(seed=6, noise="high")
    unit = ((noisy.values - truth.values) / noise_sd(truth, "high"))[..., 0]
    bar = 4 / np.sqrt(unit[:, 1:].size)
    assert abs(unit.mean()) < bar
    assert abs((unit**4).mean() - 3) < np.sqrt(96) * bar
    assert abs((unit[:, 1:] * unit[:, :-1]).mean()) < bar
    assert abs((unit[:, :, 0] * unit[:, :, 1]).mean()) < np.sqrt(3) * bar
    assert abs(np.corrcoef(unit.ravel(), truth.values[..., 0].ravel())[0, 1]) < bar


def test_levels_have_the_published_names():
    levels = {"none": 0.0, "low": 0.02, "high": 0.04, "higher": 0.08}
    assert {name: noise_level(name) for name in levels} == levels
    assert noise_level(0.3) == 0.3
