"""Process noise: what a law leaves open, each time anew.

`StateNoise` is multiplicative on the increment of the velocity plus Brownian: a learned collision
is a little too early, too late, too soft or too hard. `BodyNoise` is how people, animals and robots
move: a velocity is a speed along a heading, the speed pushed by an acceleration and the heading
turned by an angular velocity, both Ornstein-Uhlenbeck processes integrated exactly over any
interval. They begin with a share of the acceleration seen at the origin, the rest is drawn: what
somebody has just done need not be what goes on. Their scales depend on the present speed and on how
the object moved in the frames seen; a speed is drawn towards the mean an object had there; and an
activity, drawn once per object and forecast, scales all its noise, so that the mixture has heavier
tails than a Gaussian.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from comotion._types import FAST
from comotion.coordinates.layout import Layout
from comotion.integrate.base import (
    AbstractIntegrator,
    Interval,
    Rates,
    States,
    Time,
    with_sane_slopes,
)

SOFT = 0.05
"""Of the typical speed: below it a heading means little."""
USUAL_ACTIVITY = 0.4
USUALLY_CARRIED = 2.0
"""Log odds: seven eighths."""
MOST_SPEED = 100.0
SERIES_BELOW = 0.1
TINY = 1e-12
SMALLEST = 1e-30
Vectors = Float[Array, "A d"]
PerObject = Float[Array, "*A"]


class Habits(eqx.Module):
    """What the frames seen say about each object beside its state."""

    acceleration: Float[Array, "*A d"]
    """at the last frame seen"""
    speed: PerObject
    """mean speed"""
    variation: PerObject
    """standard deviation of the speed from frame to frame"""
    activity: PerObject
    """expected log of how much more restless it is than usual"""

    def at(self, acceleration: Float[Array, "*A d"]) -> "Habits":
        """The same with a drawn acceleration."""
        return eqx.tree_at(lambda habits: habits.acceleration, self, acceleration)


class AbstractProcessNoise(eqx.Module):
    """Noise that acts on the states of one sequence while a law is followed."""

    @property
    @abstractmethod
    def normals(self) -> int:
        """Standard normal numbers an object needs in each interval, and once to begin with."""

    @abstractmethod
    def begin(self, states: States, habits: Habits | None, noise: Float[Array, "A n"]) -> PyTree:
        """What the noise remembers at the first of the times."""

    @abstractmethod
    def advance(
        self,
        integrator: AbstractIntegrator,
        rates: Rates,
        states: States,
        memory: PyTree,
        interval: Interval,
        noise: Float[Array, "A n"],
    ) -> tuple[States, PyTree, Float[Array, ""]]:
        """The states at the end of the interval, what is remembered then, and how many steps of
        the integrator could not follow all that happens."""


def noisy_trajectory(
    process_noise: AbstractProcessNoise,
    integrator: AbstractIntegrator,
    rates: Rates,
    initial: States,
    habits: Habits | None,
    times: Float[Array, " K"],
    known: PyTree,
    noise: Float[Array, "K A n"],
) -> tuple[Float[Array, "K A D"], Float[Array, ""]]:
    """States at all `times`, as `trajectory` gives them without noise, and how many steps of the
    integrator could not follow all that happens."""
    memory = process_noise.begin(initial, habits, noise[0])

    def step(now: tuple[States, PyTree], ahead: tuple[Interval, Array]) -> tuple:
        interval, normals = ahead
        now = (with_sane_slopes(now[0]), now[1])
        states, memory, missed = process_noise.advance(integrator, rates, *now, interval, normals)
        return (states, memory), (states, missed)

    intervals = Interval(times[:-1], times[1:], known)
    ahead = (intervals, noise[1:])
    _, (later, missed) = jax.lax.scan(jax.checkpoint(step), (initial, memory), ahead)
    return jnp.concatenate([initial[None], later]), jnp.sum(missed)


class StateNoise(AbstractProcessNoise):
    """Noise on velocities, or on the whole state where it has no velocities.

    Every change is multiplied by 1 + share · ε, with one ε for all entries of an object, so that
    a push keeps its direction whichever way the axes point; a steady part is added that grows
    with the root of time. Noise never makes an object faster than `most`: what multiplies would
    carry some through any wall.
    """

    share: Float[Array, ""]
    steady: Float[Array, ""]
    most: Float[Array, ""]
    first: int = eqx.field(static=True)
    stop: int = eqx.field(static=True)

    @property
    def normals(self) -> int:
        return 1 + self.stop - self.first

    def begin(self, states: States, habits: Habits | None, noise: Float[Array, "A n"]) -> None:
        return None

    def advance(
        self,
        integrator: AbstractIntegrator,
        rates: Rates,
        states: States,
        memory: None,
        interval: Interval,
        noise: Float[Array, "A n"],
    ) -> tuple[States, None, Float[Array, ""]]:
        later, missed = integrator.advance_counting(rates, states, interval)
        return self.disturb(states, later, interval.end - interval.start, noise), None, missed

    def disturb(
        self, before: States, after: States, length: Time, noise: Float[Array, "A n"]
    ) -> States:
        entries = slice(self.first, self.stop)
        start, calm = before[:, entries], after[:, entries]
        steady = self.steady * jnp.sqrt(length) * noise[:, 1:]
        pushed = calm + self.share * noise[:, :1] * (calm - start) + steady
        pushed = within(pushed, jnp.maximum(self.most, _size(calm)))
        moved = jnp.any(after != before, axis=1, keepdims=True)  # the others are not in the scene
        return after.at[:, entries].set(jnp.where(moved, pushed, calm))


def no_noise(layout: Layout) -> StateNoise:
    entries = layout.velocity if layout.has_velocity else slice(0, layout.state)
    none, endless = jnp.zeros((), FAST), jnp.full((), jnp.inf, FAST)
    return StateNoise(none, none, endless, entries.start, entries.stop)


class BodyMemory(eqx.Module):
    """What the noise of each object remembers, and what it never forgets during a forecast."""

    along: Float[Array, " A"]
    """acceleration along the heading"""
    turn: Vectors
    """angular velocity, as the rate of change of the heading"""
    activity: Float[Array, " A"]
    habits: Habits


class BodyNoise(AbstractProcessNoise):
    """Speed and turning apart, each with a memory, for states [position, velocity].

    Scales are log-linear in log speed, in the activity inferred from the frames seen and in the
    log variation of the speed there.
    """

    along: Float[Array, " 4"]
    """log sd of the acceleration along the heading: constant, log speed, activity, variation"""
    turn: Float[Array, " 4"]
    """the same of the angular velocity"""
    log_memory: Float[Array, " 2"]
    """log times in which an acceleration and a turn are forgotten"""
    carried: Float[Array, " 2"]
    """log odds of the share of an acceleration and of a turn seen with which a forecast begins"""
    log_isotropic: Float[Array, ""]
    """log sd of velocity noise without direction or memory, per root of time"""
    log_relaxation: Float[Array, ""]
    """log rate at which a speed returns to the mean of the frames seen"""
    log_typical: Float[Array, ""]
    """log of the speed objects have in general"""
    log_activity: Float[Array, ""]
    """log of the standard deviation of an object's log activity"""
    most: Float[Array, ""]
    """no noise makes an object faster than this"""
    spatial: int = eqx.field(static=True)

    @property
    def normals(self) -> int:
        return 2 + 3 * self.spatial

    def begin(
        self, states: States, habits: Habits | None, noise: Float[Array, "A n"]
    ) -> BodyMemory:
        if habits is None:
            raise ValueError("BodyNoise begins with what a filter says of the frames seen")
        speed, heading = self._split(states)
        features = self._features(speed, habits)
        activity = jnp.exp(jnp.exp(self.log_activity) * noise[:, 0])
        along = jnp.sum(habits.acceleration * heading, axis=1)
        turn = (habits.acceleration - along[:, None] * heading) / speed[:, None]
        share = jax.nn.sigmoid(self.carried)
        anew = activity[:, None] * jnp.sqrt(1.0 - share**2)[None]
        drawn = noise[:, 1], noise[:, 2 : 2 + self.spatial]
        along = share[0] * along + anew[:, 0] * jnp.exp(features @ self.along) * drawn[0]
        turn = share[1] * turn + (anew[:, 1] * jnp.exp(features @ self.turn))[:, None] * drawn[1]
        return BodyMemory(along, turn, activity, habits)

    def advance(
        self,
        integrator: AbstractIntegrator,
        rates: Rates,
        states: States,
        memory: BodyMemory,
        interval: Interval,
        noise: Float[Array, "A n"],
    ) -> tuple[States, BodyMemory, Float[Array, ""]]:
        """Half of the noise, the law, the other half: positions see half of what velocities do."""
        kick, memory = self._kick(states, memory, interval.end - interval.start, noise)
        led, missed = integrator.advance_counting(rates, kick.half(states, self), interval)
        moved = kick.half(led, self)
        moved = jnp.where(interval.known[0][:, None], moved, states)
        turn = carried(memory.turn, self._split(states)[1], self._split(moved)[1])
        return moved, eqx.tree_at(lambda m: m.turn, memory, turn), missed

    def _kick(
        self, states: States, memory: BodyMemory, step: Time, noise: Float[Array, "A n"]
    ) -> tuple["Kick", BodyMemory]:
        d, habits, active = self.spatial, memory.habits, memory.activity
        speed, _ = self._split(states)
        features = self._features(speed, habits)
        forget = jnp.exp(self.log_memory)
        for_along, for_turn, for_wander = jnp.split(noise, (2, 2 + 2 * d), axis=1)
        gain, along = integrated_ou(
            memory.along, active * jnp.exp(features @ self.along), step, forget[0], *for_along.T
        )
        angle, turn = integrated_ou(
            memory.turn,
            (active * jnp.exp(features @ self.turn))[:, None],
            step,
            forget[1],
            for_turn[:, :d],
            for_turn[:, d:],
        )
        wander = jnp.exp(self.log_isotropic) * jnp.sqrt(step) * active[:, None] * for_wander
        returned = 0.5 * (1.0 - jnp.exp(-jnp.exp(self.log_relaxation) * step))
        kick = Kick(gain, angle, wander, returned, habits.speed)
        return kick, BodyMemory(along, turn, active, habits)

    def _split(self, states: States) -> tuple[Float[Array, " A"], Vectors]:
        velocity = states[:, self.spatial : 2 * self.spatial]
        floor = SOFT * jnp.exp(self.log_typical)
        speed = jnp.sqrt(jnp.sum(velocity**2, axis=1) + floor**2)
        return speed, velocity / speed[:, None]

    def _features(self, speed: Float[Array, " A"], habits: Habits) -> Float[Array, "A 4"]:
        typical = jnp.exp(self.log_typical)
        variation = jnp.log(habits.variation / typical + SOFT)
        one = jnp.ones_like(speed)
        return jnp.stack([one, jnp.log(speed / typical), habits.activity, variation], axis=1)


