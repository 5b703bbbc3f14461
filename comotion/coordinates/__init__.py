"""What f_s and f_b see, and what their outputs mean."""

from collections.abc import Callable

from comotion import parts
from comotion.coordinates.alone import AxisAlone, MirrorAlone, RawAlone
from comotion.coordinates.base import AbstractAloneCoordinates, AbstractPairCoordinates, Actor
from comotion.coordinates.layout import Layout
from comotion.coordinates.pair import (
    LocalFrame,
    central_pair,
    galilean_pair,
    local_frame,
    radial_pair,
    raw_pair,
    relative_pair,
)

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
}
"""Each makes coordinates of f_s from a layout and the number of vectors whose rate is learned."""

PAIR: dict[str, Callable[[Layout, int], AbstractPairCoordinates]] = parts.PAIR
PAIR |= {
    "raw": raw_pair,
    "relative": relative_pair,
    "galilean": galilean_pair,
    "radial": radial_pair,
    "central": central_pair,
}
"""The same for f_b."""
