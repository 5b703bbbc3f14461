"""The whole story: encode, draw the functions, integrate, observe."""

import equinox as eqx
import jax
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.data.batches import Excerpt, Grid
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
        self,
        field: AbstractField,
        beliefs: Beliefs,
        excerpt: Excerpt,
        grid: Grid,
        *,
        disturbed: bool = False,
        key: Key,
    ) -> Float[Array, "K A D"]:
        """States at the times of `grid` under one drawn law and one draw of the beliefs.

        Training follows the law alone; a forecast is also disturbed by what the law leaves open.
        """
        key_initial, key_properties, key_noise = jax.random.split(key, 3)
        initial = beliefs.initial.draw(key=key_initial)
        properties = self.draw_properties(beliefs, excerpt, key=key_properties)
        motion = Motion(field, properties, excerpt.window.neighbours)
        known = (grid.active, grid.controls[:-1], grid.controls[1:])
        if not disturbed:
            return trajectory(self.integrator, motion, initial, grid.times, known)
        integrator = Disturbed(self.integrator, self.disturbance)
        objects, entries = initial.shape
        shape = (grid.times.shape[0] - 1, objects, entries + 1)
        noise = jax.random.normal(key_noise, shape, initial.dtype)
        return trajectory(integrator, motion, initial, grid.times, (known, noise))

    def draw_properties(
        self, beliefs: Beliefs, excerpt: Excerpt, *, key: Key
    ) -> Float[Array, "A C"]:
        """Drawn from the beliefs where they are inferred, given with the data, or left out."""
        if beliefs.properties is not None:
            return beliefs.properties.draw(key=key)
        given = excerpt.window.properties
        return given if self.gives_properties else given[:, :0]


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
