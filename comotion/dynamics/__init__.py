"""Who acts on whom."""

from comotion.dynamics.accumulate import (
    AbstractAccumulation,
    Nonlinear,
    Sum,
    Weighted,
    weight_inputs,
)
from comotion.dynamics.base import AbstractDynamics, AbstractField, Scene
from comotion.dynamics.interacting import InteractingDynamics, InteractingField
from comotion.dynamics.joint import JointDynamics, joint_inputs

__all__ = [
    "AbstractAccumulation",
    "AbstractDynamics",
    "AbstractField",
    "InteractingDynamics",
    "InteractingField",
    "JointDynamics",
    "Nonlinear",
    "Scene",
    "Sum",
    "Weighted",
    "joint_inputs",
    "weight_inputs",
]
