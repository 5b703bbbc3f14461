"""From the first frames to beliefs about initial states and static properties."""

from comotion.encode.base import AbstractInitialStateEncoder
from comotion.encode.filter import OriginFilter, origin_filter
from comotion.encode.gaussian import Belief
from comotion.encode.properties import PropertyEncoder, property_encoder
from comotion.encode.recurrent import Components, RecurrentEncoder, recurrent_encoder
from comotion.encode.signs import SignBelief, SignReader, sign_reader
from comotion.encode.smoother import SmoothingEncoder, smoothing_encoder

__all__ = [
    "AbstractInitialStateEncoder",
    "Belief",
    "Components",
    "OriginFilter",
    "PropertyEncoder",
    "RecurrentEncoder",
    "SignBelief",
    "SignReader",
    "SmoothingEncoder",
    "origin_filter",
    "property_encoder",
    "recurrent_encoder",
    "sign_reader",
    "smoothing_encoder",
]
