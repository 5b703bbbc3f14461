"""What f_s and f_b see, and what their outputs mean."""

from comotion.coordinates.alone import ALONE
from comotion.coordinates.base import AbstractAloneCoordinates, AbstractPairCoordinates, Actor
from comotion.coordinates.pair import PAIR

__all__ = [
    "ALONE",
    "PAIR",
    "AbstractAloneCoordinates",
    "AbstractPairCoordinates",
    "Actor",
]
