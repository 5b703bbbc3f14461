"""Encode, draw, integrate, observe: what is masked must not matter."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from comotion.config import Recipe
from comotion.data import Trajectories
from comotion.data.scaling import identity_scaling
from comotion.data.windows import Excerpt, to_dataset
from comotion.dynamics import AbstractField
from comotion.initialise import initialise
from comotion.model import Model
from comotion.systems import build, data_shape, system

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
TIMES = 0.5 * np.arange(8)
VALUES = RNG.normal(size=(1, 1, 3, 4)) + np.cumsum(0.2 * RNG.normal(size=(1, 8, 3, 4)), axis=1)


def excerpt(values, times=TIMES, **parts: Any) -> Excerpt:
    data = Trajectories.from_arrays(values, times, features=("x", "y", "vx", "vy"), **parts)
    windows = to_dataset(data, identity_scaling(4, data.static.shape[-1])).windows
    window = jax.tree.map(lambda leaf: leaf[0], windows)
    return Excerpt(window, window)


@pytest.fixture(scope="module")
def model() -> Model:
    config = system("I-NODE/with-globals", hidden_alone=8, hidden_pair=8, property_frames=8)
    data = Trajectories.from_arrays(VALUES, TIMES)
    shape = data_shape(data)
    dataset = to_dataset(data, identity_scaling(4, 0))
    return initialise(build(config, shape, key=KEY), dataset, Recipe(start_noise=1.0), key=KEY)


@eqx.filter_jit
def encode(model, excerpt):
    beliefs = model.encode(excerpt)
    exists = excerpt.window.exists
    return beliefs, jnp.stack([beliefs.initial.kl(exists), beliefs.properties.kl(exists)])


@eqx.filter_jit
def follow(model, excerpt, beliefs, start, properties):
    """States and their likelihood when initial states and properties are certain."""
    factors = jax.tree.map(jnp.zeros_like, (beliefs.initial.factor, beliefs.properties.factor))
    certain = eqx.tree_at(
        lambda b: (b.initial.mean, b.properties.mean, b.initial.factor, b.properties.factor),
        beliefs,
        (start, properties, *factors),
    )
    field, window = model.dynamics.draw(key=KEY), excerpt.window
    states = model.draw_states(field, certain, excerpt, window.grid, key=KEY)
    return states, model.observation.log_likelihood(window.values, window.present, states)


def certain_terms(model, excerpt):
    """States and likelihood when the beliefs are as certain as their means; divergences."""
    beliefs, divergences = encode(model, excerpt)
    means = beliefs.initial.mean, beliefs.properties.mean
    states, likelihood = follow(model, excerpt, beliefs, *means)
    return states, np.append(divergences, likelihood)


def field_states(model, values, start=None):
    """Follow the law from given states (or those of the encoder) with properties all zero."""
    seen = excerpt(values)
    beliefs, _ = encode(model, seen)
    start = beliefs.initial.mean if start is None else start
    return follow(model, seen, beliefs, start, jnp.zeros_like(beliefs.properties.mean))[0]


def test_padded_frames_change_nothing(model):
    short = VALUES[:, :6]
    padded = np.concatenate([short, np.full((1, 2, 3, 4), np.nan)], axis=1)
    padded_times = np.append(TIMES[:6], [np.nan, np.nan])[None]
    states, terms = certain_terms(model, excerpt(short, TIMES[:6]))
    padded_states, padded_terms = certain_terms(model, excerpt(padded, padded_times))
    np.testing.assert_allclose(padded_terms, terms, rtol=1e-5)
    np.testing.assert_allclose(padded_states[:6], states, rtol=1e-5)
    np.testing.assert_array_equal(padded_states[6:], np.stack([padded_states[5]] * 2))


@pytest.mark.parametrize("named", [False, True], ids=["absent slot", "object never seen"])
def test_an_object_with_no_values_changes_nothing(model, named):
    missing = VALUES.copy()
    missing[:, :, 2] = np.nan
    names = [["a", "b", "c"]] if named else None
    states, terms = certain_terms(model, excerpt(VALUES[:, :, :2]))
    with_slot, slot_terms = certain_terms(model, excerpt(missing, object_names=names))
    np.testing.assert_allclose(slot_terms, terms, rtol=1e-5)
    np.testing.assert_allclose(with_slot[:, :2], states, rtol=1e-5)


def test_the_likelihood_leaves_out_missing_values(model):
    missing = VALUES.copy()
    missing[0, 6, 1, 2] = np.nan
    missing[0, 3, 0] = np.nan
    states, terms = certain_terms(model, excerpt(missing))
    sd = np.sqrt(np.asarray(model.observation.noise_variance))
    densities = norm.logpdf(missing[0], states, sd)
    np.testing.assert_allclose(terms[2], np.nansum(densities), rtol=1e-4)
    assert np.isnan(densities).sum() == 5


def test_a_missing_value_past_the_frames_of_the_encoder_leaves_the_belief_alone(model):
    missing = VALUES.copy()
    missing[0, 6, 1, 2] = np.nan
    initial = [encode(model, excerpt(values))[0].initial.mean for values in (VALUES, missing)]
    np.testing.assert_array_equal(*initial)


def test_an_object_that_enters_late_waits_and_is_not_heard_before(model):
    late, without = VALUES.copy(), VALUES[:, :, :2]
    late[:, :3, 2] = np.nan
    states, _ = certain_terms(model, excerpt(late))
    np.testing.assert_array_equal(states[1:4, 2], np.stack([states[0, 2]] * 3))
    assert not np.allclose(states[4, 2], states[3, 2], atol=1e-3)
    alone = field_states(model, without)
    together = field_states(model, late)
    np.testing.assert_allclose(together[:4, :2], alone[:4], rtol=1e-5)
    assert not np.allclose(together[4:, :2], alone[4:], atol=1e-4)


def test_an_object_that_leaves_early_stops_and_is_not_heard_after(model):
    early = VALUES.copy()
    early[:, 4:, 2] = np.nan
    states = field_states(model, early)
    np.testing.assert_array_equal(states[4:, 2], np.stack([states[3, 2]] * 4))
    rest = field_states(model, VALUES[:, :, :2], start=states[3, :2])
    np.testing.assert_allclose(states[3:, :2], rest[:5], rtol=1e-4, atol=1e-5)


def test_a_gap_is_missing_data_and_not_absence(model):
    gap = VALUES.copy()
    gap[:, 5:7, 2] = np.nan
    _, terms = certain_terms(model, excerpt(gap))
    whole, _ = certain_terms(model, excerpt(VALUES))
    start = jnp.asarray(whole[0])
    np.testing.assert_allclose(
        field_states(model, gap, start=start), field_states(model, VALUES, start=start), rtol=1e-6
    )
    assert np.all(np.isfinite(terms))


class PushedField(AbstractField):
    """Whoever is there moves as the controls and properties say."""

    def __call__(self, states, scene):
        rates = jnp.concatenate([scene.controls, scene.properties], axis=1)
        return jnp.where(scene.active[:, None], rates, 0.0)


def test_controls_run_straight_between_frames_and_properties_are_given(model):
    times = np.array([0.0, 0.5, 1.5, 1.8])
    controls = RNG.normal(size=(1, 4, 3, 3))
    charge = RNG.normal(size=(1, 3, 1))
    seen = excerpt(VALUES[:, :4], times, controls=controls, static=charge)
    given = Model(
        encoder=model.encoder,
        property_encoder=None,
        dynamics=model.dynamics,
        integrator=model.integrator,
        process_noise=model.process_noise,
        observation=model.observation,
        gives_properties=True,
    )
    beliefs = given.encode(seen)
    certain = eqx.tree_at(lambda b: b.initial.factor, beliefs, jnp.zeros((3, 4, 4), jnp.float32))
    states = given.draw_states(PushedField(), certain, seen, seen.window.grid, key=KEY)
    steps = np.diff(times)[:, None, None]
    trapezoids = 0.5 * (controls[0, 1:] + controls[0, :-1]) * steps
    expected = np.cumsum(np.concatenate([np.zeros((1, 3, 3)), trapezoids]), axis=0)
    np.testing.assert_allclose(states[..., :3] - states[:1, :, :3], expected, atol=1e-5)
    drift = times[:, None] * charge[0, :, 0]
    np.testing.assert_allclose(states[..., 3] - states[:1, :, 3], drift, atol=1e-5)