def body_noise(spatial: int) -> BodyNoise:
    """Before any data are seen, for speeds of about one."""
    zero = jnp.zeros((), FAST)
    return BodyNoise(
        along=jnp.zeros(4, FAST),
        turn=jnp.zeros(4, FAST),
        log_memory=jnp.zeros(2, FAST),
        carried=jnp.full(2, USUALLY_CARRIED, FAST),
        log_isotropic=zero,
        log_relaxation=zero,
        log_typical=zero,
        log_activity=jnp.log(jnp.asarray(USUAL_ACTIVITY, FAST)),
        most=jnp.asarray(MOST_SPEED, FAST),
        spatial=spatial,
    )


class Kick(eqx.Module):
    """What the noise does to velocities in one interval."""

    gain: Float[Array, " A"]
    angle: Vectors
    wander: Vectors
    returned: Float[Array, ""]
    preferred: Float[Array, " A"]

    def half(self, states: States, noise: BodyNoise) -> States:
        d = noise.spatial
        speed, heading = noise._split(states)
        tangent = self.angle - jnp.sum(self.angle * heading, axis=1, keepdims=True) * heading
        size = jnp.sqrt(jnp.sum(tangent**2, axis=1, keepdims=True) + TINY)
        turned = jnp.cos(0.5 * size) * heading + jnp.sin(0.5 * size) * tangent / size
        after = speed + 0.5 * self.gain + self.returned * (self.preferred - speed)
        velocity = after[:, None] * turned + 0.5 * self.wander
        velocity = within(velocity, jnp.maximum(noise.most, _size(states[:, d : 2 * d])))
        return states.at[:, d : 2 * d].set(velocity)


