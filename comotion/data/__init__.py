"""Trajectories of interacting objects: the container, its checks, files and frames.

Reading starts with `trajectories`; `tables` turns rows into arrays, `store` chooses the file
format, `frames` speaks pandas, polars and pyarrow. What needs a device is in `windows`.
"""

from comotion.data.describe import describe
from comotion.data.frames import from_frame, to_frame
from comotion.data.reading import read
from comotion.data.store import write
from comotion.data.summary import constant_velocity, summarise
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput

__all__ = [
    "BadInput",
    "Trajectories",
    "constant_velocity",
    "describe",
    "from_frame",
    "read",
    "summarise",
    "to_frame",
    "write",
]
