"""Forecasts of a fitted model: what they hold, and what they may know."""

import time
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.backend import memory
from comotion.backend.devices import on_one
from comotion.data import BadInput, Trajectories
from comotion.predict import draws as drawing
from comotion.train.calibrate import with_noise


def changed(data: Trajectories, **arrays) -> Trajectories:
    return replace(data, **arrays)


def test_a_forecast_says_what_it_is(fitted, make_walks):
    data = make_walks()
    forecast = fitted.predict(data, draws=3, seed=7)
    assert dict(forecast.sizes) == {
        "draw": 3,
        "sequence": 2,
        "time": 8,
        "object": 3,
        "feature": 4,
        "lead": 8,
    }
    assert forecast.feature.to_numpy().tolist() == list(data.features)
    assert forecast.sequence.to_numpy().tolist() == list(data.sequence_names)
    np.testing.assert_array_equal(forecast.t, data.times)
    frames = {"encoder_frames": 5, "frames_seen": 5, "steps_missed": 0}
    assert forecast.attrs == {"system": "I-NODE", "seed": 7, **frames}
    np.testing.assert_allclose(forecast.climatology_mean, data.values.mean(axis=(0, 1, 2)))
    np.testing.assert_allclose(forecast.climatology_sd, data.values.std(axis=(0, 1, 2)))
    assert forecast.drift_sd.dims == ("lead", "feature")


def test_a_forecast_saw_all_frames_that_properties_were_read_off(make_fitted, make_walks):
    fitted = make_fitted(make_walks(), "I-NODE/with-globals", property_frames=7)
    assert fitted.predict(make_walks(sequences=1), draws=1).attrs["frames_seen"] == 7


def test_a_forecast_names_its_objects(fitted, make_walks):
    data = make_walks(sequences=1)
    names = fitted.predict(data, draws=1)["object_name"]
    assert names.values.tolist() == [list(data.object_names[0])]


def test_the_seed_decides_everything(fitted, make_walks):
    data = make_walks()
    one, again, other = (fitted.predict(data, draws=3, seed=seed) for seed in (1, 1, 2))
    assert one.identical(again)
    assert not np.allclose(one.trajectory, other.trajectory)
    assert not np.allclose(one.trajectory[0], one.trajectory[1])


@pytest.mark.usefixtures("shared_by_devices")
@pytest.mark.parametrize("draws", [1, 2], ids=["one device", "two devices"])
def test_models_that_differ_in_numbers_share_one_program(fitted, make_walks, draws, compiled):
    """Wherever their arrays have been put: by a loop over devices, or just now."""
    data = make_walks()
    fitted.predict(data, draws=draws)
    trained = on_one(fitted.model)
    for model in (trained, with_noise(trained, share=jnp.asarray(0.5, FAST))):
        replace(fitted, model=model).predict(data, draws=draws)
    assert compiled.count("jit(_some_draws)") <= 1


def test_observations_are_trajectories_with_the_noise_of_each_feature(fitted, make_walks):
    forecast = fitted.predict(make_walks(), draws=100)
    noise = (forecast.observation - forecast.trajectory).to_numpy()
    count = noise[..., 0].size
    sd = np.sqrt(np.asarray(fitted.model.observation.noise_variance))
    measured = noise.std(axis=(0, 1, 2, 3))
    np.testing.assert_allclose(measured, sd, rtol=4 / np.sqrt(2 * count))
    means = noise.mean(axis=(0, 1, 2, 3))
    assert np.all(np.abs(means) < 4 * sd / np.sqrt(count))


def test_a_forecast_knows_only_the_first_frames(fitted, make_walks):
    data = make_walks()
    later, earlier = data.values.copy(), data.values.copy()
    later[:, 5:] += 3.0
    earlier[:, 4:5] += 3.0
    forecast = fitted.predict(data, draws=2)
    assert forecast.identical(fitted.predict(changed(data, values=later), draws=2))
    other = fitted.predict(changed(data, values=earlier), draws=2)
    assert not np.allclose(forecast.trajectory, other.trajectory, atol=1e-4)


