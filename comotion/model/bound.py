"""The evidence lower bound, Eq. (6) of the paper, term by term."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float

from comotion._types import Key, Keys
from comotion.backend.devices import over_parts
from comotion.data.windows import Excerpt
from comotion.model.model import Beliefs, Model


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


class DataTerms(eqx.Module):
    """What the sequences of a batch add to the bound, and how many values they have."""

    log_likelihood: Float[Array, "*parts"]
    kl_initial: Float[Array, "*parts"]
    kl_properties: Float[Array, "*parts"]
    observations: Float[Array, "*parts"]


def evidence_bound(
    model: Model,
    batch: Excerpt,
    sequences: int | Float[Array, ""],
    *,
    draws: int,
    key: Key,
    mesh: Mesh | None = None,
) -> Bound:
    """A Monte Carlo estimate from `draws` laws, each followed by every excerpt of the batch.

    The devices of the mesh share the excerpts; chance does not depend on how many they are.
    """
    size = batch.window.times.shape[0]
    key_laws, key_states = jax.random.split(key)
    laws = jax.random.split(key_laws, draws)
    chances = jax.random.split(key_states, (size, draws))

    def part(shared: tuple[Model, Keys], batch: Excerpt, chances: Keys) -> DataTerms:
        terms = _data_terms(*shared, batch, chances)
        return jax.tree.map(lambda term: term[None], terms)

    parts = over_parts(part, mesh, (model, laws), batch, chances)
    terms: DataTerms = jax.tree.map(jnp.sum, parts)
    scale = sequences / size
    return Bound(
        log_likelihood=scale * terms.log_likelihood,
        kl_initial=scale * terms.kl_initial,
        kl_properties=scale * terms.kl_properties,
        kl_functions=model.dynamics.kl(),
        observations=scale * terms.observations,
    )


def _data_terms(model: Model, laws: Keys, batch: Excerpt, chances: Keys) -> DataTerms:
    """One law after the other: the memory of one is enough, and its matrices meet the rows of
    the whole batch in one product.
    """
    beliefs = jax.vmap(model.encode)(batch)
    kl_initial, kl_properties = jax.vmap(_belief_terms)(beliefs, batch)

    def add_draw(total: Float[Array, ""], keys: tuple[Key, Keys]) -> tuple[Float[Array, ""], None]:
        return total + _log_likelihood(model, beliefs, batch, *keys), None

    start = jnp.zeros((), model.observation.log_noise_variance.dtype)
    total, _ = jax.lax.scan(add_draw, start, (laws, chances.T))
    return DataTerms(
        log_likelihood=total / laws.shape[0],
        kl_initial=jnp.sum(kl_initial),
        kl_properties=jnp.sum(kl_properties),
        observations=jnp.sum(batch.window.present).astype(start.dtype),
    )


def _log_likelihood(
    model: Model, beliefs: Beliefs, batch: Excerpt, law: Key, chances: Keys
) -> Float[Array, ""]:
    """Of the whole batch under one drawn law and one draw of every belief."""
    field = model.dynamics.draw(key=law)

    def of_excerpt(beliefs: Beliefs, excerpt: Excerpt, key: Key) -> Float[Array, ""]:
        window = excerpt.window
        states = model.draw_states(field, beliefs, excerpt, window.grid, key=key)
        return model.observation.log_likelihood(window.values, window.present, states)

    return jnp.sum(jax.vmap(of_excerpt)(beliefs, batch, chances))


def _belief_terms(beliefs: Beliefs, excerpt: Excerpt) -> tuple[Float[Array, ""], Float[Array, ""]]:
    kl_initial = beliefs.initial.kl(excerpt.window.exists)
    if beliefs.properties is None:
        return kl_initial, jnp.zeros_like(kl_initial)
    return kl_initial, beliefs.properties.kl(excerpt.window.exists)
