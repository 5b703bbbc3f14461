"""f_s on its own: what a fitted model says about objects that nobody acts on."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from comotion._types import FAST
from comotion.data import BadInput
from comotion.dynamics import AbstractDynamics, InteractingDynamics, Scene
from comotion.predict import FittedModel


def without_f_b(fitted: FittedModel) -> FittedModel:
    """Whatever asks this model's f_b gets no number."""
    dynamics = fitted.model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    spoil = lambda leaf: jnp.full_like(leaf, jnp.nan) if eqx.is_inexact_array(leaf) else leaf
    spoiled = dataclasses.replace(dynamics, pair=jax.tree.map(spoil, dynamics.pair))
    return dataclasses.replace(fitted, model=dataclasses.replace(fitted.model, dynamics=spoiled))


@pytest.mark.parametrize(
    "parts",
    [{"function": name, "order": order} for name in ("gp", "mlp", "bnn") for order in (1, 2)]
    + [{"function": "mlp", "accumulation": "weighted"}, {"function": "mlp", "nearest": 1}],
    ids=str,
)
def test_f_b_has_no_part_in_what_a_single_object_does(make_fitted, make_walks, parts):
    fitted = make_fitted(make_walks(), "I-GPODE", **parts)
    layout = fitted.model.dynamics.layout
    state, charge = jnp.ones((1, layout.state), FAST), jnp.ones((1, layout.properties), FAST)
    nothing = jnp.zeros((1, layout.controls), FAST)
    scene = Scene(charge, nothing, jnp.zeros((1, 1), bool), jnp.ones(1, bool))

    @eqx.filter_jit
    def rates(dynamics: AbstractDynamics) -> Array:
        return dynamics.draw(key=jax.random.key(0))(state, scene)

    ours, theirs = (rates(m.model.dynamics) for m in (fitted, without_f_b(fitted)))
    assert np.isfinite(ours).all()
    np.testing.assert_array_equal(ours, theirs)


def test_f_b_has_no_part_in_a_forecast_of_objects_alone(fitted, make_walks):
    spoiled = without_f_b(fitted)
    for data, interaction in ((make_walks(objects=1), True), (make_walks(), False)):
        ours, theirs = (
            model.predict(data, draws=2, interaction=interaction).trajectory.to_numpy()
            for model in (fitted, spoiled)
        )
        assert np.isfinite(ours).all()
        np.testing.assert_array_equal(ours, theirs)
    with pytest.warns(UserWarning, match="1 of 1 draws grew beyond all numbers"):
        assert np.isnan(spoiled.predict(make_walks(), draws=1).trajectory).any()


def test_without_interaction_nobody_matters_to_anybody(fitted, make_walks):
    data = make_walks()
    moved = data.values.copy()
    moved[:, :, 2] += 1.0
    elsewhere = dataclasses.replace(data, values=moved)
    for interaction in (True, False):
        one, other = (
            fitted.predict(d, draws=2, interaction=interaction).trajectory[..., :2, :]
            for d in (data, elsewhere)
        )
        # The other objects are encoded in one matrix product with the moved one.
        same = np.allclose(one, other, rtol=1e-4, atol=1e-5)
        assert same is not interaction


def test_a_forecast_of_f_s_says_so(fitted, make_walks):
    assert fitted.predict(make_walks(), draws=1).attrs["system"] == "I-NODE"
    alone = fitted.predict(make_walks(), draws=1, interaction=False)
    assert alone.attrs["system"] == "f_s of I-NODE"


@pytest.mark.parametrize(
    "choices", [{"name": "NODE"}, {"name": "I-NODE", "accumulation": "nonlinear"}], ids=str
)
def test_laws_that_cannot_be_taken_apart_are_refused(make_fitted, make_walks, choices):
    data = make_walks()
    with pytest.raises(BadInput, match="does not keep what an object does alone apart"):
        make_fitted(data, **choices).predict(data, draws=1, interaction=False)
