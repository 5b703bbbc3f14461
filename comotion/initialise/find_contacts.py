"""Hard contacts found in data: pair distance, walls, restitution, masses; or why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from comotion.contacts import ContactLaw, Parts, Plane, Restitution, Sphere, contact_law
from comotion.initialise.bounces import Speeds, fit_restitution
from comotion.initialise.containment import share_let_out
from comotion.initialise.curves import Curves, along, curves_of, without
from comotion.initialise.enclosure import find_enclosure
from comotion.initialise.flights import Flights, find_flights, straightened
from comotion.initialise.forces import flies_straight
from comotion.initialise.hinges import hinged
from comotion.initialise.jumps import Jumps, bent_by, find_jumps, find_pairs, relative_curve
from comotion.initialise.pair_sizes import Masses, PairSizes, fit_masses, fit_sizes
from comotion.initialise.tracks import NoiseScale, Tracks, noise_scale, share_of_motion
from comotion.initialise.walls import find_walls, normals_at

FEWEST_FRAMES = 8
MOST = 5000
LEAST_PARTING = 0.1
"""Restitution of pairs beside forces."""
SHARP = 0.2
"""Jumps beside forces, in usual speeds: what a law misses is less sudden than a contact."""
AFTER_LAW, FLIGHT = 0.02, 10
"""Share of a speed by which a law may be wrong after a usual flight of so many frames: less is no
jump."""


@dataclass(frozen=True)
class Finding:
    """A law, or None and the reason; and in which intervals whose velocity jumped."""

    law: ContactLaw | None
    reason: str
    eventful: Bool[np.ndarray, "P J A"]
    """intervals in which a contact of the law fell"""
    straight: Tracks
    """the tracks without noise, as flights from contact to contact"""
    noise: NoiseScale
    out: float = 0.0
    """share of flights that would leave the scene and that no wall stops"""
    required: bool = False
    """whether to find nothing is an error"""


def find_contacts(
    tracks: Tracks,
    accelerations: Float[np.ndarray, "P N A d"] | None = None,
    *,
    curves: Curves | None = None,
    blur: NoiseScale | None = None,
    seed: int = 0,
) -> Finding:
    """Positions are enough; velocities help. Missing frames, absent objects, gaps are ordinary.

    `accelerations` are those of a smooth law along the tracks, or `curves` what it makes of them:
    jumps are then looked for in what it leaves. Contacts that yield are where they would be if they
    were hard, but for a `blur`.

    What is refused: jumps that lie on no surface, and surfaces that objects are found behind.
    """
    P, N, A, d = tracks.positions.shape
    if d not in (2, 3) or N < FEWEST_FRAMES:
        reason = f"contacts are looked for in 2 or 3 dimensions and {FEWEST_FRAMES} frames or more"
        nobody = np.zeros((P, max(N - 1, 0), A), bool)
        return Finding(None, reason, nobody, tracks, noise_scale(tracks))
    bent = accelerations is not None or curves is not None
    curves = curves_of(tracks, accelerations) if curves is None else curves
    left = without(tracks, curves)
    noise = noise_scale(left)
    if blur is None:
        blur = share_of_motion(left, AFTER_LAW * FLIGHT, AFTER_LAW) if bent else noise
    sought = noise.at_least(blur)
    flights = find_flights(left, sought)
    jumps = find_jumps(flights, curves, A)
    straight = along(straightened(left, flights), curves)
    if bent:
        jumps = jumps[jumps.size > SHARP * _usual_speed(straight)]
    met = _met(jumps, flights, curves, left, sought, straight, bent, np.random.default_rng(seed))
    pairs, sizes, masses, alone = met.pairs, met.sizes, met.masses, met.alone
    walls, members = met.walls, met.members
    scatters = tracks.velocities is not None
    bounce = _wall_restitution(alone, walls, members, scatters)
    eventful = np.zeros((P, N - 1, A), bool)
    where = f"{len(alone)} sudden changes of velocity of single objects lie on no surface"
    if not walls:
        enclosure = find_enclosure(tracks)
        if enclosure.wall is not None:
            walls, bounce, eventful = [enclosure.wall], enclosure.restitution, enclosure.touching
        where = f"{where}, and {enclosure.reason}"
    if sizes.radii is None and not walls:
        return Finding(None, f"{sizes.reason}, and no wall: {where}", eventful, straight, noise)
    touches = sizes.radii is not None
    at_walls = alone[np.any([*members, np.zeros(len(alone), bool)], axis=0)]
    eventful = eventful | _eventful([pairs[sizes.belongs], at_walls], tracks)
    law = contact_law(
        Parts(
            d,
            walls,
            radii=() if sizes.radii is None else sizes.radii,
            radii_covariance=sizes.covariance,
            log_masses=masses.logs if touches else (0.0,),
            log_masses_covariance=masses.covariance if touches else None,
            pair=_pair_restitution(pairs, sizes, scatters),
            wall=bounce,
            speed=_usual_speed(straight),
            only=not bent and flies_straight(left, sought, eventful),
        )
    )
    reason = _summary(jumps, pairs[sizes.belongs], at_walls, walls)
    out = 0.0 if bent else share_let_out(walls, flights, pairs, straight)
    return Finding(law, reason, eventful, straight, noise, out)


@dataclass(frozen=True)
class _Met:
    """Jumps of two together, and of one alone with the walls some of them lie on."""

    pairs: Jumps
    sizes: PairSizes
    masses: Masses
    alone: Jumps
    walls: list[Plane | Sphere]
    members: list[Bool[np.ndarray, " K"]]


def _met(
    jumps: Jumps,
    flights: Flights,
    curves: Curves,
    left: Tracks,
    noise: NoiseScale,
    straight: Tracks,
    bent: bool,
    rng: np.random.Generator,
) -> _Met:
    def closer(part: Jumps) -> Jumps:
        again = hinged(part, flights, left, noise)
        return bent_by(again, *relative_curve(curves, flights, again))

    step, objects = float(np.nanmedian(np.diff(left.times, axis=1))), left.positions.shape[2]
    masses = fit_masses(find_pairs(jumps, flights, curves, step, None), objects)
    pairs, alone, _ = find_pairs(jumps, flights, curves, step, masses.ratio)
    pairs, alone = (_some(part, rng) for part in (pairs, alone))
    # Only what looks like contacts is worth a closer look.
    if fit_sizes(pairs, straight.positions, len(jumps)).radii is not None:
        pairs = closer(pairs)
    sizes = fit_sizes(pairs, straight.positions, len(jumps))
    if bent:
        sizes = _if_parting(sizes, pairs)
    walls, members = find_walls(alone, _visited(straight), len(jumps), rng)
    if walls:
        alone = closer(alone)
        walls, members = find_walls(alone, _visited(straight), len(jumps), rng)
    return _Met(pairs, sizes, masses, alone, walls, members)


def _some(jumps: Jumps, rng: np.random.Generator) -> Jumps:
    """More tell nothing new."""
    return jumps if len(jumps) <= MOST else jumps[rng.permutation(len(jumps))[:MOST]]


def _if_parting(sizes: PairSizes, pairs: Jumps) -> PairSizes:
    """Where forces act, what a law misses as two pass each other is no contact."""
    bounce = _pair_restitution(pairs, sizes, scatters=False)
    if sizes.radii is None or np.max(bounce.values) > LEAST_PARTING:
        return sizes
    nobody = np.zeros(len(pairs), bool)
    return PairSizes(None, None, nobody, "pairs that jump together do not part")


def _visited(straight: Tracks) -> Float[np.ndarray, "K d"]:
    places = straight.positions.reshape(-1, straight.positions.shape[-1])
    return places[np.isfinite(places).all(axis=1)]


def _usual_speed(straight: Tracks) -> float:
    """Differences of noisy positions are far quicker than anything moved."""
    assert straight.velocities is not None
    return float(np.sqrt(np.nanmean(straight.velocities**2)))


def _pair_restitution(pairs: Jumps, sizes: PairSizes, scatters: bool) -> Restitution:
    chosen = pairs[sizes.belongs]
    if sizes.radii is None or not len(chosen):
        return Restitution()
    distance = np.linalg.norm(chosen.place, axis=1, keepdims=True)
    line = chosen.place / distance
    speeds = _speeds(chosen, -line, chosen.variance / distance[:, 0] ** 2)
    return fit_restitution(*speeds, scatters=scatters)


def _wall_restitution(
    alone: Jumps,
    walls: list[Plane | Sphere],
    members: list[Bool[np.ndarray, " K"]],
    scatters: bool,
) -> Restitution:
    if not walls:
        return Restitution()
    chosen = [alone[on] for on in members]
    speeds = [
        _speeds(jumps, normals_at(wall, jumps.place), np.zeros(len(jumps)))
        for jumps, wall in zip(chosen, walls, strict=True)
    ]
    normal, sliding = (_joined(list(side)) for side in zip(*speeds, strict=True))
    return fit_restitution(normal, sliding, scatters=scatters)


def _speeds(
    jumps: Jumps, outward: Float[np.ndarray, "K d"], angle_variance: Float[np.ndarray, " K"]
) -> tuple[Speeds, Speeds]:
    """Along the normal (closing, parting) and across it, along the way it slid before."""
    closing = (jumps.before * outward).sum(axis=1)
    parting = -(jumps.after * outward).sum(axis=1)
    sliding = jumps.before - closing[:, None] * outward
    speed = np.linalg.norm(sliding, axis=1)
    ahead = sliding / np.maximum(speed, 1e-300)[:, None]
    after = (jumps.after * ahead).sum(axis=1)
    variances = jumps.before_variance, jumps.after_variance
    # A speed is never negative: noise alone makes one, and its square is taken out.
    slid = np.sqrt(np.maximum(speed**2 - jumps.before_variance, 0.0))
    clear = slid**2 > 9 * jumps.before_variance
    across = Speeds(speed[clear], after[clear], *(v[clear] for v in variances))
    tilted = angle_variance * slid**2
    return Speeds(closing, parting, *(v + tilted for v in variances)), across


def _joined(parts: list[Speeds]) -> Speeds:
    names = ("before", "after", "before_variance", "after_variance")
    return Speeds(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _eventful(parts: list[Jumps], tracks: Tracks) -> Bool[np.ndarray, "P J A"]:
    P, N, A, _ = tracks.positions.shape
    mask = np.zeros((P, N - 1, A), bool)
    for jumps in parts:
        times = tracks.times[jumps.sequence]
        later = np.where(np.isfinite(times), times, np.inf) <= jumps.time[:, None]
        interval = (later.sum(axis=1) - 1).clip(0, N - 2)
        mask[jumps.sequence, interval, jumps.object] = True
        pair = jumps.other >= 0
        mask[jumps.sequence[pair], interval[pair], jumps.other[pair]] = True
    return mask


def _summary(jumps: Jumps, pairs: Jumps, walls: Jumps, found: Sequence[Plane | Sphere]) -> str:
    rest = len(jumps) - 2 * len(pairs) - len(walls)
    return (
        f"{len(pairs)} contacts of pairs, {len(walls)} with {len(found)} walls, {rest} other jumps"
    )