def test_objects_outside_the_scene_have_no_forecast(fitted, make_walks):
    data = make_walks()
    values = data.values.copy()
    values[0, :2, 1], values[1, 6:, 0] = np.nan, np.nan
    forecast = fitted.predict(changed(data, values=values), draws=1)
    alive = np.ones((2, 8, 3), bool)
    alive[0, :2, 1], alive[1, 6:, 0] = False, False
    np.testing.assert_array_equal(forecast.alive, alive)
    np.testing.assert_array_equal(np.isfinite(forecast.trajectory[0, ..., 0]), alive)


@pytest.mark.parametrize("objects", [2, 5])
def test_a_model_of_three_objects_forecasts_other_numbers(fitted, make_walks, objects):
    forecast = fitted.predict(make_walks(objects=objects), draws=1)
    assert forecast.trajectory.shape == (1, 2, 8, objects, 4)
    assert np.isfinite(forecast.trajectory).all()


def test_a_gaussian_process_of_three_objects_forecasts_five(make_fitted, make_walks):
    fitted = make_fitted(make_walks(), "I-GPODE")
    forecast = fitted.predict(make_walks(objects=5), draws=1)
    assert forecast.trajectory.shape == (1, 2, 8, 5, 4)
    assert np.isfinite(forecast.trajectory).all()


def test_an_object_that_is_not_there_changes_nothing_for_the_others(fitted, make_walks):
    """Followed from the same draws: an absent slot at the end takes none from the others."""
    data = make_walks()
    values = data.values.copy()
    values[1, :, 2] = np.nan
    static = data.static.copy()
    static[1, 2] = np.nan
    absent = Trajectories.from_arrays(values, data.times, static=static, static_names=["charge"])
    moved = static.copy()
    moved[1, 2] = np.nan
    one = fitted.predict(absent, draws=1).trajectory
    assert np.isnan(one[0, 1, :, 2]).all()
    assert np.isfinite(one[0, 1, :, :2]).all()
    np.testing.assert_array_equal(one[0, 0], fitted.predict(data, draws=1).trajectory[0, 0])


def test_units_do_not_matter_to_a_model_that_scales(make_fitted, make_walks):
    small, large = make_walks(), make_walks(scale=1000.0)
    forecasts = [make_fitted(d, scaling="units").predict(d, draws=1) for d in (small, large)]
    one, thousand = (forecast.trajectory.to_numpy() for forecast in forecasts)
    np.testing.assert_allclose(thousand / 1000.0, one, rtol=1e-3, atol=1e-3)


def test_properties_the_model_does_not_look_at_need_not_be_there(make_fitted, make_walks):
    none = {"static": None, "static_names": None}
    two = {"static": np.ones((2, 3, 2)), "static_names": ["mass", "charge"]}
    fitted = make_fitted(make_walks(**two), "I-NODE/without-globals")
    forecasts = [fitted.predict(make_walks(**parts), draws=1) for parts in (two, none, {})]
    for other in forecasts[1:]:
        assert forecasts[0].identical(other)


def test_a_forecast_responds_to_controls_when_they_act(make_fitted, make_walks):
    push = np.random.default_rng(0).normal(size=(2, 8, 3, 1))
    parts = {"controls": push, "control_names": ["push"]}
    fitted = make_fitted(make_walks(**parts))
    data = make_walks(**parts)
    stronger = push.copy()
    stronger[:, 5] += 5.0
    one = fitted.predict(data, draws=1).trajectory.to_numpy()
    other = fitted.predict(changed(data, controls=stronger), draws=1).trajectory.to_numpy()
    np.testing.assert_array_equal(other[:, :, :5], one[:, :, :5])
    assert np.all(np.abs(other[:, :, 5:] - one[:, :, 5:]).max(axis=-1) > 1e-4)


