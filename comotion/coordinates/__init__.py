"""What f_s and f_b see, and what their outputs mean."""

from collections.abc import Callable

from comotion.config import parts
from comotion.coordinates.alone import AxisAlone, MirrorAlone, NoAlone, RawAlone, SpeedAlone
from comotion.coordinates.base import AbstractAloneCoordinates, AbstractPairCoordinates, Actor
from comotion.coordinates.distance import (
    MultiplyingPair,
    aligning_pair,
    distance_pair,
    log_distance_pair,
)
from comotion.coordinates.layout import Layout
from comotion.coordinates.pair import (
    LocalFrame,
    NoPair,
    body_pair,
    central_pair,
    galilean_pair,
    local_frame,
    radial_pair,
    raw_pair,
    relative_pair,
)
from comotion.coordinates.wall import WallAlone

__all__ = [
    "ALONE",
    "PAIR",
    "AbstractAloneCoordinates",
    "AbstractPairCoordinates",
    "Actor",
    "LocalFrame",
    "local_frame",
]

ALONE: dict[str, Callable[[Layout, int], AbstractAloneCoordinates]] = parts.ALONE
ALONE |= {
    "raw": RawAlone,
    "axis": AxisAlone,
    "mirror": MirrorAlone,
    "speed": SpeedAlone,
    "wall": WallAlone,
    "none": NoAlone,
}
"""Each makes coordinates of f_s from a layout and the number of vectors whose rate is learned."""

PAIR: dict[str, Callable[[Layout, int], AbstractPairCoordinates]] = parts.PAIR
PAIR |= {
    "raw": raw_pair,
    "relative": relative_pair,
    "galilean": galilean_pair,
    "radial": radial_pair,
    "central": central_pair,
    "distance": distance_pair,
    "log-distance": log_distance_pair,
    "aligning": aligning_pair,
    "multiplying": MultiplyingPair,
    "body": body_pair,
    "none": NoPair,
}
"""The same for f_b."""
