"""Time: continuous or in jumps."""

from comotion.integrate.base import AbstractIntegrator, Interval, OnceAnInterval, trajectory
from comotion.integrate.bouncing import Bouncing, rounds_for
from comotion.integrate.contacts import overlaps
from comotion.integrate.continuous import AdaptiveSteps, FixedSteps
from comotion.integrate.discrete import FrameSteps
from comotion.integrate.process_noise import (
    AbstractProcessNoise,
    BodyNoise,
    Habits,
    StateNoise,
    body_noise,
    no_noise,
    noisy_trajectory,
)

__all__ = [
    "AbstractIntegrator",
    "AbstractProcessNoise",
    "AdaptiveSteps",
    "BodyNoise",
    "Bouncing",
    "FixedSteps",
    "FrameSteps",
    "Habits",
    "Interval",
    "OnceAnInterval",
    "StateNoise",
    "body_noise",
    "no_noise",
    "noisy_trajectory",
    "overlaps",
    "rounds_for",
    "trajectory",
]
