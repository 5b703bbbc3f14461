"""What must hold for every set of trajectories; each broken rule is told in one sentence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from comotion.errors import BadInput

if TYPE_CHECKING:
    import comotion.data.trajectories

POSITIONS = ("x", "y", "z")
VELOCITIES = ("vx", "vy", "vz")
KEYS = ("sequence", "object", "time")
PREFIXES = ("static_", "control_")


def check_trajectories(data: "comotion.data.trajectories.Trajectories") -> None:
    check_arrays(data)
    check_features(data.features)
    check_names(data.features, data.values.shape[-1], "feature")
    check_names(data.static_names, data.static.shape[-1], "static")
    check_names(data.control_names, data.controls.shape[-1], "control")
    check_names(data.sequence_names, len(data.values), "sequence", distinct=False)
    exists = data.exists
    for names in data.object_names:
        check_distinct([name for name in names if name], "object")
        check_writable(names, "object")
    check_times(data.times, data.sequence_names)
    check_padding(data.values, "values", data.times, exists)
    check_padding(data.controls, "controls", data.times, exists)
    check_padding(data.static[:, None], "static", data.times[:, :1], exists)
    if data.graph is not None:
        check_graph(data.graph, exists)


def check_arrays(data: "comotion.data.trajectories.Trajectories") -> None:
    """Every array has the axes of the values, the right kind of number, and nothing infinite."""
    check_shape(data.values, "values", (None, None, None, None))
    P, N, A, _ = data.values.shape
    check_shape(data.times, "times", (P, N))
    check_shape(data.static, "static", (P, A, None))
    check_shape(data.controls, "controls", (P, N, A, None))
    if data.graph is not None:
        check_shape(data.graph, "neighbours", (P, A, A))
        check_dtype(data.graph, "neighbours", np.bool_)
    for name in ("values", "times", "static", "controls"):
        check_dtype(getattr(data, name), name, np.float64)
        check_finite(getattr(data, name), name)
    if np.isnan(data.values).all():
        raise BadInput(f"values of shape {data.values.shape} holds no number: give at least one.")


def leading_positions(features: Sequence[str]) -> int:
    """How many of the names x, y, z the features begin with."""
    count = 0
    while count < min(3, len(features)) and features[count] == POSITIONS[count]:
        count += 1
    return count


def check_features(features: Sequence[str]) -> None:
    d = leading_positions(features)
    listed = ", ".join(features)
    if d == 0 and any(name in POSITIONS + VELOCITIES for name in features):
        raise BadInput(f"Features must begin with x, then y, then z; got ({listed}).")
    rest = features[d:]
    if any(name in VELOCITIES for name in rest):
        if tuple(rest[:d]) != VELOCITIES[:d]:
            wanted = ", ".join(VELOCITIES[:d])
            raise BadInput(f"After the positions come {wanted} or no velocity; got ({listed}).")
        rest = rest[d:]
    reserved = [name for name in rest if name in POSITIONS + VELOCITIES]
    if reserved:
        raise BadInput(
            f"Feature {reserved[0]!r} is out of place in ({listed}): "
            "give positions first, then one velocity for each position."
        )
    for name in rest:
        if name in KEYS or name.startswith(PREFIXES):
            raise BadInput(f"A feature cannot be named {name!r}, which tables use: rename it.")


def check_names(names: Sequence[str], axis: int, what: str, distinct: bool = True) -> None:
    if len(names) != axis:
        raise BadInput(f"There are {len(names)} {what} names for an axis of {axis}: give one each.")
    if "" in names:
        raise BadInput(f"A {what} name is empty: give every {what} a name.")
    check_writable(names, what)
    if distinct:
        check_distinct(names, what)


def check_writable(names: Sequence[str], what: str) -> None:
    """No file format holds these."""
    for name in names:
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name):
            raise BadInput(
                f"The {what} name {name!r} holds a character that no file can hold: rename it."
            )


def check_distinct(names: Sequence[str], what: str) -> None:
    seen: set[str] = set()
    repeated = [name for name in names if name in seen or seen.add(name)]
    if repeated:
        raise BadInput(f"The {what} name {repeated[0]!r} is used twice: make the names different.")


def check_shape(array: np.ndarray, name: str, expected: tuple[int | None, ...]) -> None:
    """`None` in the expected shape stands for any length."""
    fits = array.ndim == len(expected) and all(
        e in (None, n) for n, e in zip(array.shape, expected, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if e is None else str(e) for e in expected)
        raise BadInput(f"{name} has shape {array.shape}, but the values need ({wanted}).")


def check_dtype(array: np.ndarray, name: str, dtype: type) -> None:
    if array.dtype != dtype:
        raise BadInput(
            f"{name} holds {array.dtype}, not {np.dtype(dtype)}: "
            "make trajectories with Trajectories.from_arrays, which converts."
        )


def check_finite(array: np.ndarray, name: str) -> None:
    infinite = np.isinf(array)
    if infinite.any():
        where = tuple(np.argwhere(infinite)[0].tolist())
        raise BadInput(
            f"{name} is {array[where]} at index {where}: use NaN for missing values, "
            "and finite numbers otherwise."
        )


def check_times(times: Float[np.ndarray, "P N"], sequence_names: Sequence[str]) -> None:
    valid = ~np.isnan(times)
    if not valid[:, 0].all():
        name = sequence_names[int(np.argmin(valid[:, 0]))]
        raise BadInput(f"Sequence {name!r} has no time for its first frame: give every frame one.")
    resumed = valid[:, 1:] & ~valid[:, :-1]
    if resumed.any():
        p, n = np.argwhere(resumed)[0]
        raise BadInput(
            f"Sequence {sequence_names[p]!r} has NaN as the time of frame {n}: "
            "only the padding after its last frame may be NaN."
        )
    not_later = np.diff(times, axis=1) <= 0
    if not_later.any():
        p, n = np.argwhere(not_later)[0]
        raise BadInput(
            f"Times must increase: in sequence {sequence_names[p]!r} frame {n} is at "
            f"{times[p, n]:g} and frame {n + 1} at {times[p, n + 1]:g}; sort the frames by time."
        )


def check_padding(
    values: Float[np.ndarray, "P N A K"],
    name: str,
    times: Float[np.ndarray, "P N"],
    exists: Bool[np.ndarray, "P A"],
) -> None:
    """No number where there is no frame or no object."""
    there = ~np.isnan(times)[:, :, None, None] & exists[:, None, :, None]
    stray = ~np.isnan(values) & ~there
    if stray.any():
        p, n, a, _ = np.argwhere(stray)[0].tolist()
        reason = "has no time" if np.isnan(times[p, n]) else "belongs to an object without a name"
        raise BadInput(
            f"{name} has a number in sequence {p}, frame {n}, object {a}, which {reason}: "
            "put NaN there or supply what is missing."
        )


def check_graph(neighbours: Bool[np.ndarray, "P A A"], exists: Bool[np.ndarray, "P A"]) -> None:
    if neighbours.diagonal(axis1=1, axis2=2).any():
        raise BadInput("neighbours says that an object hears itself: set the diagonal to False.")
    absent = ~(exists[:, :, None] & exists[:, None, :])
    if (neighbours & absent).any():
        p, a, b = np.argwhere(neighbours & absent)[0].tolist()
        raise BadInput(
            f"neighbours[{p}, {a}, {b}] connects a slot without an object: set it to False."
        )
