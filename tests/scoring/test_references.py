from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from comotion.data import Trajectories
from comotion.scoring.kalman import DampedVelocity, OUAcceleration, WhiteAcceleration
from comotion.scoring.references import (
    AlongAcross,
    Climatology,
    ConstantTurn,
    ConstantVelocity,
)
from comotion.scoring.rolling import Protocol, roll

PROTOCOL = Protocol(seen=5, horizon=6, stride=3)
REFERENCES = (
    Climatology,
    ConstantVelocity,
    ConstantTurn,
    AlongAcross,
    OUAcceleration,
    DampedVelocity,
    WhiteAcceleration,
)


def random_flights(seed: int, sequences: int = 40, frames: int = 30) -> Trajectories:
    """Velocities that wander, positions measured with a little noise."""
    rng = np.random.default_rng(seed)
    shape = (sequences, frames, 2, 2)
    velocity = rng.normal(size=(sequences, 1, 2, 2)) + 0.2 * rng.normal(size=shape).cumsum(axis=1)
    path = velocity.cumsum(axis=1) * 0.5 + 0.01 * rng.normal(size=shape)
    return Trajectories.from_arrays(path, 0.5 * np.arange(frames), features=("x", "y"))


@pytest.mark.parametrize("reference", REFERENCES)
def test_bands_of_every_reference_hold_what_they_promise_on_data_like_the_training_data(reference):
    train, test = random_flights(1), random_flights(2)
    origins = roll(test, PROTOCOL)
    low, high = reference.fit(train, PROTOCOL).forecast(origins).band(0.9)
    inside = ((low <= origins.future) & (origins.future <= high)).mean()
    assert abs(inside - 0.9) < 0.04, f"{reference.__name__} holds {inside:.3f}, seeds 1 and 2"


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("reference", REFERENCES[:5])
def test_skill_is_the_same_in_every_unit(reference, unit):
    """CRPS beside that of climatology, in data whose second coordinate hardly varies."""
    skills = []
    for size in (1.0, unit):
        train, test = (random_flights(seed, sequences=4) for seed in (1, 2))
        train, test = (
            replace(data, values=data.values * size * np.array([1.0, 1e-7]))
            for data in (train, test)
        )
        origins = roll(test, PROTOCOL)
        own, none = (
            kind.fit(train, PROTOCOL).forecast(origins).crps(origins.future)
            for kind in (reference, Climatology)
        )
        skills.append(1 - np.nanmean(own) / np.nanmean(none))
    assert skills[1] == pytest.approx(skills[0], abs=1e-6)


@pytest.mark.parametrize("reference", REFERENCES)
def test_references_never_see_what_they_forecast(reference):
    train, test = random_flights(1, sequences=6), random_flights(2, sequences=3)
    fitted = reference.fit(train, PROTOCOL)
    origins = roll(test, PROTOCOL)
    before = fitted.forecast(origins)
    origins.windows.values[:, origins.seen :] += 100.0
    after = fitted.forecast(
        roll(test, PROTOCOL).__class__(
            origins.windows, origins.counts, origins.seen, origins.sequence, origins.frame
        )
    )
    np.testing.assert_array_equal(before.mean, after.mean)
    np.testing.assert_array_equal(before.covariance, after.covariance)


def test_constant_velocity_is_exact_on_straight_flight_at_irregular_times_and_with_gaps():
    rng = np.random.default_rng(0)
    times = rng.uniform(0.1, 2.0, size=(3, 15)).cumsum(axis=1)
    start, speed = rng.normal(size=(2, 3, 1, 2, 2))
    values = start + speed * times[..., None, None]
    values[:, 3, 0] = np.nan
    data = Trajectories.from_arrays(values, times, features=("x", "y"))
    protocol = Protocol(seen=5, horizon=4, stride=1, seen_share=0.5)
    origins = roll(data, protocol)
    np.testing.assert_allclose(
        ConstantVelocity.fit(data, protocol).forecast(origins).mean, origins.future, atol=1e-9
    )


