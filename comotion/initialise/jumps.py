"""Where flights end: sudden changes of velocity, alone or of two objects together."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from comotion.initialise.curves import Curves
from comotion.initialise.flights import Flights

WORST_PAIR = 20.0
"""Chi-square up to which two jumps are one contact of their objects."""
CLEAR = 3.0
"""A jump counts if it is so many of its standard deviations long."""
Rows = Int[np.ndarray, " K"]
Numbers = Float[np.ndarray, " K"]
Vectors = Float[np.ndarray, "K d"]


@dataclass(frozen=True)
class Jumps:
    """Two flights that meet: of one object, or of one object as seen from another.

    `place` and `normal` say where and along which line, `before` and `after` how fast.
    """

    sequence: Rows
    object: Rows
    other: Rows
    """-1 where an object jumps alone"""
    time: Numbers
    first: Numbers
    latest: Numbers
    """the gap between the two flights"""
    place: Vectors
    before: Vectors
    after: Vectors
    variance: Numbers
    """of the place along the jump"""
    before_variance: Numbers
    after_variance: Numbers
    flight: Rows
    """which flight ends here; the next one begins"""
    other_flight: Rows

    def __getitem__(self, rows: np.ndarray) -> "Jumps":
        return Jumps(**{name: value[rows] for name, value in vars(self).items()})

    def __len__(self) -> int:
        return len(self.time)

    @property
    def change(self) -> Vectors:
        return self.after - self.before

    @property
    def size(self) -> Numbers:
        return np.linalg.norm(self.change, axis=1)

    @property
    def change_variance(self) -> Numbers:
        return self.before_variance + self.after_variance


def find_jumps(flights: Flights, curves: Curves, objects: int) -> Jumps:
    """Between flights of one track that follow each other, if the change is clear."""
    ends = np.flatnonzero(flights.track[1:] == flights.track[:-1])
    sequence, who = np.divmod(flights.track[ends], objects)
    nobody = np.full_like(who, -1)
    jumps = _meet(flights[ends], flights[ends + 1], sequence, who, nobody, ends, nobody)
    jumps = bent_by(jumps, *relative_curve(curves, flights, jumps))
    return jumps[jumps.size**2 > CLEAR**2 * jumps.change_variance]


def bent_by(jumps: Jumps, path: Vectors, speed: Vectors) -> Jumps:
    """Where and how fast, with what the smooth law adds to straight flights."""
    before, after = jumps.before + speed, jumps.after + speed
    return replace(jumps, place=jumps.place + path, before=before, after=after)


def relative_curve(curves: Curves, flights: Flights, jumps: Jumps) -> tuple[Vectors, Vectors]:
    """Path and speed that the smooth law adds at each jump, as seen from the other object."""
    path, speed = curves.at(flights.track[jumps.flight], jumps.time)
    if len(jumps) and jumps.other[0] >= 0:
        other_path, other_speed = curves.at(flights.track[jumps.other_flight], jumps.time)
        return path - other_path, speed - other_speed
    return path, speed


def _meet(
    before: Flights,
    after: Flights,
    sequence: Rows,
    who: Rows,
    other: Rows,
    flight: Rows,
    other_flight: Rows,
) -> Jumps:
    """At the time that brings the two lines nearest, within the gap between them."""
    change = after.velocity - before.velocity
    square = np.maximum((change**2).sum(axis=1), 1e-300)
    apart = after.at(before.end) - before.at(before.end)
    first, latest = np.minimum(before.end, after.begin), np.maximum(before.end, after.begin)
    time = before.end - (apart * change).sum(axis=1) / square
    # Where a jump is hardly longer than its error, neither is the gap quite where it seems.
    unsure = np.sqrt((before.variance_at(latest) + after.variance_at(first)) / square)
    first, latest = first - unsure, latest + unsure
    time = np.clip(time, first, latest)
    old, new = before.variance_at(time), after.variance_at(time)
    place = (before.at(time) * new[:, None] + after.at(time) * old[:, None]) / (old + new)[:, None]
    normal = change / np.sqrt(square)[:, None]
    coming, going = ((b.velocity * normal).sum(axis=1) for b in (before, after))
    crossing = (coming**2 * new + going**2 * old) / square
    return Jumps(
        sequence=sequence,
        object=who,
        other=other,
        time=time,
        first=first,
        latest=latest,
        place=place,
        before=before.velocity,
        after=after.velocity,
        variance=np.maximum(crossing, old * new / (old + new)),
        before_variance=before.velocity_variance,
        after_variance=after.velocity_variance,
        flight=flight,
        other_flight=other_flight,
    )


def find_pairs(
    jumps: Jumps,
    flights: Flights,
    curves: Curves,
    step: float,
    mass_ratio: Float[np.ndarray, "A A"] | None,
) -> tuple[Jumps, Jumps, Vectors]:
    """Contacts of two objects, the jumps left over, and each contact's changes of velocity.

    Two objects that jump within a frame of each other, away from each other along the line
    between them; best first. With `mass_ratio` (of the first to the second) their momentum must
    stay as well. The changes come as (first, second) along the line.
    """
    one, two = _near_in_time(jumps, step)
    met = _relative(jumps, flights, one, two)
    met = bent_by(met, *relative_curve(curves, flights, met))
    distance = np.linalg.norm(met.place, axis=1)
    line = met.place / np.maximum(distance, 1e-300)[:, None]
    misfit, pushes = np.zeros(len(met)), []
    for rows, sign in ((one, 1.0), (two, -1.0)):
        change = jumps.change[rows]
        along = (change * line).sum(axis=1)
        unsure = jumps.change_variance[rows] + (along / distance) ** 2 * met.variance
        across = ((change - along[:, None] * line) ** 2).sum(axis=1)
        misfit += np.where(sign * along > 0, across / unsure, np.inf)
        pushes.append(sign * along)
    first, second = pushes
    if mass_ratio is not None:
        ratio = mass_ratio[met.object, met.other]
        lost = (ratio * first - second) ** 2
        variances = (jumps.change_variance[rows] for rows in (one, two))
        misfit += lost / (ratio**2 * next(variances) + next(variances))
    taken = _best_first(misfit, one, two, len(jumps))
    alone = np.ones(len(jumps), bool)
    alone[one[taken]] = alone[two[taken]] = False
    return met[taken], jumps[alone], np.stack([first[taken], second[taken]], axis=1)


def _near_in_time(jumps: Jumps, step: float) -> tuple[Rows, Rows]:
    """Pairs of jumps of different objects of one sequence whose gaps are within a frame."""
    order = np.lexsort([jumps.first, jumps.sequence])
    ones, twos, offset = [], [], 1
    while offset < len(order):
        one, two = order[:-offset], order[offset:]
        same = jumps.sequence[one] == jumps.sequence[two]
        near = same & (jumps.first[two] <= jumps.latest[one] + step)
        if not near.any():
            break
        differ = near & (jumps.object[one] != jumps.object[two])
        ones.append(one[differ])
        twos.append(two[differ])
        offset += 1
    none = np.zeros(0, int)
    return np.concatenate([none, *ones]), np.concatenate([none, *twos])


def _relative(jumps: Jumps, flights: Flights, one: Rows, two: Rows) -> Jumps:
    """The first object of each pair as seen from the second."""
    i, j = jumps.flight[one], jumps.flight[two]
    before, after = flights[i].minus(flights[j]), flights[i + 1].minus(flights[j + 1])
    who, other = jumps.object[one], jumps.object[two]
    return _meet(before, after, jumps.sequence[one], who, other, i, j)


def _best_first(misfit: Numbers, one: Rows, two: Rows, jumps: int) -> Int[np.ndarray, " n"]:
    """Each jump belongs to one contact at most."""
    free, taken = np.ones(jumps, bool), []
    for pair in np.argsort(misfit):
        if misfit[pair] > WORST_PAIR:
            break
        if free[one[pair]] and free[two[pair]]:
            free[one[pair]] = free[two[pair]] = False
            taken.append(pair)
    return np.array(taken, int)
