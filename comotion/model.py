"""The whole story: encode, draw the functions, integrate, observe."""

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.backend.normal import standard_normal
from comotion.data.windows import Excerpt, Grid, Window
from comotion.dynamics import AbstractDynamics, AbstractField, Scene
from comotion.encode import AbstractInitialStateEncoder, Belief, PropertyEncoder
from comotion.integrate import AbstractIntegrator, Disturbance, Disturbed, Interval, trajectory
from comotion.observe import Observation


class Beliefs(eqx.Module):
    """q(H₁) and, where properties are inferred, q(C)."""

    initial: Belief
    properties: Belief | None


class Model(eqx.Module):
    """A distribution over trajectories of interacting objects, given their first frames."""

    encoder: AbstractInitialStateEncoder
    property_encoder: PropertyEncoder | None
    dynamics: AbstractDynamics
    integrator: AbstractIntegrator
    disturbance: Disturbance
    observation: Observation
    gives_properties: bool = eqx.field(static=True)

    def encode(self, excerpt: Excerpt) -> Beliefs:
        initial = self.encoder(excerpt.window, self.observation.noise_variance)
        if self.property_encoder is None:
            return Beliefs(initial, None)
        return Beliefs(initial, self.property_encoder(excerpt.opening))

    def draw_states(
        self, field: AbstractField, beliefs: Beliefs, excerpt: Excerpt, grid: Grid, *, key: Key
    ) -> Float[Array, "K A D"]:
        """States at the times of `grid` under one drawn law and one draw of the beliefs."""
        key_initial, key_properties = jax.random.split(key)
        properties = self.draw_properties(beliefs, excerpt, key=key_properties)
        start = Start(beliefs.initial.draw(key=key_initial), properties)
        return self.follow(field, start, excerpt.window, grid)

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
        """Where the law leads."""
        motion = Motion(field, start.properties, window.neighbours)
        return trajectory(self.integrator, motion, start.initial, grid.times, _known(grid))

    def follow_disturbed(
        self, field: AbstractField, start: "Start", window: Window, grid: Grid, *, key: Key
    ) -> Float[Array, "K A D"]:
        """Where the law leads, and what it leaves open."""
        motion = Motion(field, start.properties, window.neighbours)
        objects, entries = start.initial.shape
        shape = (grid.times.shape[0] - 1, objects, 1 + entries)
        noise = standard_normal(shape, start.initial.dtype, key=key)
        integrator = Disturbed(self.integrator, self.disturbance)
        return trajectory(integrator, motion, start.initial, grid.times, (_known(grid), noise))


class Start(eqx.Module):
    """What a trajectory begins with, beside the law."""

    initial: Float[Array, "A D"]
    properties: Float[Array, "A C"]


def _known(grid: Grid) -> tuple[Array, ...]:
    return grid.active, grid.controls[:-1], grid.controls[1:]


class Motion(eqx.Module):
    """A law applied to the objects of one sequence: controls run straight between frames."""

    field: AbstractField
    properties: Float[Array, "A C"]
    neighbours: Bool[Array, "A A"]

    def __call__(
        self, states: Float[Array, "A D"], time: Float[Array, ""], interval: Interval
    ) -> Float[Array, "A D"]:
        active, before, after = interval.known
        controls = before + interval.progress(time) * (after - before)
        scene = Scene(self.properties, controls, self.neighbours, active)
        return self.field(states, scene)
