"""Time: continuous or in jumps."""

from comotion.integrate.base import AbstractIntegrator, Interval, trajectory
from comotion.integrate.continuous import AdaptiveSteps, FixedSteps
from comotion.integrate.discrete import Jumps
from comotion.integrate.disturbed import Disturbance, Disturbed, undisturbed

__all__ = [
    "AbstractIntegrator",
    "AdaptiveSteps",
    "Disturbance",
    "Disturbed",
    "FixedSteps",
    "Interval",
    "Jumps",
    "trajectory",
    "undisturbed",
]
