"""The evidence lower bound, Eq. (6) of the paper, term by term."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from jaxtyping import Key as Keys

from comotion._types import Key
from comotion.data.batches import Excerpt
from comotion.dynamics import AbstractField
from comotion.model import Model


class Bound(eqx.Module):
    """The terms of Eq. (6); those of the data are scaled up from the batch to all sequences."""

    log_likelihood: Float[Array, ""]
    """E_q[log p(Y | H₁, C, U)]"""
    kl_initial: Float[Array, ""]
    """KL[q(H₁) ‖ p(H₁)]"""
    kl_properties: Float[Array, ""]
    """KL[q(C) ‖ p(C)]"""
    kl_functions: dict[str, Float[Array, ""]]
    """KL[q(U) ‖ p(U)], by function"""
    observations: Float[Array, ""]
    """how many values the likelihood counts, scaled up in the same way"""

    @property
    def elbo(self) -> Float[Array, ""]:
        functions = jnp.sum(jnp.stack(list(self.kl_functions.values())))
        return self.log_likelihood - self.kl_initial - self.kl_properties - functions


def evidence_bound(model: Model, batch: Excerpt, sequences: int, *, draws: int, key: Key) -> Bound:
    """A Monte Carlo estimate from `draws` laws, each followed by every excerpt of the batch."""
    size = batch.window.times.shape[0]
    key_fields, key_states = jax.random.split(key)
    fields = eqx.filter_vmap(lambda k: model.dynamics.draw(key=k))(
        jax.random.split(key_fields, draws)
    )
    per_excerpt = eqx.filter_vmap(_excerpt_terms, in_axes=(None, None, 0, 0))
    keys = jax.random.split(key_states, (size, draws))
    likelihood, kl_initial, kl_properties, counts = per_excerpt(model, fields, batch, keys)
    scale = sequences / size
    return Bound(
        log_likelihood=scale * jnp.sum(likelihood),
        kl_initial=scale * jnp.sum(kl_initial),
        kl_properties=scale * jnp.sum(kl_properties),
        kl_functions=model.dynamics.kl(),
        observations=scale * jnp.sum(counts),
    )


def _excerpt_terms(
    model: Model, fields: AbstractField, excerpt: Excerpt, keys: Keys[Array, " L"]
) -> tuple[Float[Array, ""], ...]:
    window = excerpt.window
    beliefs = model.encode(excerpt)

    def log_likelihood(field: AbstractField, key: Key) -> Float[Array, ""]:
        states = model.draw_states(field, beliefs, excerpt, window.grid, key=key)
        return model.observation.log_likelihood(window.values, window.present, states)

    likelihood = jnp.mean(eqx.filter_vmap(log_likelihood)(fields, keys))
    kl_initial = beliefs.initial.kl(window.exists)
    kl_properties = jnp.zeros_like(kl_initial)
    if beliefs.properties is not None:
        kl_properties = beliefs.properties.kl(window.exists)
    count = jnp.sum(window.present).astype(likelihood.dtype)
    return likelihood, kl_initial, kl_properties, count
