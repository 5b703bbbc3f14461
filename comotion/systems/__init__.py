"""From a name to parts to a model: the one place that knows the paper's names."""

from comotion.systems.build import build
from comotion.systems.names import DEFAULT, FORMS, MOTION, OURS, SYSTEMS, system
from comotion.systems.shape import DataShape, check_data, data_shape, state_layout

__all__ = [
    "DEFAULT",
    "FORMS",
    "MOTION",
    "OURS",
    "SYSTEMS",
    "DataShape",
    "build",
    "check_data",
    "data_shape",
    "state_layout",
    "system",
]
