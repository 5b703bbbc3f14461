"""Fit rates and initial states to smoothed data directly, before any trajectory is followed.

The mean rate over an interval should be the field's at its middle, and the encoder's belief
should hold the smoothed state: no differential equation is solved, so hundreds of steps cost
seconds. Works for every kind of function, and for properties that have to be inferred: if they
have been found as free numbers, the property encoder learns to give those.
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from comotion._types import FAST, Key
from comotion.backend.row_batching import summed_gradients
from comotion.config import Recipe
from comotion.data.windows import Excerpt, Window, sample_excerpts
from comotion.dynamics import Scene
from comotion.encode import Belief, PropertyEncoder
from comotion.encode.differences import finite_differences
from comotion.initialise.shown import Shown
from comotion.model import Beliefs, FirstEntries, Model

WINDOWS = 50
"""Per iteration: rates and first states need fewer than whole trajectories."""
CLIP = 1.0
"""As in training."""
LAST_RATE = 0.02  # of the first learning rate
RESIDUAL = 0.3  # of a rate's own size: what midpoints and smoothing cannot be expected to explain
BLUR = 0.03  # of a state: below this a belief is not asked to be sharper
PROPERTY_BLUR = 0.4  # the same for properties, of which a few are always found wrongly


class Matching(eqx.Module):
    """How well a batch is matched: log densities, and what they cost.

    Of rates, of states, and of properties that were found before.
    """

    rates: Float[Array, ""]
    states: Float[Array, ""]
    properties: Float[Array, ""]
    kl: Float[Array, ""]
    count: Float[Array, ""]

    @property
    def loss(self) -> Float[Array, ""]:
        return (self.kl - self.rates - self.states - self.properties) / jnp.maximum(self.count, 1.0)


@dataclass(frozen=True)
class PretrainPlan:
    """What is fixed while a step is compiled."""

    frames: int
    opening: int
    windows: int
    steps: int
    learning_rate: float
    found: bool
    properties_only: bool

    @property
    def optimiser(self) -> optax.GradientTransformation:
        rate = optax.cosine_decay_schedule(self.learning_rate, self.steps, LAST_RATE)
        adam = optax.chain(optax.clip_by_global_norm(CLIP), optax.adam(rate))
        return optax.apply_if_finite(optax.flatten(adam), max_consecutive_errors=self.steps)


def pretrained(
    model: Model, shown: Shown, plan: Recipe, *, properties_only: bool, key: Key
) -> Model:
    """States must be read off the observations: learned decoders come back as they are.

    With `properties_only` nothing else is left to learn from rates and states.
    """
    if plan.pretrain == 0 or not isinstance(model.observation.decoder, FirstEntries):
        return model
    longest, properties = shown.smooth.windows.times.shape[1], model.property_encoder
    step_plan = PretrainPlan(
        frames=min(model.encoder.frames + 1, longest),
        opening=min(1 if properties is None else properties.frames, longest),
        windows=WINDOWS if properties_only else min(WINDOWS, plan.windows),
        steps=plan.pretrain,
        learning_rate=plan.stages[0].learning_rate,
        found=properties is not None and shown.properties_known,
        properties_only=properties_only,
    )
    size = _rate_size(shown, model)
    state = step_plan.optimiser.init(eqx.filter(model, eqx.is_inexact_array))
    for key_step in jax.random.split(key, step_plan.steps):
        model, state = _step(model, state, shown, size, step_plan, key=key_step)
    return model


@eqx.filter_jit
def _step(
    model: Model,
    state: optax.OptState,
    shown: Shown,
    size: Float[Array, " D"],
    plan: PretrainPlan,
    *,
    key: Key,
) -> tuple[Model, optax.OptState]:
    key_batch, key_draw = jax.random.split(key)
    cuts = (plan.frames, plan.opening, plan.windows)
    observed = sample_excerpts(shown.measured, *cuts, anywhere=plan.found, key=key_batch)
    clean = sample_excerpts(shown.smooth, *cuts, key=key_batch).window  # the same cuts

    def loss(model: Model) -> Float[Array, ""]:
        if plan.properties_only:
            return taught(model, observed.opening, clean.properties)
        share = len(shown.measured) / plan.windows
        return matching(model, observed, clean, size, share, found=plan.found, key=key_draw).loss

    with summed_gradients():
        gradient = eqx.filter_grad(loss)(model)
    with jax.numpy_dtype_promotion("standard"):  # optax raises floats to integers
        updates, state = plan.optimiser.update(gradient, state)
    return eqx.apply_updates(model, updates), state


def matching(
    model: Model,
    observed: Excerpt,
    smooth: Window,
    size: Float[Array, " D"],
    share: float,
    *,
    found: bool = False,
    key: Key,
) -> Matching:
    """`share` scales the batch up to all sequences; `found` properties stand in `smooth`."""
    layout = model.dynamics.layout
    moving = layout.spatial * layout.vectors
    key_field, key_properties = jax.random.split(key)
    field = model.dynamics.draw(key=key_field)
    beliefs = jax.vmap(model.encode)(observed)
    seen = finite_differences(smooth, layout, jumps=model.integrator.jumps)
    points = 0.5 * (seen.states + seen.after)

    def predict(
        points: Array, excerpt: Excerpt, beliefs: Beliefs, given: Array, key: Key
    ) -> Float[Array, "J A D"]:
        properties = given if found else model.draw_properties(beliefs, excerpt, key=key)
        window = excerpt.window

        def at(states: Array, controls: Array, active: Array) -> Float[Array, "A D"]:
            return field(states, Scene(properties, controls, window.neighbours, active))

        return jax.vmap(at)(points, window.controls[:-1], window.grid.active)

    keys = jax.random.split(key_properties, points.shape[0])
    predicted = jax.vmap(predict)(points, observed, beliefs, smooth.properties, keys)
    errors = (predicted - seen.rates) / size[None, None, None]
    density = -0.5 * (errors / RESIDUAL) ** 2
    kl = jnp.sum(jnp.stack(list(model.dynamics.kl().values())))
    states = jax.vmap(_log_belief, in_axes=(0, 0, None))(beliefs.initial, smooth, moving)
    properties = jnp.zeros((), FAST)
    if beliefs.properties is not None:
        if found:
            assert isinstance(beliefs.properties, Belief)
            exists = jax.vmap(lambda window: window.exists)(observed.opening)
            properties = _log_found(beliefs.properties, smooth.properties, exists)
        else:
            exists = jax.vmap(lambda window: window.exists)(observed.window)
            kl = kl + share * jnp.sum(jax.vmap(lambda b, e: b.kl(e))(beliefs.properties, exists))
    return Matching(
        rates=share * jnp.sum(jnp.where(seen.known[..., None], density, 0.0)[..., :moving]),
        states=share * jnp.sum(states),
        properties=share * properties,
        kl=kl,
        count=share * jnp.sum(seen.known).astype(FAST) * moving,
    )


def taught(model: Model, openings: Window, properties: Float[Array, "B A C"]) -> Float[Array, ""]:
    """How far the property encoder is from giving these properties, per object."""
    assert isinstance(model.property_encoder, PropertyEncoder)
    exists = jax.vmap(lambda window: window.exists)(openings)
    density = _log_found(jax.vmap(model.property_encoder)(openings), properties, exists)
    return -density / jnp.maximum(jnp.sum(exists), 1).astype(FAST)


def _log_found(
    beliefs: Belief, properties: Float[Array, "B A C"], exists: Bool[Array, "B A"]
) -> Float[Array, ""]:
    each = jax.vmap(log_density, in_axes=(0, 0, 0, None))
    return jnp.sum(each(beliefs, properties, exists, PROPERTY_BLUR))


def _log_belief(belief: Belief, smooth: Window, moving: int) -> Float[Array, ""]:
    """Of the smoothed state of each object in the frame it enters, as far as it is measured."""
    entry = smooth.entry
    objects = jnp.arange(entry.shape[0])
    values, present = smooth.values[entry, objects], smooth.present[entry, objects]
    known: Bool[Array, " A"] = jnp.all(present[:, :moving], axis=1)
    measured = Belief(belief.mean[:, :moving], belief.factor[:, :moving, :moving])
    return log_density(measured, values[:, :moving], known, BLUR)


def log_density(
    belief: Belief, values: Float[Array, "A D"], known: Bool[Array, " A"], blur: float
) -> Float[Array, ""]:
    """Of one vector per object under a slightly blurred belief, over the objects that count."""
    size = values.shape[1]
    least = blur**2 * jnp.eye(size, dtype=values.dtype)[None]
    lower = jnp.linalg.cholesky(belief.factor @ jnp.swapaxes(belief.factor, 1, 2) + least)
    error = (values - belief.mean)[..., None]
    whitened = jax.scipy.linalg.solve_triangular(lower, error, lower=True)[..., 0]
    log_determinant = jnp.sum(jnp.log(jnp.diagonal(lower, axis1=1, axis2=2)), axis=1)
    density = -0.5 * jnp.sum(whitened**2, axis=1) - log_determinant
    constant = 0.5 * size * math.log(2.0 * math.pi)
    return jnp.sum(jnp.where(known, density - constant, 0.0))


def _rate_size(shown: Shown, model: Model) -> Float[Array, " D"]:
    windows, layout = shown.smooth.windows, model.dynamics.layout
    seen = finite_differences(windows, layout, jumps=model.integrator.jumps)
    known = seen.known[..., None]
    squares = jnp.sum(jnp.where(known, seen.rates**2, 0.0), axis=(0, 1, 2))
    size = jnp.sqrt(squares / jnp.maximum(jnp.sum(known), 1).astype(FAST))
    return jnp.where(size > 0, size, 1.0)
