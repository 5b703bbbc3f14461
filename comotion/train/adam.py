"""Adam; the only file that speaks optax."""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

AdamState = optax.OptState


def adam_init(parameters: PyTree) -> AdamState:
    return optax.scale_by_adam().init(parameters)


def adam_update(
    gradient: PyTree, state: AdamState, rates: PyTree, clip: float = 0.0
) -> tuple[PyTree, AdamState]:
    """What to add to the parameters, with a rate for each; `clip` limits the gradient's norm."""
    if clip > 0.0:
        scale = jnp.minimum(1.0, clip / (gradient_norm(gradient) + 1e-12))
        gradient = jax.tree.map(lambda leaf: scale * leaf, gradient)
    # optax counts steps in integers and raises floats to them.
    with jax.numpy_dtype_promotion("standard"):
        direction, state = optax.scale_by_adam().update(gradient, state)
    return jax.tree.map(lambda rate, leaf: -rate * leaf, rates, direction), state


def gradient_norm(gradient: PyTree) -> Float[Array, ""]:
    return optax.tree.norm(gradient)
