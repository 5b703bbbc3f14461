import json
from dataclasses import replace

import numpy as np
import pytest

from comotion.data import Trajectories, describe


def circle(unit: float = 1.0, times: np.ndarray | None = None) -> Trajectories:
    """Motion on a circle with velocities in the given unit."""
    t = np.arange(50) * 0.1 if times is None else times
    values = np.stack([np.cos(t), np.sin(t), -np.sin(t) * unit, np.cos(t) * unit], axis=-1)
    return Trajectories.from_arrays(values[None, :, None, :], t)


def test_a_ragged_data_set_is_counted_right():
    values = np.random.default_rng(0).normal(size=(2, 6, 3, 2))
    times = np.tile(np.arange(6.0), (2, 1))
    values[1, 4:], times[1, 4:] = np.nan, np.nan
    values[1, :, 2] = np.nan
    values[0, :2, 1] = np.nan  # enters late
    values[0, 5, 2] = np.nan  # leaves early
    values[0, 3, 0] = np.nan  # a gap
    values[0, 4, 0, 1] = np.nan
    static = np.ones((2, 3, 1))
    static[1, 2] = np.nan
    seen = describe(Trajectories.from_arrays(values, times, static=static, static_names=["mass"]))
    assert (seen.sequences, seen.objects, seen.frames) == (2, (2, 3), (4, 6))
    assert seen.at_once == 3
    assert (seen.gaps, seen.entering, seen.leaving) == (1, 1, 1)
    assert seen.missing == pytest.approx(3 / (2 * (6 + 4 + 5 + 4 + 4)))
    assert seen.steps is not None
    assert seen.steps.regular
    assert seen.features["x"].low == np.nanmin(values[..., 0])
    assert seen.features["y"].missing == pytest.approx(2 / 23)
    assert seen.static["mass"].high == 1.0
    assert seen.complete_graph
    assert seen.warnings == ()


def test_the_dictionary_is_json(random_trajectories):
    for seed in range(6):
        told = json.loads(
            json.dumps(describe(random_trajectories(seed)).to_dict(), allow_nan=False)
        )
        assert told["sequences"] == len(random_trajectories(seed))


def test_the_text_tells_what_people_ask():
    text = str(describe(circle()))
    for part in (
        "frames      50",
        "regular, 0.1 apart",
        "2-D, velocities observed",
        "x: -0.9991 to 1",
    ):
        assert part in text
    assert "velocities hidden" in str(describe(circle().hide_velocities()))


def test_irregular_times_are_told():
    steps = describe(circle(times=np.array([0.0, 1.0, 3.0, 6.0]))).steps
    assert steps is not None
    assert (steps.regular, steps.low, steps.median, steps.high) == (False, 1.0, 2.0, 3.0)
    assert str(steps) == "irregular, 1 to 3 apart (median 2)"


def test_a_single_frame_has_no_steps():
    assert describe(circle().first_frames(1)).steps is None


@pytest.mark.parametrize("unit", [1.0, 0.6, 1.7])
def test_velocities_that_roughly_fit_are_left_alone(unit):
    assert describe(circle(unit)).warnings == ()


@pytest.mark.parametrize(("unit", "factor"), [(3.6, "0.28"), (0.1, "10"), (-1.0, "-1")])
def test_velocities_in_another_unit_are_noticed(unit, factor):
    first, second = describe(circle(unit)).warnings
    assert first == (
        f"vx is not the rate of change of x, which is about {factor} times as large: "
        "check the units of vx and of time, and the order of the columns."
    )
    assert second.startswith("vy is not the rate of change of y")


def test_noisy_positions_do_not_make_velocities_suspect():
    data = circle()
    rng = np.random.default_rng(0)
    noisy = data.values + rng.normal(size=data.values.shape) * [0.1, 0.1, 0.3, 0.3]
    assert describe(Trajectories.from_arrays(noisy, data.times)).warnings == ()


def test_a_constant_feature_is_noticed():
    values = np.random.default_rng(0).normal(size=(1, 5, 2, 2))
    values[..., 1] = 3.0
    (warning,) = describe(Trajectories.from_arrays(values)).warnings
    assert warning == "y is 3 everywhere: it tells nothing and could be left out."


def test_one_value_far_from_all_others_is_named():
    data = circle()
    values = data.values.copy()
    values[0, 3, 0, 1] = 1e12
    (warning,) = describe(replace(data, values=values).hide_velocities()).warnings
    place = f"object {data.object_names[0][0]!r} of sequence '0' at time {data.times[0, 3]:.6g}"
    assert warning.startswith(f"y is 1e+12 for {place}, more than 1000 times farther")


def test_very_different_steps_are_noticed():
    (warning,) = describe(circle(times=np.array([0.0, 0.1, 0.2, 5.0])).hide_velocities()).warnings
    assert warning.startswith("Time steps differ much, from 0.1 to 4.8: fine if nobody")


def test_unknown_properties_are_noticed():
    values = np.random.default_rng(0).normal(size=(1, 5, 2, 2))
    data = Trajectories.from_arrays(values, static=[[np.nan], [1.0]], static_names=["charge"])
    (warning,) = describe(data).warnings
    assert warning.startswith("The static property charge is missing for 1 objects: fill it in")


def test_a_feature_without_values_is_told_as_such():
    values = np.random.default_rng(0).normal(size=(1, 5, 2, 2))
    values[..., 1] = np.nan
    seen = describe(Trajectories.from_arrays(values)).features["y"]
    assert (seen.low, seen.high, str(seen)) == (None, None, "no values")


def test_data_without_positions_say_so():
    sensors = Trajectories.from_arrays(circle().values[..., :2], features=["light", "sound"])
    assert "space       no positions" in str(describe(sensors))
    assert "space       2-D, velocities observed" in str(describe(circle()))
