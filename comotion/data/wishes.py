"""What a caller says about data to be read, and what comes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from comotion.data.trajectories import Trajectories


@dataclass(frozen=True)
class Wishes:
    """What the caller says about a table; everything else is read off it."""

    columns: Mapping[str, str] | Sequence[str] = ()
    times: ArrayLike | None = None
    fps: float | int | None = None
    ignore: Sequence[str] = ()
    extra: Sequence[str] = ()
    keep_jumps: bool = False
    unit: str = ""

    @property
    def named(self) -> dict[str, str]:
        return dict(self.columns) if isinstance(self.columns, Mapping) else {}


@dataclass(frozen=True)
class Reading:
    """Trajectories, and in sentences how they were read."""

    data: Trajectories
    notes: tuple[str, ...] = ()
