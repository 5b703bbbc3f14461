"""Forecasts without a model, fitted to training data: what every model is set beside.

Climatology, straight lines, steady turns. Each learns from the training data how wrong it is at
every lead, so that it is an honest Gaussian forecast. The Kalman filters are in `kalman`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from comotion.data import Trajectories
from comotion.data.summary import never_zero
from comotion.scoring.distributions import GaussianPaths
from comotion.scoring.rolling import Origins, Protocol, roll

SPEED_BINS = 6
TURN_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)


class AbstractReference(ABC):
    """Fitted to training data once, then asked at any origins."""

    @classmethod
    @abstractmethod
    def fit(cls, data: Trajectories, protocol: Protocol) -> "AbstractReference":
        """Learn the spread of its errors on these data, by the protocol of the test."""

    @abstractmethod
    def forecast(self, origins: Origins) -> GaussianPaths:
        """Mean and covariance of every row and lead."""


@dataclass(frozen=True, eq=False)
class Climatology(AbstractReference):
    """One Gaussian for all times and objects: no skill at all."""

    mean: Float[np.ndarray, " d"]
    sd: Float[np.ndarray, " d"]

    @classmethod
    def fit(cls, data: Trajectories, protocol: Protocol) -> "Climatology":
        d = data.spatial or len(data.features)
        values = data.values[..., :d]
        axes = (0, 1, 2)
        return cls(np.nanmean(values, axes), never_zero(np.nanstd(values, axes)))

    def forecast(self, origins: Origins) -> GaussianPaths:
        shape = origins.future.shape
        return GaussianPaths.independent(
            np.broadcast_to(self.mean, shape), np.broadcast_to(self.sd, shape)
        )


@dataclass(frozen=True, eq=False)
class ConstantVelocity(AbstractReference):
    """Straight on from the last step; its spread by lead is the error it had in training."""

    lead: Float[np.ndarray, " H"]
    sd: Float[np.ndarray, "H d"]

    @classmethod
    def fit(cls, data: Trajectories, protocol: Protocol) -> "ConstantVelocity":
        origins = roll(data, protocol)
        return cls(origins.lead, _rms(origins.future - straight_on(origins)))

    def forecast(self, origins: Origins) -> GaussianPaths:
        sd = _at_leads(self.lead, self.sd, origins.leads)
        return GaussianPaths.independent(straight_on(origins), sd)


@dataclass(frozen=True, eq=False)
class ConstantTurn(AbstractReference):
    """A share of the turn between the last two steps goes on for ever; planar data only.

    The share is the one with the smallest squared error in training, from none (straight on).
    """

    share: float
    lead: Float[np.ndarray, " H"]
    sd: Float[np.ndarray, "H d"]

    @classmethod
    def fit(cls, data: Trajectories, protocol: Protocol) -> "ConstantTurn":
        origins = roll(data, protocol)
        sds = [_rms(origins.future - turning_on(origins, share)) for share in TURN_SHARES]
        best = int(np.argmin([(sd**2 / sds[0] ** 2).mean() for sd in sds]))
        return cls(TURN_SHARES[best], origins.lead, sds[best])

    def forecast(self, origins: Origins) -> GaussianPaths:
        sd = _at_leads(self.lead, self.sd, origins.leads)
        return GaussianPaths.independent(turning_on(origins, self.share), sd)


@dataclass(frozen=True, eq=False)
class AlongAcross(AbstractReference):
    """Straight on, with a spread of its own along and across the way and for slow and fast."""

    edges: Float[np.ndarray, " E"]
    lead: Float[np.ndarray, " H"]
    along: Float[np.ndarray, "B H"]
    across: Float[np.ndarray, "B H"]

    @classmethod
    def fit(cls, data: Trajectories, protocol: Protocol) -> "AlongAcross":
        origins = roll(data, protocol)
        heading, speed = _heading(origins)
        edges = np.quantile(speed, np.arange(1, SPEED_BINS) / SPEED_BINS)
        errors = origins.future - straight_on(origins)
        along = np.einsum("rhd,rd->rh", errors, heading)
        rest = (errors**2).sum(axis=-1) - along**2
        across = np.sqrt(np.maximum(rest, 0) / max(1, errors.shape[-1] - 1))
        bins = np.searchsorted(edges, speed)
        blank = cls(edges, origins.lead, *np.zeros((2, SPEED_BINS, origins.horizon)))
        return replace(blank, along=_binned_rms(along, bins), across=_binned_rms(across, bins))

    def forecast(self, origins: Origins) -> GaussianPaths:
        heading, speed = _heading(origins)
        bins = np.searchsorted(self.edges, speed)
        along, across = (
            np.stack(
                [
                    np.interp(lead, self.lead, sd[b])
                    for lead, b in zip(origins.leads, bins, strict=True)
                ]
            )[..., None, None]
            ** 2
            for sd in (self.along, self.across)
        )
        line = heading[:, None, :, None] * heading[:, None, None, :]
        covariance = across * (np.eye(heading.shape[-1]) - line) + along * line
        return GaussianPaths(straight_on(origins), covariance)


def straight_on(origins: Origins) -> Float[np.ndarray, "R H d"]:
    """The last position carried on by the last velocity; other features stay as they are."""
    position, velocity = last_state(origins)
    return position[:, None] + velocity[:, None] * origins.leads[..., None]


def turning_on(origins: Origins, share: float) -> Float[np.ndarray, "R H d"]:
    """A circle at the speed and with a share of the turn rate of the last two steps."""
    position, velocity = last_state(origins)
    rate = share * _turn_rate(origins)[:, None]
    angle = rate * origins.leads
    slow = np.abs(angle) < 1e-6
    safe = np.where(slow, 1.0, rate)
    along = np.where(slow, origins.leads, np.sin(angle) / safe)
    left = np.where(slow, 0.0, (1 - np.cos(angle)) / safe)
    normal = velocity @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    return (
        position[:, None] + along[..., None] * velocity[:, None] + left[..., None] * normal[:, None]
    )


def last_state(origins: Origins) -> tuple[Float[np.ndarray, "R d"], Float[np.ndarray, "R d"]]:
    """Position at the origin, and the velocity measured there or shown by the last step."""
    d = len(origins.coordinates)
    position, step, elapsed = _last_steps(origins, 1)[0]
    spatial = origins.windows.spatial
    if spatial == 0:
        return position, np.zeros_like(position)
    velocity = step / elapsed[:, None]
    if origins.windows.velocities_observed:
        measured = origins.past[:, -1, d : 2 * d]
        velocity = np.where(np.isnan(measured), velocity, measured)
    return position, velocity


def _last_steps(origins: Origins, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The last steps between frames with a position: where each ended, its vector, how long."""
    positions = origins.past[..., : len(origins.coordinates)]
    there = np.all(~np.isnan(positions), axis=-1)
    rows = np.arange(len(positions))
    end, steps = _last_true(there), []
    for _ in range(count):
        there[rows, end] = False
        # Where there is no frame before, the same one again: a step of length zero.
        begin = np.where(np.any(there, axis=1), _last_true(there), end)
        elapsed = origins.past_times[rows, end] - origins.past_times[rows, begin]
        vector = positions[rows, end] - positions[rows, begin]
        steps.append((positions[rows, end], vector, np.where(elapsed > 0, elapsed, 1.0)))
        end = begin
    return steps


