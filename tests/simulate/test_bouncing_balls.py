import time

import numpy as np
import pytest

from comotion.data import BadInput
from comotion.simulate import advance_balls, bouncing_balls

RADIUS, REACH = 1.2, 3.8


def starts(data):
    """Positions and velocities of the first frames."""
    return data.values[:, 0, :, :2], data.values[:, 0, :, 2:]


def energies(velocities):
    return 0.5 * (velocities**2).sum(axis=(-2, -1))


def smallest_distance(positions):
    first, second = np.triu_indices(positions.shape[-2], k=1)
    return np.linalg.norm(positions[..., first, :] - positions[..., second, :], axis=-1).min()


def unfolded_reflection(x, v, t, reach):
    """Where a point between two mirrors is at time t: fold the straight line back."""
    phase = np.mod(x + v * t + reach, 4 * reach)
    return np.where(phase > 2 * reach, 4 * reach - phase, phase) - reach


@pytest.fixture(scope="module")
def three_balls():
    return bouncing_balls(sequences=300, seed=3)


@pytest.fixture(scope="module")
def finely_seen(three_balls):
    return advance_balls(*starts(three_balls[:60]), np.linspace(0.0, 49.5, 4951))


def test_energy_is_conserved_to_rounding(three_balls):
    np.testing.assert_allclose(energies(three_balls.values[..., 2:]), 0.125, rtol=1e-12)


def test_balls_never_overlap_and_never_enter_a_wall(finely_seen):
    positions, _ = finely_seen
    assert smallest_distance(positions) >= 2 * RADIUS - 1e-12
    assert np.abs(positions).max() <= REACH + 1e-12


def test_balls_do_touch_each_other_and_the_walls(finely_seen):
    """So that the tests of collisions are about something: 0.01 of time is at most 0.01 of way."""
    positions, _ = finely_seen
    assert smallest_distance(positions) < 2 * RADIUS + 0.01
    assert np.abs(positions).max() > REACH - 0.01


def test_velocity_is_the_slope_of_the_path_away_from_contacts(finely_seen):
    positions, velocities = finely_seen
    free = (velocities[:, 1:] == velocities[:, :-1]).all(axis=(2, 3))
    slopes = np.diff(positions, axis=1)[free] / 0.01
    np.testing.assert_allclose(slopes, velocities[:, :-1][free], atol=1e-9)
    assert free.mean() > 0.98


def test_momentum_changes_only_at_walls(finely_seen):
    positions, velocities = finely_seen
    near_wall = (np.abs(positions) > REACH - 0.01).any(axis=(2, 3))
    away = ~near_wall[:, 1:] & ~near_wall[:, :-1]
    impulses = np.diff(velocities.sum(axis=2), axis=1)[away]
    collided = (np.diff(velocities, axis=1)[away] != 0).any(axis=(1, 2))
    assert collided.sum() > 50
    np.testing.assert_allclose(impulses, 0.0, atol=1e-14)


def test_motion_is_reversible(three_balls):
    """A rounding error grows at every contact, so a few sequences come back less exactly."""
    positions, velocities = starts(three_balls)
    there = advance_balls(positions, velocities, np.array([40.0]))
    back, _ = advance_balls(there[0][:, 0], -there[1][:, 0], np.array([40.0]))
    errors = np.abs(back[:, 0] - positions).max(axis=(1, 2))
    assert np.median(errors) < 1e-11
    assert np.quantile(errors, 0.99) < 1e-5


def test_two_legs_equal_one_journey(three_balls):
    halfway = advance_balls(*starts(three_balls), np.array([7.3]))
    both = advance_balls(halfway[0][:, 0], halfway[1][:, 0], np.array([4.4]))
    straight = advance_balls(*starts(three_balls), np.array([7.3 + 4.4]))
    np.testing.assert_allclose(both[0], straight[0], atol=1e-9)
    np.testing.assert_allclose(both[1], straight[1], atol=1e-9)


def test_times_between_do_not_disturb_the_motion(three_balls):
    often = advance_balls(*starts(three_balls), np.linspace(0.0, 20.0, 81))
    once = advance_balls(*starts(three_balls), np.array([20.0]))
    np.testing.assert_array_equal(often[0][:, -1], once[0][:, 0])


def test_each_sequence_may_have_its_own_times(three_balls):
    positions, velocities = starts(three_balls[:2])
    own, _ = advance_balls(positions, velocities, np.array([[1.0, 8.0], [2.0, 30.0]]))
    for p, times in enumerate(([1.0, 8.0], [2.0, 30.0])):
        alone, _ = advance_balls(positions[[p]], velocities[[p]], np.array(times))
        np.testing.assert_array_equal(own[p], alone[0])


def test_head_on_balls_exchange_their_velocities():
    positions = np.array([[[-2.0, 0.5], [2.0, 0.5]]])
    velocities = np.array([[[0.3, 0.0], [-0.1, 0.0]]])
    x, v = advance_balls(positions, velocities, np.array([3.9, 4.0, 5.0]))
    np.testing.assert_array_equal(v[0, 0], velocities[0])
    np.testing.assert_allclose(v[0, 2], velocities[0, ::-1], atol=1e-15)
    np.testing.assert_allclose(x[0, 1], [[-0.8, 0.5], [1.6, 0.5]], atol=1e-14)


