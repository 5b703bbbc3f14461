"""Who acts on whom."""

from comotion.config import parts
from comotion.dynamics.accumulate import (
    AbstractAccumulation,
    AccumulationSizes,
    Nonlinear,
    Sum,
    Weighted,
)
from comotion.dynamics.base import AbstractDynamics, AbstractField, Scene
from comotion.dynamics.interacting import InteractingDynamics
from comotion.dynamics.joint import JointDynamics, joint_inputs

__all__ = [
    "ACCUMULATIONS",
    "AbstractAccumulation",
    "AbstractDynamics",
    "AbstractField",
    "AccumulationSizes",
    "InteractingDynamics",
    "JointDynamics",
    "Nonlinear",
    "Scene",
    "Sum",
    "Weighted",
    "joint_inputs",
]

ACCUMULATIONS: dict[str, type[AbstractAccumulation]] = parts.ACCUMULATIONS
ACCUMULATIONS |= {
    "sum": Sum,
    "nonlinear": Nonlinear,
    "weighted": Weighted,
}
