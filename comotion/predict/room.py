"""The size of a forecast, known before it is made."""

import numpy as np

from comotion.backend.memory import check_room

COPIES = 2.5
"""`trajectory` and `observation`, and what putting them together needs for a while."""


def check_size(shape: tuple[int, ...], precision: type[np.floating]) -> None:
    """Refuses a forecast that memory does not hold, and says how large it would be."""
    draws, sequences, times, objects, features = shape
    bytes_ = COPIES * float(np.prod(np.array(shape, float))) * np.dtype(precision).itemsize
    what = (
        f"a forecast of {draws} draws × {sequences} sequences × {times} times × {objects} objects "
        f"× {features} features"
    )
    check_room(
        bytes_, what, "ask for fewer draws or times, or forecast a few sequences or draws at a time"
    )
