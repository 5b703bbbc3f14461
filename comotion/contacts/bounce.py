"""What a contact does: how fast things part, by how fast they met."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.backend.normal import standard_normal
from comotion.contacts.posterior import Gaussian

WAVES = 8
SHORTEST = 1e-2
"""Places closer than this, in units of the scene, have much the same scatter."""


class Scatter(eqx.Module):
    """A number per event that looks like N(0, sd²), the same for the same event at every call.

    A drawn function of place with so short a lengthscale that no two events are alike: a draw
    stays a function, and the solver needs no noise of its own.
    """

    sd: Float[Array, ""]
    frequencies: Float[Array, "F d"]
    phases: Float[Array, " F"]

    def __call__(self, places: Float[Array, "*b d"]) -> Float[Array, "*b"]:
        shape = (1,) * (places.ndim - 1) + self.phases.shape
        phases = places @ self.frequencies.T + self.phases.reshape(shape)
        return self.sd * jnp.sqrt(2.0 / WAVES) * jnp.sum(jnp.cos(phases), axis=-1)


class Bounce(eqx.Module):
    """One draw: normal speed after = restitution × before, sliding speed loses a share."""

    speeds: Float[Array, " m"]
    values: Float[Array, " m"]
    loss: Float[Array, ""]
    scatter: Scatter

    def restitution(
        self, closing: Float[Array, "*b"], places: Float[Array, "*b d"]
    ) -> Float[Array, "*b"]:
        """Straight between the speeds where it is known: the mean of a Wiener process there."""
        known = self.values[0] if len(self.speeds) == 1 else self._between(closing)
        return jnp.clip(known + self.scatter(places), 0.0, 1.0)

    def _between(self, closing: Float[Array, "*b"]) -> Float[Array, "*b"]:
        return jnp.interp(closing, self.speeds, self.values)


class BounceLaw(eqx.Module):
    """A posterior over bounces. One speed makes restitution a number, several a function."""

    speeds: Float[Array, " m"]
    restitution: Gaussian
    loss: Gaussian
    scatter: Float[Array, ""]

    def draw(self, spatial: int, *, key: Key) -> Bounce:
        key_restitution, key_loss, key_waves, key_phases = jax.random.split(key, 4)
        waves = standard_normal((WAVES, spatial), FAST, key=key_waves) / SHORTEST
        phases = jax.random.uniform(key_phases, (WAVES,), FAST, maxval=2 * jnp.pi)
        return Bounce(
            self.speeds,
            self.restitution.draw(key=key_restitution),
            jnp.clip(self.loss.draw(key=key_loss)[0], 0.0, 1.0),
            Scatter(self.scatter, waves, phases),
        )

    def kl(self) -> Float[Array, ""]:
        return self.restitution.kl(0.5, 0.5) + self.loss.kl(0.5, 0.5)
