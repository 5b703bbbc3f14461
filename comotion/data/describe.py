"""What a data set holds, in words and figures, with gentle warnings."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from comotion.data.trajectories import Trajectories
from comotion.data.units import Units, labelled

FAR, USUAL = 1000.0, 0.9
"""So many times as far off as this share of the values is hardly meant."""


@dataclass(frozen=True)
class Range:
    """The values of one column; the ends are None if there is no value at all."""

    low: float | None
    high: float | None
    missing: float

    def __str__(self) -> str:
        if self.low is None:
            return "no values"
        span = f"{self.low:.4g} to {self.high:.4g}"
        return f"{span}, {self.missing:.1%} missing" if self.missing else span


@dataclass(frozen=True)
class TimeSteps:
    regular: bool
    median: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.regular:
            return f"regular, {self.median:.4g} apart"
        return f"irregular, {self.low:.4g} to {self.high:.4g} apart (median {self.median:.4g})"


@dataclass(frozen=True, repr=False)
class Description:
    """Figures about a data set; `str()` tells them to people, `to_dict()` to programs."""

    sequences: int
    objects: tuple[int, int]
    at_once: int
    frames: tuple[int, int]
    steps: TimeSteps | None
    units: Units
    spatial: int
    velocities_observed: bool
    complete_graph: bool
    features: dict[str, Range]
    static: dict[str, Range]
    controls: dict[str, Range]
    missing: float
    gaps: int
    entering: int
    leaving: int
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def _space(self) -> str:
        if self.spatial == 0:
            return "no positions"
        return (
            f"{self.spatial}-D, velocities {'observed' if self.velocities_observed else 'hidden'}"
        )

    @property
    def _times(self) -> str:
        if self.steps is None:
            return "a single frame"
        return f"{self.steps}{f', in {self.units.time}' if self.units.time else ''}"

    def __str__(self) -> str:
        lines = [
            f"sequences   {self.sequences}",
            f"objects     {_span(self.objects)} in each sequence, at most {self.at_once} at once",
            f"frames      {_span(self.frames)} in each sequence",
            f"times       {self._times}",
            f"space       {self._space}",
            f"neighbours  {'all objects' if self.complete_graph else 'a given graph'}",
            f"missing     {self.missing:.1%} of the values, {self.gaps} gaps",
            f"traffic     {self.entering} objects enter late, {self.leaving} leave early",
        ]
        for title in ("features", "static", "controls"):
            ranges = getattr(self, title)
            lines += [
                f"{title:<11} {labelled(name, self.units.of(name))}: {span}"
                for name, span in ranges.items()
            ]
        return "\n".join(lines + [f"warning     {warning}" for warning in self.warnings])

    __repr__ = __str__  # for notebooks


def describe(data: Trajectories) -> Description:
    """What is in the data, printed in a few lines, with a warning where a unit seems wrong.

    >>> print(cm.describe(cm.simulate.drifters(sequences=2, frames=5)).frames)
    (5, 5)
    """
    alive, exists = data.alive, data.exists
    seen, last = np.any(data.present, axis=-1), data.lengths - 1
    leaves = alive.any(axis=1) & ~alive[np.arange(len(data)), last]
    values, static, controls = data.values[alive], data.static[exists], data.controls[alive]
    return Description(
        sequences=len(data),
        objects=_ends(exists.sum(axis=1)),
        at_once=int(alive.sum(axis=-1).max()),
        frames=_ends(data.lengths),
        steps=time_steps(data),
        units=data.units,
        spatial=data.spatial,
        velocities_observed=data.velocities_observed,
        complete_graph=data.everyone_hears_everyone,
        features=_ranges(data.features, values),
        static=_ranges(data.static_names, static),
        controls=_ranges(data.control_names, controls),
        missing=float(np.isnan(values).mean()),
        gaps=int((alive & ~seen).sum()),
        entering=int((alive.any(axis=1) & ~alive[:, 0]).sum()),
        leaving=int(leaves.sum()),
        warnings=tuple(find_oddities(data)),
    )


def time_steps(data: Trajectories) -> TimeSteps | None:
    """The distances between frames; None if every sequence has a single frame."""
    steps = np.diff(data.times, axis=1)
    steps = steps[np.isfinite(steps)]
    if steps.size == 0:
        return None
    median, low, high = (float(f(steps)) for f in (np.median, np.min, np.max))
    return TimeSteps(high - low <= 1e-4 * median, median, low, high)


def find_oddities(data: Trajectories) -> list[str]:
    """What is allowed but probably not meant."""
    return [
        *_velocities_that_disagree(data),
        *_constant_features(data),
        *_far_values(data),
        *_uneven_steps(data),
        *_unknown_properties(data),
    ]


def _velocities_that_disagree(data: Trajectories) -> list[str]:
    """Velocities whose least-squares factor to the positions' rate of change is far from one."""
    oddities = []
    steps = np.diff(data.times, axis=1)[..., None]
    for i in range(data.spatial if data.velocities_observed else 0):
        rate = np.diff(data.values[..., i], axis=1) / steps
        velocity = data.values[..., data.spatial + i]
        velocity = (velocity[:, 1:] + velocity[:, :-1]) / 2
        both = np.isfinite(rate) & np.isfinite(velocity)
        power = float(np.sum(velocity[both] ** 2))
        factor = float(np.sum(rate[both] * velocity[both])) / power if power else 1.0
        if not 1 / 3 < factor < 3:
            name, moved = data.features[data.spatial + i], data.features[i]
            oddities.append(
                f"{name} is not the rate of change of {moved}, which is about {factor:.2g} times "
                f"as large: check the units of {name} and of time, and the order of the columns."
            )
    return oddities