def _last_true(mask: np.ndarray) -> Int[np.ndarray, " R"]:
    return mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)


def _turn_rate(origins: Origins) -> Float[np.ndarray, " R"]:
    (_, last, time), (_, before, time_before) = _last_steps(origins, 2)
    cross = before[:, 0] * last[:, 1] - before[:, 1] * last[:, 0]
    return np.arctan2(cross, (before * last).sum(axis=1)) / (0.5 * (time + time_before))


def _heading(origins: Origins) -> tuple[Float[np.ndarray, "R d"], Float[np.ndarray, " R"]]:
    velocity = last_state(origins)[1]
    speed = np.linalg.norm(velocity, axis=-1)
    return velocity / np.where(speed > 0, speed, 1.0)[:, None], speed


def _rms(errors: Float[np.ndarray, "R H d"]) -> Float[np.ndarray, "H d"]:
    """Root mean square by lead; a lead nobody was seen at has the error of the one before."""
    known = ~np.isnan(errors)
    count = known.sum(axis=0)
    square = np.where(known, errors**2, 0).sum(axis=0) / np.maximum(count, 1)
    filled = np.maximum.accumulate(np.where(count > 0, np.arange(len(count))[:, None], 0), axis=0)
    square = np.take_along_axis(square, filled, axis=0)
    return never_zero(np.sqrt(square))


def _binned_rms(
    errors: Float[np.ndarray, "R H"], bins: Int[np.ndarray, " R"]
) -> Float[np.ndarray, "B H"]:
    whole = _rms(errors[..., None])[:, 0]
    return np.stack(
        [
            _rms(errors[bins == b][..., None])[:, 0] if (bins == b).any() else whole
            for b in range(SPEED_BINS)
        ]
    )


def _at_leads(
    known: Float[np.ndarray, " H"], sd: Float[np.ndarray, "H d"], asked: Float[np.ndarray, "R K"]
) -> Float[np.ndarray, "R K d"]:
    return np.stack([np.interp(asked, known, column) for column in sd.T], axis=-1)
