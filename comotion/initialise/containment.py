"""Whether walls hold what the data show to be held: too few frames show too few of them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from comotion.contacts import Plane, Sphere
from comotion.initialise.flights import Flights
from comotion.initialise.jumps import Jumps
from comotion.initialise.tracks import Tracks, by_track

DIRECTIONS = 24
"""Around the scene, 15 degrees apart."""
MARGIN = 0.15
"""Share of the scene's width by which a flight must leave it to be called out."""
MOST_OUT = 0.1
"""Share of flights a law of contacts may let out before it is refused."""
Vectors = Float[np.ndarray, "F d"]


def share_let_out(
    walls: Sequence[Plane | Sphere], flights: Flights, pairs: Jumps, straight: Tracks
) -> float:
    """Of flights that would leave where objects are found, how many no wall stops.

    Each flight is followed straight on until its object is last seen, or until it met another
    object. Without walls everything may go where it likes, as far as the data show, so that
    nothing that stays is kept by anything but luck.
    """
    place, velocity = flights.at(flights.begin), flights.velocity
    until = _last_seen(straight)[flights.track] - flights.begin
    for ended in (pairs.flight, pairs.other_flight):
        until[ended] = np.minimum(until[ended], flights.end[ended] - flights.begin[ended])
    leaves = _leaves(straight, place, velocity)
    stopped = np.full(len(place), np.inf)
    for wall in walls:
        stopped = np.minimum(stopped, _stops(wall, place, velocity))
    would = leaves < until
    return float(np.mean(stopped[would] > leaves[would])) if would.any() else 0.0


def _last_seen(straight: Tracks) -> Float[np.ndarray, " T"]:
    times, x = by_track(straight.times, straight.positions)
    seen = np.isfinite(x).all(axis=2) & np.isfinite(times)
    return np.where(seen, times, -np.inf).max(axis=1)


def _leaves(straight: Tracks, place: Vectors, velocity: Vectors) -> Float[np.ndarray, " F"]:
    """When a straight flight is well beyond every place where an object was, in any direction."""
    places = straight.positions.reshape(-1, place.shape[1])
    places = places[np.isfinite(places).all(axis=1)]
    directions = _directions(place.shape[1])
    reach = places @ directions.T
    edge = reach.max(axis=0) + MARGIN * np.ptp(reach, axis=0)
    outward, room = velocity @ directions.T, edge - place @ directions.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(outward > 0, room / outward, np.inf).min(axis=1)


def _directions(d: int) -> Float[np.ndarray, "K d"]:
    if d == 2:
        angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    signs = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * d)).reshape(d, -1).T
    signs = signs[signs.any(axis=1)]
    return signs / np.linalg.norm(signs, axis=1, keepdims=True)


def _stops(wall: Plane | Sphere, place: Vectors, velocity: Vectors) -> Float[np.ndarray, " F"]:
    """When a straight flight meets the wall from its allowed side, or is already beyond it."""
    if isinstance(wall, Plane):
        closing, room = velocity @ wall.normal, (wall.anchor - place) @ wall.normal
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(closing > 0, np.maximum(room, 0.0) / closing, np.inf)
    gap = place - wall.centre
    square, along = (velocity**2).sum(axis=1), (gap * velocity).sum(axis=1)
    room = (gap**2).sum(axis=1) - wall.radius**2
    root = along**2 - square * room
    turn = np.sqrt(np.maximum(root, 0.0)) * (1 if wall.inside else -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        wait = (turn - along) / square
    return np.where((root > 0) & (wait >= 0), wait, np.inf)
