"""The chain of optax that training follows, on a model of its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.config import Recipe, RunConfig
from comotion.model import Model
from comotion.systems import build, data_shape, system
from comotion.train.optimiser import first_optimiser_state, skipped, slow, updated

RATE = jnp.float32(0.1)
SLOW = {"kernel", "inducing_inputs", "property_encoder"}


@pytest.fixture(scope="module")
def model(balls) -> Model:
    tiny = {"inducing_alone": 4, "inducing_pair": 4, "fourier_features": 4}
    config = RunConfig(system("I-GPODE/with-globals", **tiny), Recipe())
    return build(config.system, data_shape(balls), key=jax.random.key(0))


@pytest.fixture(scope="module")
def gradient(model) -> Model:
    rng = np.random.default_rng(0)
    arrays = eqx.filter(model, eqx.is_inexact_array)
    return jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape), leaf.dtype), arrays)


def by_place(tree) -> dict[str, np.ndarray]:
    leaves = jax.tree.leaves_with_path(eqx.filter(tree, eqx.is_inexact_array))
    names = (jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in leaves)
    return dict(zip(names, (np.asarray(leaf) for _, leaf in leaves), strict=True))


def is_slow(place: str) -> bool:
    return bool(SLOW & set(place.split(".")))


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_a_step_is_that_of_adam_by_hand(model, gradient, clip):
    """Two steps along one gradient: bias-corrected moments are those of the clipped gradient."""
    state, after = first_optimiser_state(model), model
    for _ in range(2):
        after, state = updated(after, gradient, state, RATE, clip=clip, kernel_rate=0.1)
    slopes, found = by_place(gradient), by_place(after)
    norm = np.sqrt(sum(np.sum(np.square(leaf)) for leaf in slopes.values()))
    scale = min(1.0, clip / norm) if clip else 1.0
    for place, before in by_place(model).items():
        clipped, rate = scale * slopes[place], 0.01 if is_slow(place) else 0.1
        expected = before - 2 * rate * clipped / (np.abs(clipped) + 1e-8)
        np.testing.assert_allclose(found[place], expected, rtol=1e-4, atol=1e-5, err_msg=place)


def test_kernels_inducing_inputs_and_the_encoder_of_properties_are_slow(model):
    marks = {
        jax.tree_util.keystr(path, simple=True, separator="."): mark
        for path, mark in jax.tree.leaves_with_path(slow(model))
    }
    assert any(marks.values())
    assert {place for place, mark in marks.items() if mark} == set(filter(is_slow, marks))


@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf])
def test_a_gradient_that_is_not_finite_changes_nothing_and_is_counted(model, gradient, bad):
    rates = {"clip": 1.0, "kernel_rate": 0.1}
    middle, before = updated(model, gradient, first_optimiser_state(model), RATE, **rates)
    broken = eqx.tree_at(
        lambda m: m.observation.log_noise_variance, gradient, replace_fn=lambda leaf: leaf * bad
    )
    same, once = updated(middle, broken, before, RATE, **rates)
    assert eqx.tree_equal(same, middle)
    _, twice = updated(same, broken, once, RATE, **rates)
    assert [int(skipped(state)) for state in (before, once, twice)] == [0, 1, 2]
    again, _ = updated(same, gradient, twice, RATE, **rates)
    expected, _ = updated(middle, gradient, before, RATE, **rates)
    assert eqx.tree_equal(again, expected)
