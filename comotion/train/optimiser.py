"""Adam with its guards, as one chain of optax.

Trained is every float array of a model; what a part knows to be given (a tolerance, contacts that
were found, a fixed map) it hides behind `stop_gradient`, so its gradient and its step are zero.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from comotion.functions import SparseGP
from comotion.model import Model

NEVER = int(jnp.iinfo(jnp.int32).max)
"""Gradients that are not finite are counted, and never applied."""


def first_optimiser_state(model: Model) -> optax.OptState:
    """The same for every clip and rate: neither has a state of its own."""
    return _chain(clip=0.0, kernel_rate=1.0).init(_arrays(model))


def updated(
    model: Model,
    gradient: PyTree,
    state: optax.OptState,
    rate: Float[Array, ""],
    *,
    clip: float,
    kernel_rate: float,
) -> tuple[Model, optax.OptState]:
    """One step; a gradient that is not finite changes neither the model nor the moments."""
    # optax counts steps in integers and raises floats to them.
    with jax.numpy_dtype_promotion("standard"):
        direction, state = _chain(clip, kernel_rate).update(gradient, state)
    return eqx.apply_updates(model, jax.tree.map(lambda leaf: -rate * leaf, direction)), state


def skipped(state: optax.OptState) -> Int[Array, ""]:
    """How many gradients in a row were not finite."""
    return optax.tree.get(state, "notfinite_count")


def slow(model: Model) -> Model:
    """Where a model has kernels, inducing inputs and an encoder of properties.

    All else is expressed through them; large steps would take away the meaning it has learned.
    """

    def places(model: Model) -> list:
        processes = [f for f in model.dynamics.functions().values() if isinstance(f, SparseGP)]
        read = [] if model.property_encoder is None else [model.property_encoder]
        return [*read, *(part for f in processes for part in (f.kernel, f.inducing_inputs))]

    fast = jax.tree.map(lambda _: False, model)
    if not places(model):
        return fast
    return eqx.tree_at(places, fast, jax.tree.map(lambda _: True, places(model)))


def _chain(clip: float, kernel_rate: float) -> optax.GradientTransformation:
    """The guards and moments act on all parameters in a row, one array instead of dozens."""
    clipping = optax.clip_by_global_norm(clip) if clip else optax.identity()
    adam = optax.apply_if_finite(optax.chain(clipping, optax.scale_by_adam()), NEVER)
    return optax.chain(optax.flatten(adam), optax.masked(optax.scale(kernel_rate), slow))


def _arrays(model: Model) -> PyTree:
    return eqx.filter(model, eqx.is_inexact_array)
