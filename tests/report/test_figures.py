import threading
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from comotion.data import BadInput, Trajectories
from comotion.report import (
    animate,
    figure_png,
    forecast_figure,
    picture_figure,
)


def _height_at(band: PolyCollection, time: float) -> tuple[float, float]:
    vertices = band.get_paths()[0].vertices
    heights = np.asarray(vertices)[np.asarray(vertices)[:, 0] == time, 1]
    return heights.min(), heights.max()


def test_bands_are_quantiles_of_observations_and_lines_are_truth_and_median(planar):
    forecast, data = planar
    axes = forecast_figure(forecast, data, sequence=1).axes[3]  # object 1, coordinate y
    draws = forecast["observation"].isel(sequence=1, object=1).sel(feature="y").values
    bands = [artist for artist in axes.collections if isinstance(artist, PolyCollection)]
    for band, level in zip(bands, (0.95, 0.5), strict=True):
        tail = (1 - level) / 2
        expected = np.quantile(draws[:, 20], [tail, 1 - tail], method="weibull")
        np.testing.assert_allclose(_height_at(band, data.times[1, 20]), expected)
    median, truth, seen = axes.lines
    np.testing.assert_array_equal(median.get_ydata(), np.median(draws, axis=0))
    np.testing.assert_array_equal(truth.get_ydata(), data.values[1, :, 1, 1])
    np.testing.assert_array_equal(seen.get_xdata(), data.times[1, :5])


def test_names_are_shown_as_they_are_and_never_taken_for_formulas(planar):
    forecast, data = planar
    odd = [["$x^$", "$\\frac{", "a^$"] for _ in data.object_names]
    named = replace(data, object_names=tuple(map(tuple, odd)), sequence_names=("$_$",) * 3)
    assert figure_png(forecast_figure(forecast, named))


def test_forecast_figure_has_a_panel_per_object_and_coordinate(any_dimension):
    forecast, data = any_dimension
    figure = forecast_figure(forecast, data)
    assert len(figure.axes) == 2 * data.spatial
    assert figure.axes[0].get_title(loc="left") == "position x"
    assert figure.axes[-1].get_xlabel() == "time"
    assert figure_png(figure).startswith(b"\x89PNG")


def test_forecast_figure_copes_with_gaps_absent_objects_and_short_sequences(planar):
    forecast, whole = planar
    values, times = whole.values.copy(), whole.times.copy()
    values[0, 10:14] = np.nan
    values[0, :, 2] = np.nan
    values[0, 30:], times[0, 30:] = np.nan, np.nan
    data = Trajectories.from_arrays(values, times)
    draws = forecast["observation"].where(~np.isnan(times)[None, :, :, None, None])
    figure = forecast_figure(forecast.assign(observation=draws), data)
    assert len(figure.axes) == 4
    assert figure_png(figure).startswith(b"\x89PNG")


def test_a_sequence_that_is_not_there_is_refused(planar):
    with pytest.raises(BadInput, match="There is no sequence 7: the data have 3"):
        forecast_figure(*planar, sequence=7)


def test_threads_draw_the_same_picture(planar):
    pictures = []

    def draw() -> None:
        pictures.append(figure_png(forecast_figure(*planar)))

    threads = [threading.Thread(target=draw) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pictures) == 2
    assert pictures[0] == pictures[1]


def test_what_has_no_positions_is_not_drawn_over_positions(planar, tmp_path):
    forecast, data = planar
    sensors = Trajectories.from_arrays(data.values, data.times, features=["light", "sound"])
    with pytest.raises(BadInput, match="no positions to draw"):
        forecast_figure(forecast, sensors)
    with pytest.raises(BadInput, match="no positions to draw"):
        animate(forecast, sensors, 0, tmp_path / "moving.gif")


def test_what_is_no_square_picture_is_not_drawn_as_one(planar):
    forecast, data = planar
    with pytest.raises(BadInput, match="2 features from 'x' on are not the pixels"):
        picture_figure(forecast, data)
