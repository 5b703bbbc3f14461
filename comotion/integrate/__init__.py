"""Time: continuous or in jumps."""

from comotion.integrate.base import AbstractIntegrator, Interval, trajectory
from comotion.integrate.contacts import Bouncing, rounds_for
from comotion.integrate.continuous import AdaptiveSteps, FixedSteps
from comotion.integrate.discrete import Jumps
from comotion.integrate.disturbed import Disturbance, Disturbed, undisturbed

__all__ = [
    "AbstractIntegrator",
    "AdaptiveSteps",
    "Bouncing",
    "Disturbance",
    "Disturbed",
    "FixedSteps",
    "Interval",
    "Jumps",
    "rounds_for",
    "trajectory",
    "undisturbed",
]
