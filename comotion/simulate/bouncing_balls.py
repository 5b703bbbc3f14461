"""Equal balls in a box: straight flight, elastic collisions, exact from contact to contact."""

import numpy as np
from jaxtyping import Float, Int

from comotion.data import BadInput, Trajectories
from comotion.simulate.noise import generators
from comotion.simulate.recording import (
    Motion,
    Times,
    check_scene,
    frame_times,
    record,
    times_per_sequence,
)

RADIUS = 1.2
HALF_WIDTH = 5.0
TOTAL_SPEED = 0.5
PLACEMENT_TRIES, TRIES_AT_ONCE = 100_000, 100
# A pair that meets closer to tangentially than this passes: its impulse would vanish in rounding
# and the same contact would come up for ever.
GRAZING = 1e-12


def bouncing_balls(
    *,
    sequences: int = 300,
    objects: int = 3,
    frames: int = 100,
    step: float = 0.5,
    noise: str | float = "none",
    velocities: bool = True,
    seed: int = 0,
    radius: float = RADIUS,
    half_width: float = HALF_WIDTH,
) -> Trajectories:
    """Simulate balls of equal mass that bounce off the walls and off each other.

    `noise` is "none", "low", "high", "higher" or a fraction of each feature's range; the motion
    beneath is the same at every level. `velocities=False` shows positions only.
    """
    check_scene(noise=noise, sequences=sequences, objects=objects, frames=frames, step=step)
    streams = generators(seed, sequences)
    places = np.stack([_place(objects, radius, half_width, stream) for stream in streams])
    directions = np.stack([stream.normal(size=(objects, 2)) for stream in streams])
    speeds = TOTAL_SPEED * directions / np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    times = frame_times(frames, step)
    motion = advance(places, speeds, times, radius=radius, half_width=half_width)
    return record(motion, times, noise=noise, velocities=velocities, seed=seed)


def advance(
    positions: Float[np.ndarray, "P A d"],
    velocities: Float[np.ndarray, "P A d"],
    times: Times,
    *,
    radius: float = RADIUS,
    half_width: float = HALF_WIDTH,
) -> Motion:
    """Carry the states at time 0 exactly to the given times, in any number of dimensions.

    Each pass of the loop takes every unfinished sequence to its own next contact.
    """
    if not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
        raise BadInput("advance needs every position and velocity; leave out missing values.")
    reach = _reach(radius, half_width)
    times = times_per_sequence(times, len(positions))
    shape = (*times.shape, *positions.shape[1:])
    later_positions, later_velocities = np.empty(shape), np.empty(shape)
    pending = np.ones(times.shape, dtype=bool)
    running, clock = np.arange(len(positions)), np.zeros(len(positions))
    x, v = positions.copy(), velocities.copy()
    while running.size:
        wait, contact = _next_contact(x, v, 2 * radius, reach)
        due = times[running] - clock[:, None]
        p, n = np.nonzero(pending[running] & (due < wait[:, None]))
        later_positions[running[p], n] = x[p] + due[p, n][:, None, None] * v[p]
        later_velocities[running[p], n] = v[p]
        pending[running[p], n] = False

        goes_on = pending[running].any(axis=1)
        running, wait, contact = running[goes_on], wait[goes_on], contact[goes_on]
        x, v, clock = x[goes_on], v[goes_on], clock[goes_on] + wait
        x += wait[:, None, None] * v
        _bounce(x, v, contact)
    return later_positions, later_velocities


def _next_contact(
    x: Float[np.ndarray, "P A d"], v: Float[np.ndarray, "P A d"], diameter: float, reach: float
) -> tuple[Float[np.ndarray, "P"], Int[np.ndarray, "P"]]:
    """How long until the next contact, and which: first all walls (ball, axis), then all pairs."""
    walls = _wall_waits(x, v, reach).reshape(len(x), -1)
    waits = np.concatenate([walls, _pair_waits(x, v, diameter)], axis=1)
    contact = waits.argmin(axis=1)
    return waits[np.arange(len(x)), contact], contact


def _wall_waits(
    x: Float[np.ndarray, "P A d"], v: Float[np.ndarray, "P A d"], reach: float
) -> Float[np.ndarray, "P A d"]:
    gap = np.maximum(reach - np.sign(v) * x, 0.0)
    return np.divide(gap, np.abs(v), out=np.full_like(x, np.inf), where=v != 0)


def _pair_waits(
    x: Float[np.ndarray, "P A d"], v: Float[np.ndarray, "P A d"], diameter: float
) -> Float[np.ndarray, "P E"]:
    """The earlier root of |gap + t·drift|² = diameter², in the form that does not cancel."""
    first, second = _pairs(x.shape[1])
    gap, drift = x[:, first] - x[:, second], v[:, first] - v[:, second]
    approach = -(gap * drift).sum(axis=-1)
    speed = np.linalg.norm(drift, axis=-1)
    room = (gap**2).sum(axis=-1) - diameter**2
    discriminant = approach**2 - speed**2 * room
    meets = (approach > GRAZING * speed * diameter) & (discriminant > 0)
    denominator = approach + np.sqrt(np.where(meets, discriminant, 0.0))
    never = np.full_like(room, np.inf)
    return np.divide(np.maximum(room, 0.0), denominator, out=never, where=meets)


def _bounce(
    x: Float[np.ndarray, "P A d"], v: Float[np.ndarray, "P A d"], contact: Int[np.ndarray, "P"]
) -> None:
    """Change the velocities in place, as the given contact of each sequence demands."""
    walls = x.shape[1] * x.shape[2]
    p = np.flatnonzero(contact < walls)
    ball, axis = np.divmod(contact[p], x.shape[-1])
    v[p, ball, axis] *= -1

    p = np.flatnonzero(contact >= walls)
    first, second = (side[contact[p] - walls] for side in _pairs(x.shape[1]))
    normal = x[p, first] - x[p, second]
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    exchanged = ((v[p, first] - v[p, second]) * normal).sum(axis=-1, keepdims=True) * normal
    v[p, first] -= exchanged
    v[p, second] += exchanged


def _place(
    objects: int, radius: float, half_width: float, stream: np.random.Generator
) -> Float[np.ndarray, "A 2"]:
    """Draw all centres uniformly, again and again, until no two balls overlap."""
    spread = min(0.6 * half_width, _reach(radius, half_width))
    first, second = _pairs(objects)
    for _ in range(PLACEMENT_TRIES // TRIES_AT_ONCE):
        centres = stream.uniform(-spread, spread, size=(TRIES_AT_ONCE, objects, 2))
        distances = np.linalg.norm(centres[:, first] - centres[:, second], axis=-1)
        apart = (distances > 2 * radius).all(axis=1)
        if apart.any():
            return centres[apart.argmax()]
    raise BadInput(
        f"{objects} balls of radius {radius:g} found no places without overlap within "
        f"±{spread:g} ({PLACEMENT_TRIES} tries); "
        "ask for fewer objects, a smaller radius or a larger half_width."
    )


def _pairs(objects: int) -> tuple[Int[np.ndarray, "E"], Int[np.ndarray, "E"]]:
    first, second = np.triu_indices(objects, k=1)
    return first, second


def _reach(radius: float, half_width: float) -> float:
    """How far from the middle the centre of a ball can get."""
    if not 0 < radius < half_width < float("inf"):
        raise BadInput(
            f"Balls of radius {radius:g} do not fit into a box of half-width {half_width:g}; "
            "give 0 < radius < half_width."
        )
    return half_width - radius
