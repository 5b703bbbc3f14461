"""A forecast answers by the names of objects, times and features."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import comotion as cm
from comotion.data.units import Units
from comotion.errors import BadInput
from comotion.predict.forecast import Forecast, tidy


@pytest.fixture(scope="module")
def forecast(fitted, make_walks) -> Forecast:
    return fitted.predict(make_walks(), draws=40, times=[3.0, 4.0, 5.0, 8.0], candidates=1)


def test_summaries_are_those_of_the_draws_with_observation_noise(forecast):
    draws = forecast["observation"].values
    np.testing.assert_allclose(forecast.mean().values, draws.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(forecast.sd().values, draws.std(axis=0), rtol=1e-4)
    np.testing.assert_allclose(forecast.median().values, np.median(draws, axis=0), rtol=1e-5)
    low, high = forecast.interval(0.8)
    np.testing.assert_allclose(
        low.values, np.quantile(draws, 0.1, axis=0, method="weibull"), rtol=1e-4
    )
    np.testing.assert_allclose(
        high.values, np.quantile(draws, 0.9, axis=0, method="weibull"), rtol=1e-4
    )


def test_selection_is_by_name(forecast):
    one = forecast.sel(object="2", time=5.1, feature="y")
    assert one.sizes["object"] == one.sizes["time"] == one.sizes["feature"] == 1
    expected = forecast["observation"].values[:, :, 2, 2, 1]
    np.testing.assert_array_equal(one["observation"].values[:, :, 0, 0, 0], expected)
    late = forecast.sel(sequence="1", time=slice(4, None), object=["2", "0"])
    assert late.times.tolist() == [[4, 5, 8]]
    assert late.names.tolist() == [["2", "0"]]
    np.testing.assert_array_equal(
        late["trajectory"].values[:, 0], forecast["trajectory"].values[:, 1][:, 1:][:, :, [2, 0]]
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"object": "20"},
            r"The forecast has no object '20' \(did you mean '2'\?\); it has 0, 1, 2",
        ),
        ({"sequence": "9"}, "The forecast has no sequence '9'"),
        ({"feature": "q"}, "The forecast has no feature 'q'"),
        ({"time": slice(20, 30)}, "No time is from 20 to 30: the forecast is from 3 to 8"),
    ],
)
def test_names_that_are_not_there_are_told(forecast, options, sentence):
    with pytest.raises(BadInput, match=sentence):
        forecast.sel(**options)


def test_frames_are_of_the_kind_that_came_in(fitted, make_walks):
    frame = cm.to_frame(make_walks(), "pandas")
    forecast = fitted.predict(frame, draws=3, candidates=1)
    told = forecast.quantile(0.9).to_frame()
    assert isinstance(told, pd.DataFrame)
    assert list(told.columns) == ["sequence", "object", "time", "x", "y", "vx", "vy"]
    assert len(told) == 2 * 8 * 3
    columns = ["sequence", "object", "time", "lead", "feature", "mean", "sd"]
    assert list(forecast.to_frame().columns)[:7] == columns
    assert forecast.to_frame("polars").shape[0] == 2 * 8 * 3 * 4


def test_data_that_were_read_remember_the_frame_they_came_in(fitted, make_walks):
    frame = cm.to_frame(make_walks(), "polars")
    data = cm.read(frame, quiet=True)
    forecast = fitted.predict(data.without("1").last(7), draws=2, candidates=1)
    assert type(forecast.to_frame()) is type(forecast.mean().to_frame()) is type(frame)
    told = fitted.predict(make_walks(), draws=2, candidates=1).to_frame()
    assert isinstance(told, pd.DataFrame)


def test_objects_and_times_are_indices_where_the_sequences_share_them(forecast, fitted, make_walks):
    cell = forecast.dataset.sel(object="2", time=5.0, feature="x")["observation"]
    np.testing.assert_array_equal(cell, forecast["observation"].values[:, :, 2, 2, 0])
    assert forecast.mean().array.sel(object="1", time=[3, 4]).shape == (2, 2, 4)
    data = make_walks()
    renamed = dataclasses.replace(data, object_names=(("a", "b", "c"), ("b", "c", "d")))
    other = fitted.predict(renamed, draws=2, candidates=1)
    assert "object" not in other.coords
    assert other.sel(object=["c", "b"])["object"].values.tolist() == ["c", "b"]


def test_a_forecast_scores_itself_on_the_frames_it_did_not_see(fitted, make_walks):
    data = make_walks(frames=20)
    whole = fitted.predict(data, draws=20, candidates=1)
    found = whole.score(data)
    assert found.origins.horizon == 20 - fitted.config.system.frames_seen
    assert str(found) == str(cm.evaluate(whole, data))
    late = fitted.predict(data, draws=20, origin=7.0, horizon=2.0, candidates=1)
    np.testing.assert_array_equal(late["origin"], 7.0)
    found = late.score(cm.to_frame(data, "pandas"))
    np.testing.assert_allclose(found.origins.lead, [0.5, 1.0, 1.5, 2.0])
    truth = data.values[:, 9:13, :, :2]
    draws = late["observation"].values[..., :2]
    error = np.linalg.norm(draws.mean(axis=0) - truth, axis=-1).mean()
    assert found["ade"] == pytest.approx(error, rel=1e-5)
    with pytest.raises(BadInput, match=r"No time of the forecast, from 7.5 to 9, is in the data"):
        late.score(data.between(None, 7.0))
    with pytest.raises(BadInput, match=r"has 0 frames up to 7, the last moment the forecast saw"):
        late.score(data.between(7.5, None))


def test_a_forecast_is_saved_as_a_table_or_with_every_draw(forecast, tmp_path):
    forecast.to_csv(tmp_path / "forecast.csv")
    assert (tmp_path / "forecast.csv").read_text().startswith("sequence,object,time,lead,feature")
    forecast.save(tmp_path / "forecast.nc")
    assert (tmp_path / "forecast.nc").stat().st_size > 1000


def test_times_in_tables_lose_the_last_bits_of_sums_of_steps():
    times = 99.96 + np.cumsum(np.full((2, 4), 0.02), axis=1)
    assert str(times[0, 0]) != "99.98"
    assert [str(time) for time in tidy(times)[0]] == ["99.98", "100.0", "100.02", "100.04"]
    tiny = np.array([[1e-12, 2e-12, 3e-12]])
    np.testing.assert_allclose(tidy(tiny), tiny, rtol=1e-9)
    np.testing.assert_array_equal(tidy(times[:, :1]), times[:, :1])


def test_reprs_are_short(forecast, fitted):
    assert repr(forecast) == (
        "Forecast(40 draws of 2 sequences, 3 objects, 4 times from 3 to 8; I-NODE)"
    )
    assert repr(forecast) in forecast._repr_html_()
    assert repr(forecast.mean()) == "Summary(mean of 2 sequences, 4 times, 3 objects, 4 features)"
    assert repr(fitted).startswith("FittedModel(I-NODE: x, y, vx, vy of 3 objects, 0.5 apart")


def test_a_forecast_draws_itself(forecast, tmp_path):
    in_metres = forecast.assign_attrs(Units("m", "s").attributes)
    figure = dataclasses.replace(forecast, dataset=in_metres).plot(sequence=1)
    assert len(figure.axes) == 3 * 2
    assert figure.axes[0].get_title(loc="left") == "position x (m)"
    assert figure.axes[-1].get_xlabel() == "time (s)"
    file = forecast.animate(tmp_path / "future.gif")
    with Image.open(file) as gif:
        assert getattr(gif, "n_frames", 1) == 4


def test_features_the_model_does_not_know_are_left_alone(fitted, make_walks):
    data = make_walks()
    wider = cm.Trajectories.from_arrays(
        np.concatenate([data.values, data.values[..., :1]], axis=-1),
        data.times,
        features=(*data.features, "heading"),
        static=data.static,
        static_names=data.static_names,
    )
    one, other = (fitted.predict(d, draws=2, candidates=1) for d in (data, wider))
    np.testing.assert_array_equal(one["trajectory"].values, other["trajectory"].values)


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(BadInput, match=r"there is no model.safetensors in this folder"):
        cm.load(tmp_path)
