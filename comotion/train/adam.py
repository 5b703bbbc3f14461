"""Adam; the only file that speaks optax."""

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

AdamState = optax.OptState


def adam_init(parameters: PyTree) -> AdamState:
    """Moments of all parameters in a row, one array instead of dozens of small ones."""
    return optax.scale_by_adam().init(ravel_pytree(parameters)[0])


def adam_update(
    gradient: PyTree, state: AdamState, rates: PyTree, clip: float = 0.0
) -> tuple[PyTree, AdamState]:
    """What to add to the parameters, with a rate for each; `clip` limits the gradient's norm.

    A gradient that is not finite changes nothing.
    """
    row, as_parameters = ravel_pytree(gradient)
    norm = gradient_norm(gradient)
    finite = jnp.isfinite(norm)
    scale = jnp.minimum(1.0, clip / (norm + 1e-12)) if clip > 0.0 else 1.0
    # optax counts steps in integers and raises floats to them.
    with jax.numpy_dtype_promotion("standard"):
        direction, moved = optax.scale_by_adam().update(row * scale, state)
    none = jnp.zeros_like(row)
    step, after = jax.tree.map(
        lambda new, old: jnp.where(finite, new, old), (direction, moved), (none, state)
    )
    step = as_parameters(step)
    return jax.tree.map(lambda rate, leaf: -rate * leaf, rates, step), after


def gradient_norm(gradient: PyTree) -> Float[Array, ""]:
    return jnp.linalg.norm(ravel_pytree(gradient)[0])
