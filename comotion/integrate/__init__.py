"""Time: continuous or in jumps."""

from comotion.integrate.base import AbstractIntegrator, Interval, trajectory
from comotion.integrate.continuous import AdaptiveSteps, FixedSteps
from comotion.integrate.discrete import Jumps

__all__ = [
    "AbstractIntegrator",
    "AdaptiveSteps",
    "FixedSteps",
    "Interval",
    "Jumps",
    "trajectory",
]
