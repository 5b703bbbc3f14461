"""From a name to parts to a model: the one place that knows the paper's names."""

from comotion.systems.build import blank, build
from comotion.systems.names import DEFAULT, FORMS, SYSTEMS, system
from comotion.systems.shape import DataShape, data_shape, state_layout
from comotion.systems.start import (
    Start,
    eventful_rows,
    observed_moments,
    start_from_data,
)

__all__ = [
    "DEFAULT",
    "FORMS",
    "SYSTEMS",
    "DataShape",
    "Start",
    "blank",
    "build",
    "data_shape",
    "eventful_rows",
    "observed_moments",
    "start_from_data",
    "state_layout",
    "system",
]
