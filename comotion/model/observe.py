"""From states to observations: decoder and noise."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion._types import Key
from comotion.backend.normal import standard_normal

LOG_TWO_PI = 1.8378770664093453


class AbstractDecoder(eqx.Module):
    @abstractmethod
    def __call__(self, states: Float[Array, "*b D"]) -> Float[Array, "*b O"]: ...


class FirstEntries(AbstractDecoder):
    """B = [I, 0]: the observed features are the first entries of the state."""

    observed: int = eqx.field(static=True)

    def __call__(self, states: Float[Array, "*b D"]) -> Float[Array, "*b O"]:
        return states[..., : self.observed]


class LearnedDecoder(AbstractDecoder):
    """A network from some entries of the state to observations; without hidden layer, linear."""

    network: eqx.nn.MLP
    entries: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, states: Float[Array, "*b D"]) -> Float[Array, "*b O"]:
        flat = states.reshape(-1, states.shape[-1])[:, jnp.asarray(self.entries)]
        return jax.vmap(self.network)(flat).reshape(*states.shape[:-1], -1)


class Observation(eqx.Module):
    """p(y | h) = N(decode(h), noise), one noise variance per feature.

    `tolerance` is variance that only the likelihood adds: what a trajectory may be off by without
    the law being thought wrong. It is never learned, and no forecast contains it.
    """

    decoder: AbstractDecoder
    log_noise_variance: Float[Array, " O"]
    tolerance: Float[Array, " O"]

    @property
    def noise_variance(self) -> Float[Array, " O"]:
        return jnp.exp(self.log_noise_variance)

    def log_likelihood(
        self,
        values: Float[Array, "K A O"],
        present: Bool[Array, "K A O"],
        states: Float[Array, "K A D"],
    ) -> Float[Array, ""]:
        """Summed over the present values only."""
        tolerated = jax.lax.stop_gradient(self.tolerance)
        errors = values - self.decoder(states)
        return jnp.sum(_log_densities(errors, present, self.noise_variance + tolerated))

    def log_likelihood_by_object(
        self,
        values: Float[Array, "K A O"],
        present: Bool[Array, "K A O"],
        states: Float[Array, "K A D"],
    ) -> Float[Array, " A"]:
        """The same for each object, and with nothing tolerated."""
        errors = values - self.decoder(states)
        return jnp.sum(_log_densities(errors, present, self.noise_variance), axis=(0, 2))

    def draw(self, means: Float[Array, "*b O"], *, key: Key) -> Float[Array, "*b O"]:
        noise = standard_normal(means.shape, means.dtype, key=key)
        return means + jnp.einsum("...o,o->...o", noise, jnp.sqrt(self.noise_variance))


def _log_densities(
    errors: Float[Array, "K A O"], present: Bool[Array, "K A O"], variance: Float[Array, " O"]
) -> Float[Array, "K A O"]:
    """Zero where nothing is present, and with gradients that nothing absent can spoil."""
    errors, variance = jnp.where(present, errors, 0.0), variance[None, None, :]
    density = -0.5 * (LOG_TWO_PI + jnp.log(variance) + errors**2 / variance)
    return jnp.where(present, density, 0.0)