def integrated_ou(
    now: Array, sd: Array, step: Time, memory: Float[Array, ""], first: Array, second: Array
) -> tuple[Array, Array]:
    """The integral of an Ornstein-Uhlenbeck process over `step`, and its value at the end.

    Both from two standard normals by their joint distribution, so that many short steps and one
    long one agree.
    """
    x = step / memory
    short = x < SERIES_BELOW
    long = jnp.where(short, 1.0, x)
    decay, decay_long = jnp.exp(-x), jnp.exp(-long)
    variance = jnp.where(
        short,
        x**3 * (2 / 3 - x / 2 + 7 * x**2 / 30),
        2 * long - 3 + 4 * decay_long - decay_long**2,
    )
    mean = jnp.where(short, x * (1 - x / 2 + x**2 / 6), 1 - decay_long)
    of_value = jnp.maximum(1 - decay**2, TINY)
    cross = mean**2 / jnp.sqrt(of_value)
    beyond = jnp.sqrt(jnp.maximum(variance - cross**2, TINY))
    integral = memory * (mean * now + sd * (cross * first + beyond * second))
    return integral, decay * now + sd * jnp.sqrt(of_value) * first


def carried(vectors: Vectors, before: Vectors, after: Vectors) -> Vectors:
    """Vectors across the heading `before`, turned with it into `after` by the smallest rotation."""
    before, after = before / _size(before), after / _size(after)
    along = jnp.sum(vectors * after, axis=1, keepdims=True)
    alike = 1.0 + jnp.sum(before * after, axis=1, keepdims=True)
    return vectors - along / jnp.maximum(alike, SOFT) * (before + after)


def within(vectors: Vectors, most: Float[Array, "#A 1"]) -> Vectors:
    """Vectors no longer than `most`."""
    size = _size(vectors)
    return vectors * jnp.where(size > most, most / size, 1.0)


def _size(vectors: Vectors) -> Float[Array, "A 1"]:
    return jnp.sqrt(jnp.sum(vectors**2, axis=1, keepdims=True) + SMALLEST)
