"""What is filled in when trajectories are made from bare arrays."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from comotion.data.checks import check_shape
from comotion.errors import BadInput

FEATURES = {
    1: ("x",),
    2: ("x", "y"),
    4: ("x", "y", "vx", "vy"),
    6: ("x", "y", "z", "vx", "vy", "vz"),
}


def four_axes(values: ArrayLike) -> Float[np.ndarray, "P N A O"]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 4:
        raise BadInput(
            f"values has shape {array.shape}: give four axes (sequence, frame, object, feature)."
        )
    return array


def times_for_all(times: ArrayLike | None, P: int, N: int) -> np.ndarray:
    """Frame numbers if nothing is given; one row of times serves every sequence."""
    array = np.asarray(np.arange(N) if times is None else times, dtype=np.float64)
    return np.tile(array, (P, 1)) if array.ndim == 1 else array


def for_all(array: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray:
    """Repeat for every sequence what was given once; no columns if nothing was given."""
    if array is None:
        return np.empty((*shape, 0))
    array = np.asarray(array, dtype=np.float64)
    return np.tile(array, (shape[0], *[1] * array.ndim)) if array.ndim == len(shape) else array


def feature_names(count: int) -> tuple[str, ...]:
    if count not in FEATURES:
        raise BadInput(
            f"The names of {count} features cannot be guessed: "
            'give them, for example features=("x", "y", "z").'
        )
    return FEATURES[count]


def numbered(count: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(count))


def numbered_objects(values: Float[np.ndarray, "P N A O"]) -> tuple[tuple[str, ...], ...]:
    """A number for every object with at least one value."""
    seen = np.any(~np.isnan(values), axis=(1, 3))
    return tuple(tuple(str(a) if there else "" for a, there in enumerate(row)) for row in seen)


def existing(object_names: Sequence[Sequence[str]], P: int, A: int) -> Bool[np.ndarray, "P A"]:
    if len(object_names) != P or any(len(names) != A for names in object_names):
        raise BadInput(f'object_names must give {P} × {A} names, with "" for absent objects.')
    present = [name != "" for names in object_names for name in names]
    return np.array(present, dtype=bool).reshape(P, A)


def graph(
    neighbours: ArrayLike | None, exists: Bool[np.ndarray, "P A"]
) -> Bool[np.ndarray, "P A A"]:
    """Everyone hears everyone else unless a graph is given; absent objects take no part."""
    A = exists.shape[1]
    hears = ~np.eye(A, dtype=bool) if neighbours is None else np.asarray(neighbours, dtype=bool)
    check_shape(hears, "neighbours", (A, A) if hears.ndim == 2 else (len(exists), A, A))
    return hears & exists[:, :, None] & exists[:, None, :]