def test_oblique_balls_exchange_only_what_is_along_the_line_of_centres():
    """At contact the line of centres is at 30 degrees to the flight of the first ball."""
    positions = np.array([[[-2.0, RADIUS], [1.0, 0.0]]])
    velocities = np.array([[[0.4, 0.0], [0.0, 0.0]]])
    v = advance_balls(positions, velocities, np.array([4.0]))[1][0, 0]
    along = np.array([np.cos(np.pi / 6), -0.5])
    passed_on = 0.4 * np.cos(np.pi / 6) * along
    np.testing.assert_allclose(v, [[0.4, 0.0] - passed_on, passed_on], atol=1e-14)


def test_on_a_line_balls_are_relabelled_points():
    """Rods that exchange velocities are points that pass each other, once lengths are removed."""
    rng = np.random.default_rng(0)
    radius, half_width, A = 0.2, 5.0, 4
    shift = radius * (2 * np.arange(A) - (A - 1))
    room = half_width - radius * A
    points = np.sort(rng.uniform(-room, room, size=(20, A)), axis=1)
    speeds = rng.normal(size=(20, A))
    rods = (points + shift)[..., None]
    times = np.linspace(0.0, 15.0, 40)
    x, _ = advance_balls(rods, speeds[..., None], times, radius=radius, half_width=half_width)
    free = unfolded_reflection(points[:, None], speeds[:, None], times[:, None], room)
    expected = np.sort(free, axis=-1) + shift
    np.testing.assert_allclose(x[..., 0], expected, atol=1e-10)


def test_single_ball_follows_the_unfolded_reflection():
    data = bouncing_balls(sequences=50, objects=1, frames=400, seed=1)
    x, v = starts(data)
    expected = unfolded_reflection(x[:, None], v[:, None], data.times[:, :, None, None], REACH)
    np.testing.assert_allclose(data.values[..., :2], expected, atol=1e-11)


def test_ball_at_rest_stays():
    x, v = advance_balls(np.zeros((1, 1, 2)), np.zeros((1, 1, 2)), np.array([0.0, 9.0]))
    assert not x.any()
    assert not v.any()


def test_frame_at_the_very_moment_of_a_contact_is_recorded():
    x, _ = advance_balls(
        np.array([[[0.0, 0.0]]]), np.array([[[0.7, 0.1]]]), np.array([REACH / 0.7, 3 * REACH / 0.7])
    )
    np.testing.assert_allclose(x[0, :, 0, 0], [REACH, -REACH], atol=1e-12)


def test_balls_given_too_close_fly_apart_without_gain_of_energy():
    positions = np.array([[[-1.0, 0.0], [1.0, 0.2], [4.0, 0.0]]])
    velocities = np.array([[[0.2, 0.0], [-0.2, 0.1], [0.3, 0.0]]])
    x, v = advance_balls(positions, velocities, np.array([30.0, 40.0]))
    np.testing.assert_allclose(energies(v), energies(velocities)[0], rtol=1e-13)
    assert smallest_distance(x) >= 2 * RADIUS
    assert np.abs(x).max() <= REACH


def test_ranges_agree_with_the_published_table(three_balls):
    """Published: ±3.82 (small steps overshoot the wall by 0.02) and ±0.49 (±0.48 once)."""
    values = three_balls.values.reshape(-1, 4)
    for extreme in (values.max(axis=0), -values.min(axis=0)):
        np.testing.assert_allclose(extreme[:2], 3.82, atol=0.025)
        np.testing.assert_allclose(extreme[2:], 0.485, atol=0.015)


def test_starts_are_spread_as_described(three_balls):
    positions, velocities = starts(three_balls)
    assert np.abs(positions).max() < 3.0
    assert np.abs(positions).max() > 2.95
    np.testing.assert_allclose(np.linalg.norm(velocities, axis=(1, 2)), 0.5, rtol=1e-12)
    assert abs(velocities.mean()) < 4 * 0.5 / np.sqrt(6 * velocities.size)
    np.testing.assert_allclose(three_balls.times[0], 0.5 * np.arange(100))


def test_three_hundred_sequences_take_less_than_five_seconds():
    """Processor time of the best of three, so that other programs do not decide."""
    seconds = []
    for seed in range(3):
        begin = time.process_time()
        bouncing_balls(sequences=300, objects=3, frames=100, seed=seed)
        seconds.append(time.process_time() - begin)
    assert min(seconds) < 5.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objects": 12}, r"12 balls of radius 1\.2 found no places without overlap within ±3 "),
        ({"radius": 5.0}, r"Balls of radius 5 do not fit into a box of half-width 5"),
        ({"radius": -1.0}, r"Balls of radius -1 do not fit"),
        ({"objects": 0}, r"objects=0 makes no scene; give a finite number above 0"),
        ({"step": float("nan")}, r"step=nan makes no scene"),
    ],
)
def test_impossible_scenes_are_refused(arguments, message):
    with pytest.raises(BadInput, match=message):
        bouncing_balls(sequences=2, **arguments)


@pytest.mark.parametrize("times", [[-1.0, 2.0], [2.0, 1.0], [0.0, np.nan], [0.0, np.inf]])
def test_impossible_times_are_refused(three_balls, times):
    with pytest.raises(BadInput, match="times must be finite, begin at 0 or later and never decr"):
        advance_balls(*starts(three_balls), np.array(times))


def test_missing_states_are_refused(three_balls):
    positions, velocities = starts(three_balls)
    with pytest.raises(BadInput, match="advance needs every position and velocity"):
        advance_balls(positions * np.nan, velocities, np.array([1.0]))