def test_someone_waiting_is_told_how_many_draws_are_done(fitted, make_walks):
    told = []
    fitted.predict(make_walks(), draws=3, on_draw=told.append)
    assert told[-1] == 3
    assert told == sorted(set(told))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            {"features": ("x", "y", "z", "heading")},
            "fitted to features x, y, vx, vy, but the data have x, y, z, heading",
        ),
        (
            {"static_names": ["mass"]},
            "fitted to static properties charge, but the data have mass; give the same columns",
        ),
        (
            {"static": None, "static_names": None},
            "fitted to static properties charge, but the data have none",
        ),
        (
            {"controls": np.zeros((2, 8, 3, 1)), "control_names": ["push"]},
            "fitted to controls none, but the data have push",
        ),
    ],
)
def test_other_columns_than_in_training_are_refused(fitted, make_walks, parts, sentence):
    with pytest.raises(BadInput) as error:
        fitted.predict(make_walks(**parts), draws=1)
    assert sentence in str(error.value)


def test_no_draws_are_refused(fitted, make_walks):
    with pytest.raises(BadInput, match="at least one draw, got draws=0"):
        fitted.predict(make_walks(), draws=0)


@pytest.mark.parametrize(
    ("name", "parts"), [("NODE", {}), ("I-NODE", {"accumulation": "nonlinear"})]
)
def test_systems_of_a_fixed_number_of_objects_refuse_another(make_fitted, make_walks, name, parts):
    fitted = make_fitted(make_walks(), name, **parts)
    with pytest.raises(BadInput) as error:
        fitted.predict(make_walks(objects=5), draws=1)
    assert f"system '{name}' is one function of exactly 3 objects" in str(error.value)
    assert "the data have 5; use an interacting system" in str(error.value)


def test_far_from_the_origin_forecasts_are_as_fine_as_near_it(make_fitted, make_walks):
    """Steps of a tenth at five million: single precision would round them to halves."""
    near = make_walks()
    values = near.values.copy()
    values[..., :2] += 5.0e6
    far = replace(near, values=values)
    drawn = [
        make_fitted(data, scaling="units").predict(data, draws=2)["trajectory"].values
        for data in (near, far)
    ]
    moved = drawn[1][..., :2] - 5.0e6
    assert drawn[0].dtype == np.float32
    np.testing.assert_allclose(moved, drawn[0][..., :2], atol=1e-3)


def test_draws_that_leave_all_numbers_are_told(fitted, make_walks):
    wild = jax.tree.map(
        lambda leaf: leaf * leaf.dtype.type(1e30) if leaf.dtype == FAST else leaf,
        fitted.model.dynamics,
        is_leaf=eqx.is_array,
    )
    lost = replace(fitted, model=replace(fitted.model, dynamics=wild))
    with pytest.warns(UserWarning, match="2 of 2 draws grew beyond all numbers"):
        lost.predict(make_walks(), draws=2)


def test_a_forecast_that_memory_does_not_hold_is_refused_before_it_is_made(
    fitted, make_walks, monkeypatch
):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e5)
    with pytest.raises(BadInput, match=r"a forecast of 5000 draws .* takes 9\.6 MB of memory and"):
        fitted.predict(make_walks(), draws=5000)


def test_sizes_beyond_all_memory_are_told_at_once(fitted, make_walks):
    begun = time.monotonic()
    with pytest.raises(BadInput, match="ask for fewer draws or times"):
        fitted.predict(make_walks(), draws=10**9)
    assert time.monotonic() - begun < 5


def test_a_forecast_in_small_parts_is_the_same(fitted, make_walks, monkeypatch):
    data = make_walks()
    whole = fitted.predict(data, draws=3).trajectory
    monkeypatch.setattr(drawing, "MESSAGES_TOGETHER", 6)  # those of one sequence of three
    in_parts = fitted.predict(data, draws=3).trajectory
    np.testing.assert_allclose(in_parts, whole, rtol=1e-4, atol=1e-5)
