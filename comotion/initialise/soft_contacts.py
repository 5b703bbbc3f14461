"""Soft contacts found in data: where objects begin to touch, and how hard they push back.

A touch that lasts turns flights round as a hard contact would, one that lies deeper for those who
come faster. So hard contacts are looked for first, in places that may be a little off (`blur`).
From there Gauss-Newton steps go through the motion itself: short windows with a touch in them are
followed from frames as they are, and the numbers of the law change until they end as was seen.
"""

import dataclasses
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from comotion._types import EXACT
from comotion.contacts import (
    ContactLaw,
    Contacts,
    Gaussian,
    Restitution,
    Softness,
    Springs,
    gaussian,
)
from comotion.initialise.containment import MOST_OUT
from comotion.initialise.find_contacts import Finding, find_contacts
from comotion.initialise.tracks import Tracks, noise_scale, share_of_motion

BLUR_OF_STEP, BLUR_OF_SPEED = 0.4, 0.02
"""How far off jumps may be where contacts are soft, in usual steps and speeds."""
FRAMES, MOST_WINDOWS = 6, 300
LASTING = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Touches to begin with, in frames."""
PER_TOUCH = 30
"""Steps: with fewer, where in a step a touch began makes too much of a difference."""
MOST_STEPS = 400
"""To a frame."""
ROUNDS, TRIES = 25, 6
ENOUGH = 1e-5
"""Gain in the robust cost below which nothing more is gained."""
POWERS = 0.3, 4.0
TOUGH = 3.0
"""Windows whose error is so many times that which most have count half."""
HELD_OUT = 5
"""One sequence in so many is not learned from."""
EXPLAINED, MOST = 0.95, 0.8
"""Share of how a window differs from straight flight, and of the held-out windows in which so much
must be explained."""
WEAK, TINY = 1e-9, 1e-12
Numbers = Float[np.ndarray, " n"]


class Windows(NamedTuple):
    """Errors are counted in usual steps and speeds."""

    start: Float[Array, "W A D"]
    seen: Float[Array, "W M A D"]
    steps: Float[Array, "W M"]
    scale: Float[Array, " D"]


class Yields(NamedTuple):
    """A law of contact as numbers: distance, spring of pairs, spring of walls, shifts of walls."""

    first: Contacts
    unit: Float[Array, ""]

    def at(self, numbers: Float[Array, " n"]) -> Contacts:
        first, shifts = self.first, numbers[5:]
        flat = first.planes.count
        anchors = first.planes.anchors + shifts[:flat, None] * first.planes.normals
        radii = first.spheres.radii + shifts[flat:] * first.spheres.sides
        return dataclasses.replace(
            first,
            radii=jnp.broadcast_to(numbers[:1] / 2, first.radii.shape),
            planes=dataclasses.replace(first.planes, anchors=anchors),
            spheres=dataclasses.replace(first.spheres, radii=radii),
            springs=Springs(numbers[1:3], numbers[3:5], self.unit, 1),
        )


@dataclasses.dataclass(frozen=True)
class _Fit:
    law: Yields
    numbers: Numbers
    precision: Float[np.ndarray, "n n"]


def find_soft_contacts(tracks: Tracks, *, seed: int = 0) -> Finding:
    """Of objects of one size and mass whose positions and velocities are seen without much noise.

    None where touches do not explain nearly all that bends flights, in sequences not learned from.
    """
    blur = share_of_motion(tracks, BLUR_OF_STEP, BLUR_OF_SPEED)
    first = find_contacts(tracks, blur=blur, seed=seed)
    noise = noise_scale(tracks)
    why = _why_not(first, tracks)
    if not why and noise.at_least(blur) != blur:
        why = "frames are too noisy to tell how soft contacts are"
    if why or first.law is None:
        return dataclasses.replace(first, law=None, reason=why or first.reason)
    rng = np.random.default_rng(seed)
    held_out = np.arange(len(tracks.times)) % HELD_OUT == HELD_OUT - 1
    learned, judged = (_windows(tracks, first.eventful, of, rng) for of in (~held_out, held_out))
    if not len(learned.start) or not len(judged.start):
        return dataclasses.replace(first, law=None, reason="too few touches between calm frames")
    step = float(np.nanmedian(np.diff(tracks.times, axis=1)))
    fit, lasting = _fitted(first.law, learned, step)
    share = _share_explained(fit, judged, _steps(step, lasting))
    reason = f"soft contacts explain {share:.0%} of the touches in sequences not learned from"
    law = _law(fit, first.law, step) if share > MOST else None
    return dataclasses.replace(first, law=law, reason=reason, noise=noise)


def _why_not(first: Finding, tracks: Tracks) -> str:
    law = first.law
    if law is None:
        return first.reason
    if tracks.velocities is None:
        return "soft contacts are found where velocities are seen"
    if law.radii.mean.size > 1 or law.log_masses.mean.size > 1:
        return "soft contacts are found for objects of one size and mass"
    if not law.only or first.out > MOST_OUT:
        return "more than contacts bends the flights"
    return ""


def _windows(
    tracks: Tracks, eventful: Bool[np.ndarray, "P J A"], of: np.ndarray, rng: np.random.Generator
) -> Windows:
    """That begin in a calm frame and have a touch in the middle; some, if there are many."""
    assert tracks.velocities is not None
    states = np.concatenate([tracks.positions, tracks.velocities], axis=-1)
    busy = np.asarray(eventful.any(axis=2))
    there = np.asarray(np.isfinite(states).all(axis=(2, 3)))
    first = np.array(
        [
            (p, k)
            for p in np.flatnonzero(of)
            for k in range(1, busy.shape[1] - FRAMES + 1)
            if not busy[p, k - 1 : k + 1].any()
            and busy[p, k + 1 : k + FRAMES - 2].any()
            and there[p, k : k + FRAMES + 1].all()
        ],
        int,
    ).reshape(-1, 2)
    p, k = first[rng.permutation(len(first))[:MOST_WINDOWS]].T
    frames = k[:, None] + np.arange(FRAMES + 1)
    values, times = states[p[:, None], frames], tracks.times[p[:, None], frames]
    usual = share_of_motion(tracks, 1.0, 1.0)
    d = tracks.positions.shape[-1]
    scale = np.repeat([usual.position, usual.velocity or 1.0], d)
    return Windows(*(_exact(v) for v in (values[:, 0], values[:, 1:], np.diff(times), scale)))


def _exact(values: np.ndarray | Array) -> Array:
    return jnp.asarray(values, EXACT)


def _fitted(law: ContactLaw, windows: Windows, step: float) -> tuple[_Fit, float]:
    """From the touch that fits best, by Levenberg's and Marquardt's damping of robust steps."""
    guesses = [_guess(law, step * share) for share in LASTING]
    costs = [
        _cost(_squares(errors_of(*guess, windows, _steps(step, step * share))), 1.0)
        for guess, share in zip(guesses, LASTING, strict=True)
    ]
    best = int(np.argmin(costs))
    (yields, numbers), lasting = guesses[best], step * LASTING[best]
    steps, damping = _steps(step, lasting), 1e-3
    errors = errors_of(yields, numbers, windows, steps)
    precision = np.eye(len(numbers))
    for _ in range(ROUNDS):
        squares = _squares(errors)
        usual = max(float(np.quantile(squares, MOST)), TINY)
        trust = 1 / (1 + squares / (TOUGH * usual))
        slopes = np.asarray(_slopes(yields, _exact(numbers), windows, jnp.asarray(steps)))
        slopes = slopes.reshape(len(squares), -1, len(numbers))
        weighed = slopes * trust[:, None, None]
        gram = np.einsum("wei,wej->ij", weighed, slopes)
        right = np.einsum("wei,we->i", weighed, errors.reshape(len(squares), -1))
        freedom = trust.sum() * slopes.shape[1]
        precision = gram / max(float(trust @ squares) / freedom, TINY)
        before = _cost(squares, usual)
        for _ in range(TRIES):
            damped = gram + np.diag(damping * np.diag(gram) + WEAK)
            tried = numbers - np.linalg.solve(damped, right)
            tried[[2, 4]] = tried[[2, 4]].clip(*POWERS)
            left = errors_of(yields, tried, windows, steps)
            gain = before - _cost(_squares(left), usual)
            if gain > 0:
                break
            damping *= 10
        else:
            break
        numbers, errors, damping = tried, left, damping / 10
        if gain < ENOUGH:
            break
    return _Fit(yields, numbers, precision), lasting


def _guess(law: ContactLaw, lasting: float) -> tuple[Yields, Numbers]:
    """A spring whose touch lasts so long, and that turns the usual speed where hard contacts do."""
    speed = float(law.speed)
    stiffness, unit = (math.pi / lasting) ** 2, speed * lasting / math.pi
    first = _mean_of(law)
    distance = 2 * float(law.radii.mean[0]) if law.radii.mean.size else 1.0
    numbers = [distance + speed * lasting / 2**0.5, math.log(stiffness / 2), 1.0]
    numbers += [math.log(stiffness), 1.0]
    shifts = [-speed * lasting / 2] * (first.planes.count + first.spheres.count)
    return Yields(first, _exact(np.array(unit))), np.array([*numbers, *shifts])


def _mean_of(law: ContactLaw) -> Contacts:
    def certain(part: object) -> object:
        return Gaussian(part.mean, 0 * part.factor) if isinstance(part, Gaussian) else part

    known = jax.tree.map(certain, law, is_leaf=lambda part: isinstance(part, Gaussian))
    return jax.tree.map(_exact, known.draw(key=jax.random.key(0)))


def _steps(step: float, lasting: float) -> int:
    return int(np.clip(math.ceil(PER_TOUCH * step / lasting), 1, MOST_STEPS))


def errors_of(
    law: Yields, numbers: Numbers, windows: Windows, steps: int
) -> Float[np.ndarray, "W e"]:
    found = _errors(law, _exact(numbers), windows, jnp.asarray(steps))
    return np.nan_to_num(np.asarray(found).reshape(len(windows.start), -1), nan=1e3)


@eqx.filter_jit
def _errors(
    law: Yields, numbers: Float[Array, " n"], windows: Windows, steps: Int[Array, ""]
) -> Float[Array, "W M A D"]:
    contacts = law.at(numbers)
    d = windows.start.shape[-1] // 2
    there = jnp.ones(windows.start.shape[1], bool)

    def one(start: Array, seen: Array, lengths: Array) -> Array:
        def frame(state: tuple[Array, ...], length: Array) -> tuple[tuple[Array, ...], Array]:
            h = length / steps

            def step(_: Array, now: tuple[Array, ...]) -> tuple[Array, ...]:
                x, v, push = now
                v = v + h / 2 * push
                x = x + h * v
                push = contacts.pushes(x, there, None)
                return x, v + h / 2 * push, push

            state = jax.lax.fori_loop(0, steps, step, state)
            return state, jnp.concatenate(state[:2], axis=1)

        x, v = start[:, :d], start[:, d:]
        _, path = jax.lax.scan(frame, (x, v, contacts.pushes(x, there, None)), lengths)
        return (path - seen) / windows.scale[None, None]

    return jax.vmap(one)(windows.start, windows.seen, windows.steps)


@eqx.filter_jit
def _slopes(law: Yields, numbers: Array, windows: Windows, steps: Array) -> Array:
    return jax.jacfwd(lambda n: _errors(law, n, windows, steps))(numbers)


def _squares(errors: Float[np.ndarray, "W e"]) -> Float[np.ndarray, " W"]:
    return (errors**2).sum(axis=1)


def _cost(squares: Float[np.ndarray, " W"], usual: float) -> float:
    return float(np.log1p(squares / (TOUGH * usual)).mean())


def _share_explained(fit: _Fit, windows: Windows, steps: int) -> float:
    left = _squares(errors_of(fit.law, fit.numbers, windows, steps))
    start, seen, lengths, scale = (np.asarray(part) for part in windows)
    away = np.cumsum(lengths, axis=1)[..., None, None]
    x, v = np.split(start[:, None], 2, axis=-1)
    straight = np.concatenate([x + away * v, v + 0 * away], axis=-1)
    bent = _squares(((straight - seen) / scale).reshape(len(left), -1))
    return float(np.mean(left < (1 - EXPLAINED) * bent))


def _law(fit: _Fit, first: ContactLaw, step: float) -> ContactLaw:
    """Each number with the spread it has once the others are known."""
    numbers, precision = fit.numbers, fit.precision + WEAK * np.eye(len(fit.numbers))

    def spread(part: slice) -> np.ndarray:
        return np.linalg.inv(precision[part, part])

    pair, wall = slice(1, 3), slice(3, 5)
    contacts = fit.law.at(_exact(numbers))
    sds = 1 / np.sqrt(np.diag(precision)[5:])
    flat, d = len(first.planes.anchors), first.spatial
    moved, shapes = np.zeros((flat, d, d)), np.zeros((len(sds) - flat, d + 1, d + 1))
    moved[:, 0, 0], shapes[:, d, d] = sds[:flat], sds[flat:]
    softness = Softness(
        numbers[pair], numbers[wall], spread(pair), spread(wall), float(fit.law.unit)
    )
    law = dataclasses.replace(
        first,
        radii=gaussian(numbers[:1] / 2, spread(slice(0, 1)) / 4)
        if first.radii.mean.size
        else first.radii,
        planes=dataclasses.replace(
            first.planes,
            anchors=_as(contacts.planes.anchors, first.planes.anchors),
            moved=Gaussian(first.planes.moved.mean, _as(moved, first.planes.moved.factor)),
        ),
        spheres=dataclasses.replace(
            first.spheres,
            shapes=Gaussian(
                first.spheres.shapes.mean.at[:, d].set(
                    _as(contacts.spheres.radii, first.spheres.shapes.mean)
                ),
                _as(shapes, first.spheres.shapes.factor),
            ),
        ),
        pair=Restitution().law(),
        wall=Restitution().law(),
        springs=softness.law(),
    )
    speed = float(first.speed)
    springs = law.springs
    assert springs is not None
    shortest = min(springs.lasting(2**0.5 * speed, pair=True), springs.lasting(speed, pair=False))
    steps = _steps(step, shortest)
    return dataclasses.replace(law, springs=dataclasses.replace(springs, steps=steps))


def _as(values: np.ndarray | Array, like: Array) -> Array:
    return jnp.asarray(values, like.dtype)
