"""Time: continuous or in jumps."""

from comotion.integrate.base import AbstractIntegrator, Interval, OnceAnInterval, trajectory
from comotion.integrate.bouncing import Bouncing
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
from comotion.integrate.yielding import Yielding

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
    "Yielding",
    "body_noise",
    "no_noise",
    "noisy_trajectory",
    "overlaps",
    "trajectory",
]
