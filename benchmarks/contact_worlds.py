"""Scenes with contacts other than the paper's: what is in them, their motion, their floor.

`world(name)` is one of `WORLDS`; `random_world(seed)` has random walls, radii, speeds and frames.
The motion is that of the library's bouncing drift in small steps, which tests/integrate compares
with an independent event simulation; the floor forecasts with the true law, the true noise and the
same search for a start, with more moves.
"""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.contacts import (
    Contacts,
    Parts,
    Plane,
    Restitution,
    Softness,
    Sphere,
    box,
    contact_law,
    polygon,
)
from comotion.coordinates.layout import Layout
from comotion.data import Trajectories
from comotion.data.scaling import Scaling
from comotion.dynamics import AbstractDynamics, AbstractField, Scene
from comotion.functions import AbstractRandomFunction
from comotion.integrate import Bouncing, FixedSteps, Interval, Yielding
from comotion.predict import FittedModel
from comotion.reproduce.scenes import Part, SceneParts
from comotion.simulate import add_noise, noise_sd

TRAIN, JUDGED = 100, 60
STEPS = 20
FRAME, SOFT_STEPS = 0.5, 40
"""Steps to a touch of those that yield."""
FLOOR_MOVES, FLOOR_STEPS = 300, 4
FEATURES = ("x", "y", "vx", "vy")


class Known(AbstractField):
    """Contacts, the same pull on all, and a push between any two that falls as 1/r²."""

    contacts: Contacts
    pull: Float[Array, " d"]
    push: Float[Array, ""]

    @property
    def contact(self) -> Contacts:
        return self.contacts

    def __call__(self, states: Float[Array, "A D"], scene: Scene) -> Float[Array, "A D"]:
        x, v = jnp.split(states, 2, axis=1)
        gaps = x[:, None] - x[None]
        square = jnp.sum(gaps**2, axis=-1, keepdims=True)
        pairs = jnp.where(square > 0, self.push * gaps / jnp.where(square > 0, square, 1) ** 1.5, 0)
        rates = jnp.concatenate([v, self.pull[None] + jnp.sum(pairs, axis=1)], axis=1)
        return jnp.where(scene.active[:, None], rates, 0.0)


class KnownDynamics(AbstractDynamics):
    law: Known
    layout: Layout = eqx.field(static=True)
    order: int = eqx.field(static=True, default=2)

    def draw(self, *, key: Key) -> Known:
        return self.law

    def functions(self) -> dict[str, AbstractRandomFunction]:
        return {}


@dataclass(frozen=True)
class World:
    parts: Parts
    objects: int = 3
    spread: float = 2.5
    """starts are uniform in a square of this half-width about the centre"""
    centre: tuple[float, float] = (0.0, 0.0)
    speed: float = 0.3
    pull: tuple[float, float] = (0.0, 0.0)
    push: float = 0.0
    frames: int = 100
    step: float = FRAME
    train: int = TRAIN
    judged: int = JUDGED

    def law(self, length: float = 1.0, time: float = 1.0, shift: np.ndarray | float = 0.0) -> Known:
        """In units of length and time, positions counted from `shift`."""
        walls = [_in_units(wall, length, shift) for wall in self.parts.walls]
        parts = replace(self.parts, walls=walls, radii=np.asarray(self.parts.radii) / length)
        if parts.softness is not None:
            parts = replace(parts, softness=_soft_in_units(parts.softness, length, time))
        return Known(
            contact_law(parts).draw(key=jax.random.key(0)),
            jnp.asarray(np.array(self.pull) * time**2 / length, FAST),
            jnp.asarray(self.push * time**2 / length**3, FAST),
        )


def _in_units(wall: Plane | Sphere, length: float, shift: np.ndarray | float) -> Plane | Sphere:
    if isinstance(wall, Plane):
        span = wall.span[0] / length, wall.span[1] / length
        return Plane((wall.anchor - shift) / length, wall.normal, span=span)
    return Sphere((wall.centre - shift) / length, wall.radius / length, wall.inside)


def _soft_in_units(soft: Softness, length: float, time: float) -> Softness:
    faster = np.array([2 * np.log(time), 0.0])
    pair, wall = (np.asarray(spring) + faster for spring in (soft.pair, soft.wall))
    return replace(soft, pair=pair, wall=wall, unit=soft.unit / length)


def soft_world(lasting: float) -> World:
    """The paper's balls, but for springs under which every touch lasts so long."""
    stiffness = (np.pi / lasting) ** 2
    steps = int(np.ceil(SOFT_STEPS * FRAME / lasting))
    soft = Softness((np.log(stiffness / 2), 1.0), (np.log(stiffness), 1.0), steps=steps)
    return World(Parts(2, BOX, [1.2], softness=soft), spread=2.6, speed=0.2)


BOX = box([-3.8] * 2, [3.8] * 2)
CORNERS = [(6 * np.cos(t), 6 * np.sin(t)) for t in 2 * np.pi * np.arange(5) / 5]
WORLDS = {
    "masses 1:3": World(Parts(2, BOX, [0.9], log_masses=np.log([1.0, 3.0, 1.0]))),
    "a round arena": World(Parts(2, [Sphere(np.array([0.3, -0.2]), 4.5)], [0.8]), spread=2.0),
    "a pentagon": World(Parts(2, polygon(CORNERS), [0.7])),
    "three radii": World(Parts(2, BOX, [0.5, 0.9, 1.3])),
    "gravity, repulsion, restitution 0.9": World(
        Parts(2, BOX, [0.9], pair=Restitution((0.9,)), wall=Restitution((0.9,))),
        pull=(0.0, -0.03),
        push=0.05,
    ),
    **{f"touches last {t:g}": soft_world(t) for t in (0.05, 0.2, 0.5, 1.0, 2.0)},
}


