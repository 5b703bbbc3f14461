"""The whole story: encode, draw the functions, integrate, observe."""

import dataclasses

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.backend.normal import standard_normal
from comotion.data.windows import Excerpt, Grid, Window
from comotion.dynamics import AbstractDynamics, AbstractField, Scene
from comotion.dynamics.graph import Neighbours
from comotion.encode import (
    AbstractInitialStateEncoder,
    Belief,
    OriginFilter,
    PropertyEncoder,
    SignBelief,
    SignReader,
)
from comotion.integrate import (
    AbstractIntegrator,
    AbstractProcessNoise,
    Bouncing,
    FixedSteps,
    Habits,
    Interval,
    OnceAnInterval,
    Yielding,
    noisy_trajectory,
    trajectory,
)
from comotion.model.observe import Observation


class Beliefs(eqx.Module):
    """q(H₁) and, where properties are inferred, q(C); what a filter knows beside."""

    initial: Belief
    """of a filter: with accelerations, and at the last frame instead of the first"""
    properties: Belief | SignBelief | None
    noise_variance: Float[Array, " O"]
    habits: Habits | None = None


class Model(eqx.Module):
    """A distribution over trajectories of interacting objects, given their first frames."""

    encoder: AbstractInitialStateEncoder
    property_encoder: PropertyEncoder | SignReader | None
    dynamics: AbstractDynamics
    integrator: AbstractIntegrator
    process_noise: AbstractProcessNoise
    observation: Observation
    gives_properties: bool = eqx.field(static=True)

    def encode(self, excerpt: Excerpt) -> Beliefs:
        noise = self.observation.noise_variance
        encoder, read = self.encoder, self.property_encoder
        properties = None if read is None else read(excerpt.opening)
        if isinstance(encoder, OriginFilter):
            seen = encoder.filtered(excerpt.window, noise)
            return Beliefs(seen.belief, properties, seen.noise_variance, seen.habits)
        return Beliefs(encoder(excerpt.window, noise), properties, noise)

    def draw_states(
        self, field: AbstractField, beliefs: Beliefs, excerpt: Excerpt, grid: Grid, *, key: Key
    ) -> Float[Array, "K A D"]:
        """States at the times of `grid` under one draw of the law and of the beliefs, Eq. (7)."""
        start = self.draw_start(beliefs, excerpt, key=key)
        return self.follow(field, start, excerpt.window, grid)

    def draw_start(self, beliefs: Beliefs, excerpt: Excerpt, *, key: Key) -> "Start":
        key_initial, key_properties = jax.random.split(key)
        drawn = beliefs.initial.draw(key=key_initial)
        properties = self.draw_properties(beliefs, excerpt, key=key_properties)
        if beliefs.habits is None:
            return Start(drawn, properties)
        entries = self.dynamics.layout.state
        return Start(drawn[:, :entries], properties, beliefs.habits.at(drawn[:, entries:]))

    def draw_properties(
        self, beliefs: Beliefs, excerpt: Excerpt, *, key: Key
    ) -> Float[Array, "A C"]:
        """Drawn from the beliefs where they are inferred, given with the data, or left out."""
        if beliefs.properties is not None:
            return beliefs.properties.draw(key=key)
        given = excerpt.window.properties
        return given if self.gives_properties else given[:, :0]

    def follow(
        self, field: AbstractField, start: "Start", window: Window, grid: Grid
    ) -> Float[Array, "K A D"]:
        """Where the law leads, Eq. (5)."""
        motion = Motion(field, start.properties, window.neighbours)
        integrator = self.integrator_of(field, window)
        return trajectory(integrator, motion, start.initial, grid.times, _known(grid))

    def follow_noisy(
        self, field: AbstractField, start: "Start", window: Window, grid: Grid, *, key: Key
    ) -> tuple[Float[Array, "K A D"], Float[Array, ""]]:
        """Where the law leads, with process noise, and how many steps missed a contact."""
        motion = Motion(field, start.properties, window.neighbours)
        shape = (grid.times.shape[0], start.initial.shape[0], self.process_noise.normals)
        noise = standard_normal(shape, start.initial.dtype, key=key)
        return noisy_trajectory(
            self.process_noise,
            self.integrator_of(field, window),
            motion,
            start.initial,
            start.habits,
            grid.times,
            _known(grid),
            noise,
        )

    def integrator_of(self, field: AbstractField, window: Window) -> AbstractIntegrator:
        """Where the drawn law knows contacts, one that bounces or yields; the deaf touch nobody."""
        integrator, contacts = self.integrator, field.contact
        if contacts is not None:
            steps = integrator.steps if isinstance(integrator, FixedSteps) else 1
            layout, meets = self.dynamics.layout, window.neighbours
            if contacts.springs is None:
                integrator = Bouncing(contacts, layout, steps, meets=meets)
            else:
                steps = max(steps, contacts.springs.steps)
                integrator = Yielding(contacts, layout, steps, meets=meets)
        return OnceAnInterval(integrator, Motion.looking) if field.searches else integrator


class Start(eqx.Module):
    """What a trajectory begins with, beside the law."""

    initial: Float[Array, "A D"]
    properties: Float[Array, "A C"]
    habits: Habits | None = None


def _known(grid: Grid) -> tuple[Array, ...]:
    return grid.active, grid.controls[:-1], grid.controls[1:]


class Motion(eqx.Module):
    """A law applied to the objects of one sequence: controls run straight between frames."""

    field: AbstractField
    properties: Float[Array, "A C"]
    neighbours: Bool[Array, "A A"]
    found: Neighbours | None = None
    """whom everyone hears in this interval"""

    def __call__(
        self, states: Float[Array, "A D"], time: Float[Array, ""], interval: Interval
    ) -> Float[Array, "A D"]:
        return self.field(states, self._scene(time, interval))

    def looking(self, states: Float[Array, "A D"], interval: Interval) -> "Motion":
        """The same for one interval, at the start of which everyone looks who is near."""
        found = self.field.neighbours(states, self._scene(interval.start, interval))
        return dataclasses.replace(self, found=found)

    def _scene(self, time: Float[Array, ""], interval: Interval) -> Scene:
        active, before, after = interval.known
        controls = before + interval.progress(time) * (after - before)
        return Scene(self.properties, controls, self.neighbours, active, self.found)
