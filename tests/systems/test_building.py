"""From a config to parts that fit together, for every kind of data."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion.config import Recipe, SystemConfig, replace
from comotion.coordinates import ALONE, PAIR
from comotion.data.scaling import identity_scaling
from comotion.data.windows import to_dataset, without_gaps
from comotion.dynamics import Nonlinear, Scene, Weighted
from comotion.dynamics.graph import GivenGraph, NearestGraph
from comotion.encode import RecurrentEncoder, SmoothingEncoder
from comotion.errors import BadInput
from comotion.functions import MLP, BayesianMLP, SparseGP
from comotion.initialise import initialise
from comotion.integrate import FixedSteps, FrameSteps
from comotion.systems import (
    FORMS,
    SYSTEMS,
    build,
    check_data,
    data_shape,
    system,
)

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
TINY = {
    "inducing_alone": 6,
    "inducing_pair": 6,
    "fourier_features": 8,
    "hidden_alone": 6,
    "hidden_pair": 6,
}


SENSORS = {"spatial": 0, "velocities": False, "others": "abcde"}


def built(data, config: SystemConfig, **sizes: Any) -> Any:
    config = replace(config, **TINY | sizes)
    shape = data_shape(data)
    return build(config, shape, key=KEY)


def started(data, config: SystemConfig) -> Any:
    dataset = to_dataset(data, identity_scaling(len(data.features), len(data.static_names)))
    return initialise(built(data, config), dataset, Recipe(), key=KEY)


def rates_shape(model, objects=3):
    """What a drawn law returns, without computing it."""
    layout = model.dynamics.layout
    sizes = (layout.state, layout.properties, layout.controls)
    states, properties, controls = (jnp.zeros((objects, size), jnp.float32) for size in sizes)
    everyone, nobody = jnp.ones(objects, bool), jnp.zeros((objects, objects), bool)
    scene = Scene(properties, controls, nobody, everyone)
    rates = eqx.filter_eval_shape(
        lambda model, states, scene: model.dynamics.draw(key=KEY)(states, scene),
        model,
        states,
        scene,
    )
    assert rates.dtype == jnp.float32
    return rates.shape


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_builds_in_every_form(make_data, name):
    data = make_data()
    for form in FORMS:
        model = built(data, system(f"{name}/{form}"))
        layout = model.dynamics.layout
        assert layout.properties == (0 if form == "without-globals" else 1)
        assert (model.property_encoder is not None) == (form == "with-globals")
        assert model.gives_properties == (form == "globals-observed")
        assert layout.state == max(4, system(name).latent)
        if form == "with-globals":
            assert rates_shape(model) == (3, layout.state)


@pytest.mark.parametrize(
    ("alone", "pair"),
    [*((alone, "relative") for alone in ALONE), *(("axis", pair) for pair in PAIR)],
)
def test_all_coordinates_fit_all_orders(make_data, alone, pair):
    data = make_data(push=True)
    for order in (1, 2):
        model = built(data, system("I-NODE", alone=alone, pair=pair, order=order))
        assert rates_shape(model) == (3, 4)


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize("velocities", [True, False], ids=["observed", "hidden"])
def test_systems_fit_any_number_of_axes_with_and_without_velocities(make_data, spatial, velocities):
    data = make_data(spatial=spatial, velocities=velocities)
    for parts in ({"pair": "radial"}, {"pair": "relative", "encoder": "smoother"}):
        model = built(data, system("I-NODE-S", **parts))
        assert rates_shape(model) == (3, 2 * spatial)
    model = built(data, system("I-NODE"))
    assert rates_shape(model) == (3, (2 if velocities else 1) * spatial)


@pytest.mark.parametrize(("function", "nearest"), [("gp", 0), ("mlp", 0), ("mlp", 1), ("bnn", 0)])
def test_accumulations_are_made_of_the_same_kind_of_function(make_data, function, nearest):
    kind = {"gp": SparseGP, "mlp": MLP, "bnn": BayesianMLP}[function]
    for accumulation, rule in (("nonlinear", Nonlinear), ("weighted", Weighted)):
        config = system("I-GPODE", function=function, accumulation=accumulation, nearest=nearest)
        model = built(make_data(), config)
        assert isinstance(model.dynamics.accumulation, rule)
        assert all(isinstance(f, kind) for f in model.dynamics.functions().values())
        assert rates_shape(model) == (3, 4)


def test_parts_are_those_of_the_config(make_data):
    data = make_data()
    assert isinstance(built(data, system("I-GPODE")).integrator, FixedSteps)
    three = built(data, system("I-GPODE", substeps=3)).integrator
    assert isinstance(three, FixedSteps)
    assert three.steps == 3
    assert isinstance(built(data, system("I-GPSSM")).integrator, FrameSteps)
    assert isinstance(built(data, system("I-GPODE")).encoder, RecurrentEncoder)
    assert isinstance(built(data, system("I-GPODE", encoder="smoother")).encoder, SmoothingEncoder)
    for parts, graph in (
        ({}, GivenGraph()),
        ({"nearest": 2}, NearestGraph(2)),
        ({"radius": 1.5}, NearestGraph(None, 1.5)),
        ({"nearest": 2, "radius": 1.5}, NearestGraph(2, 1.5)),
    ):
        assert built(data, system("I-NODE", **parts)).dynamics.graph == graph
    gp = built(data, system("I-GPODE", covariance="full", kernel="matern32")).dynamics.pair
    assert gp.covariance.raw.shape == (4, 6, 6)
    assert type(gp.kernel).__name__ == "Matern32"


def test_irregular_times_are_read_by_the_encoder(make_data):
    data = make_data()
    assert not built(data, system("I-NODE")).encoder.reads_times
    assert not data_shape(data).irregular
    gappy = type(data).from_arrays(data.values, np.array([0.0, 0.5, 1.0, 1.7, 2.2, 2.7]))
    assert data_shape(gappy).irregular
    assert data_shape(gappy).step == pytest.approx(0.5)
    assert built(gappy, system("I-NODE")).encoder.reads_times


def test_functions_start_with_outputs_as_large_as_the_rates_of_the_data(make_data):
    data = make_data()
    rates = np.diff(data.values, axis=1) / 0.5
    sizes = np.sqrt(np.mean(rates**2, axis=(0, 1, 2)))
    dynamics = started(data, system("I-GPODE")).dynamics
    np.testing.assert_allclose(jnp.exp(dynamics.alone.log_output_scale), sizes, rtol=1e-3)
    np.testing.assert_allclose(jnp.exp(dynamics.pair.log_output_scale), sizes, rtol=1e-3)


def test_functions_of_jumps_start_as_large_as_the_changes_from_frame_to_frame(make_data):
    data = make_data()
    sizes = np.sqrt(np.mean(np.diff(data.values, axis=1) ** 2, axis=(0, 1, 2)))
    dynamics = started(data, system("I-GPSSM")).dynamics
    np.testing.assert_allclose(jnp.exp(dynamics.alone.log_output_scale), sizes, rtol=1e-3)


def test_latent_and_further_observed_entries_do_not_start_dead(make_data):
    data = make_data(others=("heading",), charge=False)
    dynamics = started(data, system("I-GPODE", latent=8)).dynamics
    scales = np.exp(np.asarray(dynamics.alone.log_output_scale))
    assert scales.shape == (8,)
    rates = np.diff(data.values, axis=1) / 0.5
    sizes = np.sqrt(np.mean(rates**2, axis=(0, 1, 2)))
    np.testing.assert_allclose(scales[:5], sizes, rtol=1e-3)
    np.testing.assert_allclose(scales[5:], sizes.mean(), rtol=1e-3)


def test_inducing_inputs_lie_where_the_data_are(make_data):
    data = make_data()
    positions = np.asarray(started(data, system("I-GPODE")).dynamics.alone.inducing_inputs)[:, :2]
    low, high = data.values[..., :2].min(axis=(0, 1, 2)), data.values[..., :2].max(axis=(0, 1, 2))
    assert np.all(positions >= low)
    assert np.all(positions <= high)


def test_a_single_object_builds_an_interacting_system(make_data):
    model = built(make_data(objects=1), system("I-GPODE"))
    assert rates_shape(model, objects=1) == (1, 4)
    assert rates_shape(model, objects=4) == (4, 4)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"who": "joint"},
        {"accumulation": "nonlinear", "nearest": 1},
        {"accumulation": "weighted", "function": "bnn"},
        {"pair": "radial", "alone": "mirror", "order": 2, "encoder": "smoother"},
        {"latent": 8, "decoder": "mlp"},
        {"properties": "inferred", "property_count": 2, "covariance": "full"},
    ],
    ids=str,
)
def test_a_template_without_numbers_has_the_structure_of_a_started_model(make_data, parts):
    data = make_data(push=True)
    config = replace(system("I-GPODE", **parts), **TINY)
    template = eqx.filter_eval_shape(build, config, data_shape(data), key=KEY)
    empty = jax.tree.map(
        lambda leaf: np.zeros(leaf.shape, leaf.dtype) if hasattr(leaf, "dtype") else leaf, template
    )
    real = started(data, config)
    assert jax.tree.structure(empty) == jax.tree.structure(real)
    shapes = [
        [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(eqx.filter(m, eqx.is_array_like))]
        for m in (empty, real)
    ]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize(
    ("parts", "data", "sentence"),
    [
        ({"order": 2}, {"velocities": False}, "second order needs velocities in the state"),
        ({"pair": "radial", "latent": 8}, {}, "but the state has 4 more entries; use alone='raw'"),
        ({"alone": "axis"}, {"others": ("heading",)}, "the state has 1 more entries"),
        ({"encoder": "smoother", "latent": 8}, {}, "the smoothing encoder is for states of"),
        ({"encoder": "smoother"}, {"velocities": False}, "use encoder='gru'"),
        (
            {"hidden_velocity": True},
            {"velocities": False, "others": ("heading",)},
            "features heading stand where hidden velocities would be",
        ),
        ({"order": 2, "time": "discrete"}, {}, "use order=1 with time='discrete'"),
        ({"radius": 2.0, "scaling": "units"}, {}, "radius=2 is in the data's units"),
        ({}, {"frames": 1}, "no sequence has two frames"),
        ({}, SENSORS, "none of the 5 features is a position"),
        (
            {"decoder": "mlp", "hidden_axes": 3},
            SENSORS | {"others": "ab"},
            "2 features cannot tell",
        ),
        (
            {"decoder": "mlp", "hidden_velocity": True, "encoder": "smoother"},
            SENSORS,
            "the smoothing encoder is for states of observed positions",
        ),
    ],
)
def test_parts_that_do_not_fit_the_data_are_refused_in_one_sentence(
    make_data, parts, data, sentence
):
    with pytest.raises(BadInput) as error:
        built(make_data(**data), system("I-GPODE", **parts))
    assert sentence in str(error.value)


def test_data_without_two_frames_in_a_row_are_refused(make_data):
    data = make_data()
    values = data.values.copy()
    values[:, ::2] = np.nan
    with pytest.raises(BadInput, match="no object is observed in two frames in a row"):
        started(type(data).from_arrays(values, data.times), system("I-NODE"))


def test_joint_systems_need_frames_in_which_everyone_is_seen(make_data):
    data = make_data()
    values = data.values.copy()
    values[:, :3, 0], values[:, 3:, 1] = np.nan, np.nan
    with pytest.raises(BadInput, match="needs frames in which every object is seen"):
        started(type(data).from_arrays(values, data.times), system("GPODE"))


@pytest.mark.parametrize(("joint", "partner"), [("NODE", "I-NODE"), ("GPODE", "I-GPODE")])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_a_joint_system_has_as_many_parameters_as_its_interacting_partner(
    joint, partner, covariance, make_data
):
    def parameters(name):
        config = system(name, covariance=covariance)
        model = built(make_data(), config, inducing_alone=200, inducing_pair=300, hidden_pair=64)
        functions = model.dynamics.functions().values()
        arrays = jax.tree.leaves([eqx.filter(f, eqx.is_inexact_array) for f in functions])
        if covariance == "full":  # half of each square array is never used
            return sum(a.size if a.ndim < 3 else a.size // 2 for a in arrays)
        return sum(a.size for a in arrays)

    assert parameters(joint) == pytest.approx(parameters(partner), rel=0.05)


@pytest.mark.parametrize("velocity", [True, False])
def test_data_without_positions_have_a_hidden_state_that_a_network_decodes(make_data, velocity):
    config = system("I-GPODE", decoder="mlp", hidden_velocity=velocity, hidden_axes=3, latent=8)
    model = built(make_data(**SENSORS), config)
    layout = model.dynamics.layout
    assert (layout.spatial, layout.has_velocity, layout.state) == (3, velocity, 8)
    assert rates_shape(model) == (3, 8)
    states = RNG.normal(size=(2, 8)).astype(np.float32)
    decoded = np.asarray(model.observation.decoder(jnp.asarray(states)))
    assert decoded.shape == (2, 5)
    faster = states.copy()
    faster[:, 3:6] += 1.0
    same = np.allclose(model.observation.decoder(jnp.asarray(faster)), decoded)
    assert same is velocity


def test_functions_of_a_hidden_state_start_where_its_leading_components_are(make_data):
    data = make_data(**SENSORS, frames=30)
    model = started(data, system("I-GPODE", decoder="mlp"))
    rows = data.values.reshape(-1, 5)
    left = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0][:, :2]
    scores = np.abs(left * np.sqrt(len(rows))).reshape(2, 30, 3, 2)
    inputs = np.abs(np.asarray(model.dynamics.alone.inducing_inputs)[:, :2])
    assert np.all(inputs <= scores.max(axis=(0, 1, 2)) + 1e-4)
    assert np.all(inputs.max(axis=0) > 0.5)
    noise = model.observation.noise_variance
    np.testing.assert_allclose(noise, rows.var(axis=0).mean(), rtol=1e-4)


def test_what_nobody_knows_is_not_taken_for_zero(make_data):
    data, config = make_data(push=True), system("I-GPODE")
    static, controls = data.static.copy(), data.controls.copy()
    static[1, 2, 0] = np.nan
    with pytest.raises(BadInput, match="'2' of sequence '1' has no static property 'charge'"):
        check_data(config, data_shape(data), dataclasses.replace(data, static=static))
    controls[0, :, 1, 0] = np.nan
    with pytest.raises(BadInput, match="object '1' of sequence '0' has no control 'push'"):
        check_data(config, data_shape(data), dataclasses.replace(data, controls=controls))
    controls[0, :, 1, 0] = data.controls[0, :, 1, 0]
    controls[0, 2, 1, 0] = np.nan
    gap = dataclasses.replace(data, controls=controls)
    check_data(config, data_shape(data), gap)
    middle = 0.5 * (controls[0, 1, 1, 0] + controls[0, 3, 1, 0])
    np.testing.assert_allclose(without_gaps(gap)[0, 2, 1, 0], middle)
