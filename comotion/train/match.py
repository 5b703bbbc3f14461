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
from jaxtyping import Array, Bool, Float

from comotion._types import FAST, Key
from comotion.config import RunConfig, Stage
from comotion.data.derivatives import finite_differences
from comotion.data.windows import Dataset, Excerpt, Window, sample_excerpts
from comotion.dynamics import Scene
from comotion.encode import Belief
from comotion.model import Beliefs, Model
from comotion.observe import FirstEntries
from comotion.train.adam import AdamState, adam_init, adam_update
from comotion.train.step import learning_rate

WINDOWS = 50
CLIP = 1.0
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
class MatchPlan:
    """What is fixed while a step is compiled."""

    frames: int
    opening: int
    windows: int
    jumps: bool
    found: bool
    regressed: bool


def match(
    model: Model,
    config: RunConfig,
    dataset: Dataset,
    smooth: Window,
    *,
    found: bool = False,
    regressed: bool = False,
    key: Key,
) -> Model:
    """States must be read off the observations: learned decoders come back as they are.

    `found` says that `smooth` holds the properties that the encoder is to learn to give,
    `regressed` that nothing else is left to learn from rates and states.
    """
    steps = config.recipe.matching
    if steps == 0 or not isinstance(model.observation.decoder, FirstEntries):
        return model
    longest = dataset.windows.times.shape[1]
    plan = MatchPlan(
        frames=min(config.system.encoder_frames + 1, longest),
        opening=min(config.system.property_frames, longest),
        windows=WINDOWS if regressed else min(WINDOWS, config.recipe.windows),
        jumps=config.system.time == "discrete",
        found=found,
        regressed=regressed,
    )
    smoothed = Dataset(smooth, dataset.lengths)
    size = _rate_size(smooth, model, plan.jumps)
    stage = Stage(plan.frames, steps, config.recipe.stages[0].learning_rate, "cosine")
    state = adam_init(eqx.filter(model, eqx.is_inexact_array))
    for done, step_key in enumerate(jax.random.split(key, steps)):
        rate = jnp.asarray(learning_rate(stage, done), FAST)
        model, state = _step(model, state, dataset, smoothed, size, rate, plan, key=step_key)
    return model


@eqx.filter_jit
def _step(
    model: Model,
    state: AdamState,
    dataset: Dataset,
    smoothed: Dataset,
    size: Float[Array, " D"],
    rate: Float[Array, ""],
    plan: MatchPlan,
    *,
    key: Key,
) -> tuple[Model, AdamState]:
    key_batch, key_draw = jax.random.split(key)
    cuts = (plan.frames, plan.opening, plan.windows)
    observed = sample_excerpts(dataset, *cuts, anywhere=plan.found, key=key_batch)
    clean = sample_excerpts(smoothed, *cuts, key=key_batch).window  # the same cuts

    def loss(model: Model) -> Float[Array, ""]:
        if plan.regressed:
            return taught(model, observed.opening, clean.properties)
        share = len(dataset) / plan.windows
        return matching(
            model, observed, clean, size, share, plan.jumps, found=plan.found, key=key_draw
        ).loss

    gradient = eqx.filter_grad(loss)(model)
    rates = jax.tree.map(lambda _: rate, gradient)
    updates, state = adam_update(gradient, state, rates, clip=CLIP)
    return eqx.apply_updates(model, updates), state


def matching(
    model: Model,
    observed: Excerpt,
    smooth: Window,
    size: Float[Array, " D"],
    share: float,
    jumps: bool,
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
    seen = finite_differences(smooth, layout, jumps=jumps)
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
    assert model.property_encoder is not None
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


def _rate_size(smooth: Window, model: Model, jumps: bool) -> Float[Array, " D"]:
    seen = finite_differences(smooth, model.dynamics.layout, jumps=jumps)
    known = seen.known[..., None]
    squares = jnp.sum(jnp.where(known, seen.rates**2, 0.0), axis=(0, 1, 2))
    size = jnp.sqrt(squares / jnp.maximum(jnp.sum(known), 1).astype(FAST))
    return jnp.where(size > 0, size, 1.0)