def random_world(seed: int) -> World:
    """A box, a round arena or a polygon of any size and proportion; one radius or several."""
    rng = np.random.default_rng(seed)
    size, objects = float(np.exp(rng.uniform(-2, 3))), int(rng.integers(1, 6))
    shape = ("box", "circle", "polygon")[seed % 3]
    centre = size * rng.normal(size=2)
    if shape == "box":
        half = size * rng.uniform(0.7, 1.3, size=2)
        walls, room = box(centre - half, centre + half), float(half.min())
    elif shape == "circle":
        walls, room = [Sphere(centre, size)], size / 2**0.5
    else:
        sides = int(rng.integers(3, 7))
        angles = 2 * np.pi * (np.arange(sides) + rng.uniform()) / sides
        corners = centre + size * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        walls, room = polygon(corners), size * np.cos(np.pi / sides) / 2**0.5
    least = 0.08 * room
    radii = [rng.uniform(least, 3 * least)]
    if objects > 2 and rng.uniform() < 0.3:
        radii = rng.uniform(least, 3 * least, size=objects).tolist()
    bounce = Restitution((float(rng.choice([1.0, 1.0, 0.9])),))
    # In a frame an object goes a fiftieth to a sixth of the way from wall to wall.
    step = float(np.exp(rng.uniform(-3, 1)))
    speed = 2 * room * rng.uniform(0.02, 0.15) / step
    return World(
        Parts(2, walls, radii, pair=bounce, wall=bounce),
        objects,
        spread=0.9 * room,
        centre=(float(centre[0]), float(centre[1])),
        speed=speed,
        frames=60,
        step=step,
        train=60,
        judged=30,
    )


def parts_of(world: World, noise: str, seed: int) -> SceneParts:
    """The motion is the same for every seed, as that of the paper's scenes."""
    rng = np.random.default_rng(0)
    counts = (world.train, world.judged, world.judged)
    places = np.stack([_place(world, rng) for _ in range(sum(counts))])
    states = np.concatenate([places, world.speed * rng.normal(size=places.shape)], axis=-1)
    clean = Trajectories.from_arrays(
        _follow(world, states), world.step * np.arange(world.frames), features=FEATURES
    )
    noisy, sd = add_noise(clean, noise, seed=seed), noise_sd(clean, noise)
    pairs = zip(noisy.split(*counts), clean.split(*counts), strict=True)
    return SceneParts(*(Part(seen, true, sd) for seen, true in pairs))


def _place(world: World, rng: np.random.Generator) -> Float[np.ndarray, "A 2"]:
    radii = np.broadcast_to(np.asarray(world.parts.radii, float), world.objects)
    for _ in range(100_000):
        x = np.array(world.centre) + rng.uniform(-world.spread, world.spread, (world.objects, 2))
        apart = np.linalg.norm(x[:, None] - x[None], axis=-1) + np.diag(np.full(len(x), np.inf))
        if (apart > radii[:, None] + radii[None]).all():
            return x
    raise ValueError("no room for the objects of this world")


def _follow(world: World, states: Float[np.ndarray, "P A 4"]) -> Float[np.ndarray, "P N A 4"]:
    law = world.law()
    soft = world.parts.softness
    integrator = Bouncing(law.contacts, Layout(2), STEPS)
    if soft is not None:
        integrator = Yielding(law.contacts, Layout(2), soft.steps)
    there, nothing = jnp.ones(world.objects, bool), jnp.zeros((world.objects, 0), FAST)
    scene = Scene(nothing, nothing, jnp.ones((1, 1), bool), there)
    interval = Interval(jnp.zeros((), FAST), jnp.asarray(world.step, FAST), (there,))

    def rates(states: Array, *_: Array | Interval) -> Array:
        return law(states, scene)

    def frame(states: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        later, missed = integrator.advance_counting(rates, states, interval)
        return later, (later, missed)

    @jax.jit
    def follow(states: Array) -> tuple[Array, Array]:
        return jax.lax.scan(frame, states, None, length=world.frames - 1)[1]

    later, missed = jax.vmap(follow)(jnp.asarray(states, FAST))
    if float(jnp.sum(missed)):
        raise ValueError("more contacts in a step than are followed: take more steps")
    return np.concatenate([states[:, None], np.asarray(later, float)], axis=1)


def floor(world: World, fitted: FittedModel, part: Part, draws: int, seed: int) -> xr.Dataset:
    """The same forecast with the true law and noise in the place of what was learned."""
    scaling: Scaling = fitted.scaling
    scale, shift = np.asarray(scaling.scale), np.asarray(scaling.shift)[:2]
    law = world.law(float(scale[0]), float(scaling.time), shift)
    model, variance = fitted.model, jnp.asarray(2 * np.log(part.sd / scale), FAST)
    observation = replace(
        model.observation, log_noise_variance=variance, tolerance=jnp.zeros_like(variance)
    )
    true = replace(
        model,
        dynamics=KnownDynamics(law=law, layout=model.dynamics.layout),
        observation=observation,
        integrator=FixedSteps(FLOOR_STEPS),
    )
    knowing = replace(fitted, model=true)
    forecast = knowing.predict(part.seen, draws=draws, seed=seed, candidates=1, moves=FLOOR_MOVES)
    return forecast.dataset