def test_constant_velocity_is_as_unsure_as_it_was_wrong_in_training():
    train = random_flights(3)
    origins = roll(train, PROTOCOL)
    forecast = ConstantVelocity.fit(train, PROTOCOL).forecast(origins)
    error = np.sqrt(((origins.future - forecast.mean) ** 2).mean(axis=0))
    np.testing.assert_allclose(forecast.sd, np.broadcast_to(error, forecast.sd.shape))


def test_measured_velocities_are_believed():
    rng = np.random.default_rng(0)
    speed = rng.normal(size=(4, 1, 2, 2))
    path = speed * np.arange(12.0)[:, None, None] + 0.5 * rng.normal(size=(4, 12, 2, 2))
    values = np.concatenate([path, np.broadcast_to(speed, path.shape)], axis=-1)
    data = Trajectories.from_arrays(values)
    origins = roll(data, PROTOCOL)
    mean = ConstantVelocity.fit(data, PROTOCOL).forecast(origins).mean
    slopes = np.diff(mean, axis=1)
    np.testing.assert_allclose(slopes, np.repeat(origins.past[:, -1:, 2:], 5, axis=1), atol=1e-12)


def test_constant_turn_is_exact_on_circles_in_the_limit_of_short_steps():
    times = 0.01 * np.arange(40)
    phase = np.array([0.3, 2.0])[None, :] + times[:, None] * np.array([1.0, -2.0])[None, :]
    values = np.stack([np.cos(phase), np.sin(phase)], axis=-1)[None]
    data = Trajectories.from_arrays(values, times, features=("x", "y"))
    origins = roll(data, PROTOCOL)
    turn = ConstantTurn.fit(data, PROTOCOL)
    assert turn.share == 1.0
    error = np.abs(turn.forecast(origins).mean - origins.future).max()
    straight = np.abs(ConstantVelocity.fit(data, PROTOCOL).forecast(origins).mean - origins.future)
    assert error < 0.3 * straight.max()


def test_along_and_across_are_told_apart():
    """Speeds vary ten times as much as directions: the covariance is long along the way."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=(200, 1, 1))
    speed = 1 + 0.1 * rng.normal(size=(200, 12, 1)).cumsum(axis=1)
    way = speed.cumsum(axis=1)
    values = np.stack([way * np.cos(angle), way * np.sin(angle)], axis=-1)
    values += 0.01 * rng.normal(size=values.shape)
    data = Trajectories.from_arrays(values, features=("x", "y"))
    origins = roll(data, PROTOCOL)
    covariance = AlongAcross.fit(data, PROTOCOL).forecast(origins).covariance[:, -1]
    values_, vectors = np.linalg.eigh(covariance)
    assert (values_[:, 1] > 10 * values_[:, 0]).all()
    heading = np.concatenate([np.cos(angle[:, 0]), np.sin(angle[:, 0])], axis=-1)[
        origins.sequence[origins.origin]
    ]
    assert (np.abs((vectors[:, :, 1] * heading).sum(axis=-1)) > 0.99).all()


def test_climatology_is_the_training_data_themselves():
    train = random_flights(5)
    forecast = Climatology.fit(train, PROTOCOL).forecast(roll(random_flights(6), PROTOCOL))
    np.testing.assert_allclose(forecast.mean[0, 0], train.values.mean(axis=(0, 1, 2)))
    np.testing.assert_allclose(forecast.sd[3, 2], train.values.std(axis=(0, 1, 2)))


def test_gaussian_log_density_is_that_of_another_library():
    train = random_flights(7, sequences=10)
    origins = roll(train, PROTOCOL)
    forecast = AlongAcross.fit(train, PROTOCOL).forecast(origins)
    density = forecast.log_density(origins.future)
    expected = stats.multivariate_normal.logpdf(
        origins.future[4, 2], forecast.mean[4, 2], forecast.covariance[4, 2]
    )
    assert density[4, 2] == pytest.approx(expected)
