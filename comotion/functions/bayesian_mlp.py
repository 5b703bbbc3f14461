"""A neural network with independent normal weights, fixed anew in every draw."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import Key
from comotion.backend.normal import standard_normal
from comotion.functions.base import AbstractRandomFunction, Capacity
from comotion.functions.mlp import Network, init_network, network_parameters


class BayesianMLP(AbstractRandomFunction):
    """q(w) = N(mean, sd²) for every weight and bias w; the prior is N(0, 1)."""

    mean: Network
    log_sd: Network
    kl_scale_dim: int = eqx.field(static=True)

    @classmethod
    def init(
        cls,
        *,
        in_size: int,
        out_size: int,
        kl_scale_dim: int,
        hidden: int = 256,
        activation: str = "softplus",
        posterior_sd: float = 0.02,
        key: Key,
    ) -> "BayesianMLP":
        """`kl_scale_dim` is the size of the state, which the KL is scaled down to."""
        mean = init_network(
            in_size=in_size, out_size=out_size, hidden=hidden, activation=activation, key=key
        )
        log_sd = jax.tree.map(lambda leaf: jnp.full_like(leaf, math.log(posterior_sd)), mean)
        return cls(mean, log_sd, kl_scale_dim)

    @classmethod
    def build(cls, in_size: int, out_size: int, capacity: Capacity, *, key: Key) -> "BayesianMLP":
        return cls.init(
            in_size=in_size,
            out_size=out_size,
            kl_scale_dim=capacity.kl_scale_dim,
            hidden=capacity.hidden,
            activation=capacity.activation,
            key=key,
        )

    @classmethod
    def parameters(cls, in_size: int, out_size: int, capacity: Capacity) -> int:
        """Of one set of weights: means."""
        return network_parameters(in_size, out_size, capacity.hidden)

    @property
    def in_size(self) -> int:
        return self.mean.weights[0].shape[0]

    @property
    def out_size(self) -> int:
        return self.mean.weights[-1].shape[1]

    def draw(self, *, key: Key) -> Network:
        means, tree = jax.tree.flatten(self.mean)
        keys = jax.random.split(key, len(means))
        drawn = [
            mean + jnp.exp(log_sd) * standard_normal(mean.shape, mean.dtype, key=key)
            for mean, log_sd, key in zip(means, jax.tree.leaves(self.log_sd), keys, strict=True)
        ]
        return jax.tree.unflatten(tree, drawn)

    def kl(self) -> Float[Array, ""]:
        """Closed form times D/|W|, or the many weights would drown the data."""
        means, log_sds = jax.tree.leaves(self.mean), jax.tree.leaves(self.log_sd)
        parts = [
            0.5 * jnp.sum(jnp.exp(2 * log_sd) + mean**2 - 1 - 2 * log_sd)
            for mean, log_sd in zip(means, log_sds, strict=True)
        ]
        scale = self.kl_scale_dim / sum(mean.size for mean in means)
        return scale * jnp.sum(jnp.stack(parts))
