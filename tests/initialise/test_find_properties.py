"""Properties found as free numbers, and taught to the encoder."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.coordinates.layout import Layout
from comotion.data.scaling import fit_scaling
from comotion.data.trajectories import Trajectories
from comotion.data.windows import Dataset, to_dataset
from comotion.initialise.evidence import _basis, _design, _gather, gather, observed_rates
from comotion.initialise.find_properties import (
    ExpandedLaw,
    _slot_weights,
    _under_law,
    free_properties,
    misfit,
    regress_law,
    total_misfit,
)
from comotion.initialise.pretrain import pretrained, taught
from comotion.initialise.rates import observed_paths
from comotion.initialise.regression import laws_of
from comotion.initialise.shown import Shown
from comotion.simulate import charged_particles
from comotion.systems import system
from comotion.train import recipe
from comotion.train.fit import prepare, run_config

LAYOUT = Layout(2, properties=1)
KEY = jax.random.key(0)
STARTS = 8


@pytest.fixture(scope="module")
def charges():
    return charged_particles(sequences=24, frames=30, inner_steps=50, seed=1)


def windows_of(data):
    return to_dataset(data, fit_scaling(data, "units")).windows


@pytest.fixture(scope="module")
def found(charges):
    return np.asarray(free_properties(windows_of(charges), LAYOUT, 1, starts=STARTS, key=KEY))[
        ..., 0
    ]


def test_the_signs_of_most_charges_are_found_from_motion_alone(charges, found):
    agreement = np.abs(np.sum(np.sign(found) * charges.static[..., 0], axis=1))
    assert np.mean(agreement == 5) > 0.85


def test_a_sequence_whose_signs_could_be_turned_is_positive_in_sum(found):
    assert np.mean(found.sum(axis=1) > 0) > 0.85
    np.testing.assert_allclose(np.mean(found**2), 1.0, atol=0.1)


def test_signs_that_mean_something_are_not_turned():
    """Accelerations of both signs in the same place: a property, not a matter of taste."""
    random = np.random.default_rng(0)
    push = random.normal(size=(30, 1, 3, 1)) + np.array([1.0, -1.0] * 15)[:, None, None, None]
    times = np.arange(12) * 0.1
    t = np.broadcast_to(times[None, :, None, None], (30, 12, 3, 1))
    start = random.normal(size=(30, 1, 3, 2))
    still = np.zeros_like(t)
    position = start + np.concatenate([0.5 * push * t**2, still], axis=-1)
    data = Trajectories.from_arrays(np.concatenate([position, push * t, still], axis=-1), times)
    properties = np.asarray(free_properties(windows_of(data), LAYOUT, 1, starts=2, key=KEY))
    positive = np.mean(properties.sum(axis=(1, 2)) > 0)
    assert 0.25 < positive < 0.75


def test_square_forms_say_what_all_the_frames_say(charges):
    seen = observed_rates(windows_of(charges[:3]), LAYOUT)
    basis = _basis(seen, LAYOUT, key=KEY)
    evidence = jax.tree.map(lambda leaf: leaf[0], _gather(basis, seen))
    one = jax.tree.map(lambda leaf: leaf[0], seen)
    random = np.random.default_rng(0)
    law = ExpandedLaw(
        *(jnp.asarray(random.normal(size=size), jnp.float32) for size in ((20, 2), (10, 4)))
    )
    c = jnp.asarray(random.normal(size=(5, 1)), jnp.float32)
    predicted = jnp.einsum("jarn,an->jar", _design(basis, one), _slot_weights(law, c))
    errors = (predicted - one.rates) * one.weights[..., None]
    expected = 0.5 * (jnp.sum(errors**2) + jnp.sum(c**2))
    np.testing.assert_allclose(misfit(_under_law(evidence, law), c), expected, rtol=1e-3)


def test_the_law_of_a_regression_is_better_than_its_neighbours(charges):
    evidence = gather(windows_of(charges[:6]), LAYOUT, key=KEY)
    properties = jnp.asarray(charges.static[:6], jnp.float32)
    law = regress_law(evidence, properties)

    def height(law):
        """With the unit prior of the weights, which the regression has too."""
        weights = sum(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(law))
        return float(total_misfit(evidence, law, properties)) + 0.5 * weights

    for step in (0.3, -0.3):
        beside = eqx.tree_at(lambda law: law.pair, law, law.pair + step)
        assert height(law) < height(beside)


def test_objects_that_are_not_there_count_for_nothing(charges):
    """Evidence and properties, whatever stands in the places of what is not seen."""
    windows = windows_of(charges[:4])
    there = jnp.ones(windows.alive.shape, bool).at[:2, :, 4].set(False)

    def with_values(value):
        values = jnp.where(there[..., None], windows.values, value)
        return eqx.tree_at(
            lambda w: (w.values, w.present, w.alive),
            windows,
            (values, windows.present & there[..., None], windows.alive & there),
        )

    zero, five = (gather(with_values(value), LAYOUT, key=KEY) for value in (0.0, 5.0))
    np.testing.assert_allclose(zero.gram, five.gram, rtol=1e-5, atol=1e-5)
    assert not zero.exists[:2, 4].any()
    properties = free_properties(with_values(5.0), LAYOUT, 1, starts=1, key=KEY)
    np.testing.assert_array_equal(properties[:2, 4], 0.0)
    assert np.all(properties[2:, 4] != 0.0)


def planned(steps):
    parts = {"inducing_alone": 8, "inducing_pair": 8, "fourier_features": 16}
    parts |= {"scaling": "units", "property_reading": "local", "encoder": "smoother"}
    config = system("I-GPODE-S/with-globals", **parts)
    plan = dataclasses.replace(recipe("short", config), pretrain=steps, windows=20)
    return run_config(config, plan, 0, {})


@pytest.fixture(scope="module")
def untaught(charges):
    return prepare(charges, planned(0), key=KEY)


def test_the_encoder_comes_closer_to_what_was_found_and_the_regression_stays(untaught, found):
    before, dataset = untaught
    given = jnp.asarray(found[..., None])
    smooth = eqx.tree_at(lambda w: w.properties, dataset.windows, given)
    paths = observed_paths(before.model, smooth, properties_known=True, key=KEY)
    shown = Shown(dataset, Dataset(smooth, dataset.lengths), paths, properties_known=True)
    plan = planned(20).recipe
    after = pretrained(before.model, shown, plan, properties_only=True, key=KEY)
    assert taught(after, dataset.windows, given) < taught(before.model, dataset.windows, given)
    assert eqx.tree_equal(after.dynamics, before.model.dynamics)


def test_functions_start_from_a_regression_once_properties_are_found(charges, untaught):
    prepared = (untaught[0], prepare(charges, planned(1), key=KEY)[0])
    without, with_found = (laws_of(fitted.model.dynamics) for fitted in prepared)
    assert not np.any(without.pair.mean)
    assert np.any(with_found.pair.mean)
