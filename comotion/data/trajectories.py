"""The one container of data: what every object did, in every frame of every sequence."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from html import escape
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import ArrayLike

from comotion.data import checks, defaults
from comotion.data.units import UNKNOWN, Units, counted, labelled
from comotion.errors import BadInput

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories:
    """Positions, velocities and other features of objects over time; NaN where missing.

    Sequences may differ in length and in their times, objects may enter and leave, and any frame
    or single value may be missing. `graph[p, a, b]` says that `a` hears `b`; without a graph
    everyone hears everyone, and no array of pairs is kept.

    Mostly made by `read`, by a simulator, or by `from_arrays`; cut by `split`, `between`, `last`,
    `thin`, `only`, `without` and `windows`. All arrays stay as they are: a cut is a new container.

    >>> data = cm.Trajectories.from_arrays(np.zeros((4, 100, 3, 2)), 0.04 * np.arange(100))
    >>> train, test = data.split(0.75, 0.25)
    >>> test.between(1.0, 2.0).without("2")
    Trajectories(1 sequence, 26 frames, 2 objects, x, y)
    """

    values: np.ndarray  # P N A O
    times: np.ndarray  # P N
    features: tuple[str, ...]
    _: KW_ONLY
    static: np.ndarray  # P A C
    static_names: tuple[str, ...] = ()
    controls: np.ndarray  # P N A U
    control_names: tuple[str, ...] = ()
    graph: np.ndarray | None = None  # P A A
    sequence_names: tuple[str, ...]
    object_names: tuple[tuple[str, ...], ...]
    units: Units = UNKNOWN
    frame_kind: str = ""  # the package of the frame they came in, so that answers are of its kind

    def __post_init__(self):
        checks.check_trajectories(self)

    @classmethod
    def from_arrays(
        cls,
        values: ArrayLike,
        times: ArrayLike | None = None,
        *,
        features: Sequence[str] | None = None,
        static: ArrayLike | None = None,
        static_names: Sequence[str] | None = None,
        controls: ArrayLike | None = None,
        control_names: Sequence[str] | None = None,
        neighbours: ArrayLike | None = None,
        sequence_names: Sequence[str] | None = None,
        object_names: Sequence[Sequence[str]] | None = None,
        units: Units = UNKNOWN,
    ) -> "Trajectories":
        """Fill in what is not given: frame numbers as times, usual names, everyone hears everyone.

        `times` of shape (N,), `static` of shape (A, C) and `neighbours` of shape (A, A) hold for
        every sequence. Slots without any value count as absent unless `object_names` names them.
        """
        values = defaults.four_axes(values)
        P, N, A, feature_count = values.shape
        static = defaults.for_all(static, (P, A))
        controls = defaults.for_all(controls, (P, N, A))
        if object_names is None:
            object_names = defaults.numbered_objects(values)
        return cls(
            values,
            defaults.times_for_all(times, P, N),
            tuple(features or defaults.feature_names(feature_count)),
            static=static,
            static_names=tuple(static_names or defaults.numbered(static.shape[-1])),
            controls=controls,
            control_names=tuple(control_names or defaults.numbered(controls.shape[-1])),
            graph=None
            if neighbours is None
            else defaults.graph(neighbours, defaults.existing(object_names, P, A)),
            sequence_names=tuple(sequence_names or defaults.numbered(P)),
            object_names=tuple(tuple(names) for names in object_names),
            units=units,
        )

    @property
    def spatial(self) -> int:
        """The number of position features, which come first."""
        return checks.leading_positions(self.features)

    @property
    def velocities_observed(self) -> bool:
        """Whether velocities are measured, not inferred."""
        return "vx" in self.features

    @property
    def present(self) -> Bool[np.ndarray, "P N A O"]:
        return ~np.isnan(self.values)

    @property
    def alive(self) -> Bool[np.ndarray, "P N A"]:
        """In the scene: from an object's first to its last frame with any value."""
        seen = np.any(self.present, axis=-1)
        entered = np.logical_or.accumulate(seen, axis=1)
        stays = np.logical_or.accumulate(seen[:, ::-1], axis=1)[:, ::-1]
        return entered & stays

    @property
    def exists(self) -> Bool[np.ndarray, "P A"]:
        """Which slots hold an object at all."""
        return defaults.existing(self.object_names, len(self), self.values.shape[2])

    @property
    def neighbours(self) -> Bool[np.ndarray, "P A A"]:
        """Who hears whom, as an array of all pairs."""
        return defaults.graph(None, self.exists) if self.graph is None else self.graph

    @property
    def everyone_hears_everyone(self) -> bool:
        if self.graph is None:
            return True
        return bool((self.graph == defaults.graph(None, self.exists)).all())

    @property
    def lengths(self) -> Int[np.ndarray, "P"]:
        """Frames of each sequence."""
        return np.isfinite(self.times).sum(axis=1)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(
        self, which: int | np.integer | slice | Sequence[int] | np.ndarray
    ) -> "Trajectories":
        """The chosen sequences; one number gives a container of one sequence."""
        chosen = np.atleast_1d(np.arange(len(self))[which]).tolist()
        return replace(
            self,
            values=self.values[chosen],
            times=self.times[chosen],
            static=self.static[chosen],
            controls=self.controls[chosen],
            graph=None if self.graph is None else self.graph[chosen],
            sequence_names=tuple(self.sequence_names[p] for p in chosen),
            object_names=tuple(self.object_names[p] for p in chosen),
        )

    def split(
        self, *parts: float | int, by: Literal["time"] | None = None
    ) -> tuple["Trajectories", ...]:
        """Consecutive groups: so many sequences each, or shares such as 0.8, 0.2.

        Shares of a single recording, and with `by="time"` of each of several, are shares of time.
        """
        return _recordings().split(self, parts, by)

    def windows(self, frames: int, every: int | None = None) -> "Trajectories":
        """Pieces of so many frames as sequences of their own; with `every` they may overlap."""
        return _recordings().windows(self, frames, every)

    def packed(self, shortest: int = 32) -> "Trajectories":
        """Cut into windows where objects come and go, so that few slots are empty."""
        return _recordings().packed(self, shortest)

    def last(self, frames: int) -> "Trajectories":
        """The last frames of every sequence."""
        return _recordings().last(self, frames)

    def between(
        self, start: float | int | None = None, end: float | int | None = None
    ) -> "Trajectories":
        """The frames from time `start` to time `end`, both included."""
        return _recordings().between(self, start, end)

    def thin(self, every: int) -> "Trajectories":
        """Every so many frames one."""
        return _recordings().thin(self, every)

    def only(self, *objects: str) -> "Trajectories":
        """The named objects alone."""
        return _recordings().only(self, objects)

    def without(self, *objects: str) -> "Trajectories":
        """All but the named objects."""
        return _recordings().without(self, objects)

    def select(self, features: Sequence[str]) -> "Trajectories":
        """Only the named features, in that order."""
        unknown = [name for name in features if name not in self.features]
        if unknown:
            raise BadInput(
                f"There is no feature {unknown[0]!r}; choose from {', '.join(self.features)}."
            )
        columns = [self.features.index(name) for name in features]
        return replace(self, values=self.values[..., columns], features=tuple(features))

    def hide_velocities(self) -> "Trajectories":
        """Positions and other features alone."""
        return self.select([name for name in self.features if name not in ("vx", "vy", "vz")])

    def first_frames(self, count: int) -> "Trajectories":
        """Every sequence up to its frame number `count`."""
        if count < 1:
            raise BadInput(f"first_frames({count}) keeps nothing: ask for at least 1 frame.")
        return replace(
            self,
            values=self.values[:, :count],
            times=self.times[:, :count],
            controls=self.controls[:, :count],
        )

    def to_xarray(self) -> "xarray.Dataset":
        """The same data with named dimensions."""
        from comotion.data.store import to_xarray

        return to_xarray(self)

    def __repr__(self) -> str:
        P, N, A, _ = self.values.shape
        names = ", ".join(labelled(name, self.units.of(name)) for name in self.features)
        upto = "up to " if P > 1 else ""
        return (
            f"Trajectories({counted(P, 'sequence')}, {upto}{counted(N, 'frame')}, "
            f"{upto}{counted(A, 'object')}, {names})"
        )

    def _repr_html_(self) -> str:
        from comotion.data.describe import describe

        return f"<b>{escape(repr(self))}</b><pre>{escape(str(describe(self)))}</pre>"


def _recordings() -> ModuleType:
    """What cuts and packs needs the container, which is therefore imported first."""
    from comotion.data import recordings

    return recordings
