"""Two worlds with the same draws differ by the change alone."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from comotion.data.units import Units
from comotion.errors import BadInput
from comotion.predict.files import read_forecast

SETTINGS = {"draws": 6, "candidates": 2, "seed": 3}


@pytest.fixture(scope="module")
def gp(make_walks, make_fitted):
    return make_fitted(make_walks(units=Units("cm", "s")), "I-GPODE-S")


def test_a_change_of_nothing_has_no_effect(gp, make_walks):
    found = gp.what_if(make_walks(), **SETTINGS)
    np.testing.assert_array_equal(found.draws.values, 0.0)


def test_without_an_object_the_others_start_as_before_and_then_part(gp, make_walks):
    data = make_walks()
    base = gp.predict(data, **SETTINGS)
    without = gp.predict(data.without("1"), like=base)
    found = (without - base).draws.values
    assert np.isnan(found[:, :, :, 1]).all(), "who is gone is nowhere"
    others = found[:, :, :, [0, 2]]
    np.testing.assert_allclose(others[:, :, 0], 0.0, atol=1e-5)
    assert np.abs(others[:, :, -1]).min() > 0
    same = gp.what_if(data, remove="1", **SETTINGS)
    np.testing.assert_allclose(same.draws.values, found, atol=1e-4)


def test_the_effect_of_removing_is_that_of_silence_where_only_two_are(make_walks, make_fitted):
    """With one neighbour, taking it away is the same as not hearing it."""
    data = make_walks(objects=2)
    fitted = make_fitted(data, "I-GPODE-S")
    removed = fitted.what_if(data, remove=["1"], **SETTINGS).changed["trajectory"].values
    silent = fitted.what_if(data, cut=[("0", "1")], **SETTINGS).changed["trajectory"].values
    np.testing.assert_allclose(removed[..., 0, :], silent[..., 0, :], rtol=1e-4, atol=1e-5)


def test_a_velocity_that_is_set_is_where_it_starts(gp, make_walks):
    found = gp.what_if(make_walks(), velocity={"0": (5.0, -3.0)}, **SETTINGS)
    start = found.changed["trajectory"].values[:, :, 0, 0, 2:]
    np.testing.assert_allclose(start, np.broadcast_to([5.0, -3.0], start.shape), rtol=1e-4)
    np.testing.assert_array_equal(found.draws.values[:, :, 0, 1:], 0.0)
    assert found.base.units == Units("cm", "s")


def test_an_added_object_is_only_in_the_changed_world(gp, make_walks):
    found = gp.what_if(make_walks(), add={"new": ((0.0, 0.0), (0.1, 0.0))}, **SETTINGS)
    assert found.base.names[0].tolist() == ["0", "1", "2", "new"]
    assert np.isnan(found.base["trajectory"].values[..., 3, :]).all()
    place = found.changed["trajectory"].values[:, :, 0, 3]
    np.testing.assert_allclose(place, np.broadcast_to([0, 0, 0.1, 0], place.shape), atol=1e-4)
    assert np.abs(found.draws.values[:, :, -1, :3]).min() > 0


def test_properties_may_be_set(gp, make_walks):
    found = gp.what_if(make_walks(), properties={"2": {"charge": 3.0}}, **SETTINGS)
    assert np.abs(found.draws.values[:, :, -1]).max() > 0
    with pytest.raises(BadInput, match="given no property 'mass': it knows charge"):
        gp.what_if(make_walks(), properties={"2": {"mass": 3.0}}, **SETTINGS)


def test_an_effect_tells_itself(gp, make_walks):
    told = repr(gp.what_if(make_walks(), remove=["1"], **SETTINGS))
    assert told.startswith("Effect over 6 paired draws, mean and 90 % interval\n  ")
    assert "at 6.5 s: x " in told
    assert " cm [" in told
    assert " cm/s [" in told


def test_rounding_is_no_effect_and_sequences_are_told_apart(gp, make_walks):
    found = gp.what_if(make_walks(), velocity={"1": [3.0, 0.0]}, **SETTINGS)
    told = repr(found).splitlines()[1:]
    assert len(told) == 6
    assert all(" of sequence " in line for line in told)
    rounded = found.base.dataset.copy(deep=True)
    rounded["trajectory"] = rounded["trajectory"] * (1 + 1e-7)
    changed = dataclasses.replace(found.base, dataset=rounded)
    assert repr(changed - found.base).splitlines()[1:] == ["  not moved: 6 objects"]


def test_an_effect_is_three_files_of_which_two_are_forecasts(gp, make_walks, tmp_path):
    found = gp.what_if(make_walks(), remove=["1"], **SETTINGS)
    files = found.save(tmp_path / "gone.csv")
    assert [file.name for file in files] == ["gone.csv", "gone-base.csv", "gone-effect.csv"]
    changed, base, told = (pd.read_csv(file, dtype={"object": str}) for file in files)
    assert set(base["object"]) == {"0", "1", "2"}
    assert set(changed["object"]) == set(told["object"]) == {"0", "2"}
    np.testing.assert_allclose(read_forecast(files[1])["mean"], found.base.mean(), rtol=1e-5)
    wide = found.mean().to_frame().set_index(["sequence", "object", "time"])["x"].sort_index()
    long = told[told["feature"] == "x"].astype({"sequence": str})
    long = long.set_index(["sequence", "object", "time"])["mean"].sort_index()
    np.testing.assert_allclose(long.to_numpy(), wide.to_numpy(), rtol=1e-5, atol=1e-9)
    low, _ = found.interval()
    assert float(told["q05"].to_numpy().min()) <= float(np.nanmin(low)) + 1e-6


def test_forecasts_that_do_not_share_their_draws_are_not_compared(gp, make_walks):
    data = make_walks()
    one, other = (gp.predict(data, draws=2, seed=seed, candidates=1) for seed in (0, 1))
    with pytest.raises(BadInput, match="do not share their draws: make the second with like="):
        _ = one - other
    with pytest.raises(BadInput, match="without some of its objects; use what_if"):
        gp.predict(make_walks(objects=4), like=one)
    with pytest.raises(BadInput, match="There is no object '7' to change; there are 0, 1, 2"):
        gp.what_if(data, remove=["7"])


def test_states_that_are_given_are_where_a_simulation_starts(gp):
    states = np.array([[0.0, 1.0, 0.5, 0.0], [2.0, -1.0, 0.0, 0.5]])
    future = gp.simulate(states, np.arange(5) * 0.5, static=np.array([[1.0], [-1.0]]), draws=3)
    assert future.times.tolist() == [[0, 0.5, 1, 1.5, 2]]
    start = future["trajectory"].values[:, 0, 0]
    np.testing.assert_allclose(start, np.broadcast_to(states, start.shape), atol=1e-4)
    with pytest.raises(BadInput, match=r"states have shape \(2, 3\) .* give 4 numbers for each"):
        gp.simulate(states[:, :3], np.arange(3.0))
