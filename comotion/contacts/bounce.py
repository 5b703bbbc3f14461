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

    sd: Float[Array, "*b"]
    frequencies: Float[Array, "F d *b"]
    phases: Float[Array, "F *b"]

    def __call__(self, places: Float[Array, "n d *#B"]) -> Float[Array, "n *#B"]:
        phases = jnp.sum(places[:, None] * self.frequencies[None], axis=2) + self.phases[None]
        return self.sd[None] * jnp.sqrt(2.0 / WAVES) * jnp.sum(jnp.cos(phases), axis=1)


class Bounce(eqx.Module):
    """One draw: normal speed after = restitution × before, sliding speed loses a share.

    Arrays may have further axes at their end, as those of `Planes`.
    """

    speeds: Float[Array, "m *b"]
    values: Float[Array, "m *b"]
    loss: Float[Array, "*b"]
    scatter: Scatter | None

    def restitution(
        self, closing: Float[Array, "n *#B"], places: Float[Array, "n d *#B"]
    ) -> Float[Array, "n *#B"]:
        """Straight between the speeds where it is known: the mean of a Wiener process there."""
        known = jnp.zeros_like(closing) + self.values[:1]
        for k in range(self.speeds.shape[0] - 1):
            width, rise = (part[k + 1] - part[k] for part in (self.speeds, self.values))
            way = jnp.clip((closing - self.speeds[k][None]) / width[None], 0.0, 1.0)
            known = known + way * rise[None]
        if self.scatter is not None:
            known = known + self.scatter(places)
        return jnp.clip(known, 0.0, 1.0)


class BounceLaw(eqx.Module):
    """A posterior over bounces. One speed makes restitution a number, several a function."""

    speeds: Float[Array, " m"]
    restitution: Gaussian
    loss: Gaussian
    scatter: Float[Array, ""] | None
    """None where contacts of the same speed are all alike"""

    def draw(self, spatial: int, *, key: Key) -> Bounce:
        key_restitution, key_loss, key_scatter = jax.random.split(key, 3)
        return Bounce(
            self.speeds,
            self.restitution.draw(key=key_restitution),
            jnp.clip(self.loss.draw(key=key_loss)[0], 0.0, 1.0),
            self._draw_scatter(spatial, key_scatter),
        )

    def _draw_scatter(self, spatial: int, key: Key) -> Scatter | None:
        if self.scatter is None:
            return None
        key_waves, key_phases = jax.random.split(key)
        waves = standard_normal((WAVES, spatial), FAST, key=key_waves) / SHORTEST
        phases = jax.random.uniform(key_phases, (WAVES,), FAST, maxval=2 * jnp.pi)
        return Scatter(self.scatter, waves, phases)

    def kl(self) -> Float[Array, ""]:
        return self.restitution.kl(0.5, 0.5) + self.loss.kl(0.5, 0.5)
