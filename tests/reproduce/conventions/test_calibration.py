import numpy as np
import pytest

from comotion.data import Trajectories
from comotion.reproduce.conventions import calibration_curve
from comotion.reproduce.conventions.calibration import frame_ranges


def test_draws_from_the_truth_are_calibrated_at_every_level_and_range(standard_normal):
    data, forecast = standard_normal
    curve = calibration_curve(forecast, data)
    levels = curve["level"].values
    bar = 4 * np.sqrt(levels * (1 - levels) / data.values.size) + 0.004
    assert (np.abs(curve["coverage"] - levels) < bar).all(), "seed 7"
    fewest = data.values.size * 2 / 50
    wide = 4 * np.sqrt(levels * (1 - levels) / fewest) + 0.004
    assert (np.abs(curve["coverage_by_range"] - levels) < wide).all(), "seed 7"


def test_narrow_draws_are_found_overconfident_as_the_normal_law_says(
    standard_normal, make_forecast
):
    data, forecast = standard_normal
    narrow = make_forecast(data, forecast["trajectory"].values / 2)
    coverage = calibration_curve(narrow, data, levels=[0.95])["coverage"].item()
    expected = 0.6729  # P(|z| < 1.96 / 2)
    assert abs(coverage - expected) < 4 * np.sqrt(0.22 / data.values.size) + 0.01, "seed 7"


def test_missing_cells_are_neither_inside_nor_outside(make_forecast):
    values = np.zeros((1, 5, 1, 1))
    values[0, 2:] = np.nan
    data = Trajectories.from_arrays(values)
    draws = np.linspace(-1, 1, 11).reshape(11, 1, 1, 1, 1) * np.ones((1, 1, 5, 1, 1))
    curve = calibration_curve(make_forecast(data, draws), data, levels=[0.5])
    assert curve["coverage"].item() == 1.0
    np.testing.assert_array_equal(
        curve["coverage_by_range"].values[:, 0], [1.0, np.nan, np.nan, np.nan]
    )


@pytest.mark.parametrize(("seen", "frames"), [(5, 100), (49, 100), (2, 3), (4, 4)])
def test_ranges_hold_every_frame_once(seen, frames):
    ranges = frame_ranges(seen, frames)
    covered = [n for part in ranges.values() for n in range(part.start, part.stop)]
    assert covered == list(range(frames))
    assert next(iter(ranges)) == f"frames 1–{seen} (seen)"