def _constant_features(data: Trajectories) -> list[str]:
    ranges = _ranges(data.features, data.values[data.alive])
    return [
        f"{name} is {span.low:g} everywhere: it tells nothing and could be left out."
        for name, span in ranges.items()
        if span.low is not None and span.low == span.high
    ]


def _far_values(data: Trajectories) -> list[str]:
    """One of them would set the units of all."""
    oddities = []
    for name, values in zip(data.features, np.moveaxis(data.values, -1, 0), strict=True):
        known = np.isfinite(values)
        away = np.abs(values - np.median(values[known])) if known.any() else np.zeros(1)
        usual = float(np.quantile(away[known], USUAL)) if known.any() else 0.0
        if not 0 < FAR * usual < np.nanmax(away):
            continue
        p, n, a = np.unravel_index(np.nanargmax(away), away.shape)
        oddities.append(
            f"{name} is {values[p, n, a]:.4g} for object {data.object_names[p][a]!r} of sequence "
            f"{data.sequence_names[p]!r} at time {data.times[p, n]:.6g}, more than {FAR:g} times "
            "farther from the middle than nine in ten values: leave it out if it is an error."
        )
    return oddities


def _uneven_steps(data: Trajectories) -> list[str]:
    steps = time_steps(data)
    if steps is None or steps.high <= 10 * steps.low:
        return []
    return [
        f"Time steps differ much, from {steps.low:g} to {steps.high:g}: fine if nobody was there "
        "in between; else check for missing frames and for sequences in other units of time."
    ]


def _unknown_properties(data: Trajectories) -> list[str]:
    unknown = np.isnan(data.static[data.exists]).sum(axis=0).tolist()
    return [
        f"The static property {name} is missing for {count} objects: fill it in if it is known."
        for name, count in zip(data.static_names, unknown, strict=True)
        if count
    ]


def _ranges(names: tuple[str, ...], table: Float[np.ndarray, "rows K"]) -> dict[str, Range]:
    ranges = {}
    for name, column in zip(names, table.T, strict=True):
        known = column[~np.isnan(column)]
        low, high = (float(known.min()), float(known.max())) if known.size else (None, None)
        ranges[name] = Range(low, high, 1 - known.size / max(column.size, 1))
    return ranges


def _ends(counts: np.ndarray) -> tuple[int, int]:
    return int(counts.min()), int(counts.max())


def _span(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
