"""What the property encoder is told about each ordered pair of objects, frame by frame."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.config import parts
from comotion.coordinates import Actor, LocalFrame, local_frame
from comotion.coordinates.layout import Layout
from comotion.data.windows import Window
from comotion.encode.differences import finite_differences

TINY = 1e-12


class PairReading(eqx.Module):
    """Inputs of the recurrent network, and the frames in which both objects are seen."""

    inputs: Float[Array, "A A F I"]
    seen: Bool[Array, "A A F"]


class AbstractReading(eqx.Module):
    """One way to look at a pair."""

    in_size: eqx.AbstractVar[int]

    @abstractmethod
    def __call__(self, window: Window) -> PairReading: ...


class PlainReading(AbstractReading):
    """The features of the object and their difference to those of the other: the paper's."""

    in_size: int = eqx.field(static=True)

    def __call__(self, window: Window) -> PairReading:
        values = jnp.swapaxes(window.values, 0, 1)  # (A, F, O)
        seen = jnp.swapaxes(jnp.any(window.present, axis=2), 0, 1)
        own = jnp.broadcast_to(values[:, None], (values.shape[0], *values.shape))
        inputs = jnp.concatenate([own, values[None] - own], axis=-1)
        return PairReading(inputs, seen[:, None] & seen[None])


class LocalReading(AbstractReading):
    """How two objects move and are pushed as seen from the line between them.

    Turning, shifting or mirroring the scene changes nothing, and the network need not learn to
    take differences from one frame to the next. Rates are compressed: close encounters are rare
    and a hundred times as strong as the rest.
    """

    in_size: int = eqx.field(static=True)
    layout: Layout = eqx.field(static=True)

    def __call__(self, window: Window) -> PairReading:
        batch = jax.tree.map(lambda leaf: leaf[None], window)
        found = finite_differences(batch, self.layout)
        moving = self.layout.spatial * self.layout.vectors
        states = jnp.swapaxes(found.states[0], 0, 1)  # (A, F, D)
        rates = jnp.swapaxes(found.rates[0], 0, 1)[..., moving - self.layout.spatial : moving]
        known = jnp.swapaxes(found.known[0], 0, 1)
        over_frames = jax.vmap(self._look)
        over_others = jax.vmap(over_frames, in_axes=(None, None, 0, 0))
        inputs = jax.vmap(over_others, in_axes=(0, 0, None, None))(states, rates, states, rates)
        return PairReading(inputs, known[:, None] & known[None])

    def _look(
        self,
        own: Float[Array, " D"],
        own_rate: Float[Array, " d"],
        other: Float[Array, " D"],
        other_rate: Float[Array, " d"],
    ) -> Float[Array, " I"]:
        nothing = jnp.zeros(0, own.dtype)
        actors = Actor(own, nothing, nothing), Actor(other, nothing, nothing)
        frame = local_frame(*actors, self.layout)
        pushes = [*_seen_from(frame, own_rate), *_seen_from(frame, other_rate)]
        near = jnp.log(frame.scalars[:1])
        return jnp.concatenate([frame.scalars, near, jnp.arcsinh(jnp.stack(pushes))])


def _seen_from(frame: LocalFrame, rate: Float[Array, " d"]) -> list[Float[Array, ""]]:
    """Along the line between the objects, along the way they slide, and altogether."""
    along, across = jnp.dot(frame.normal, rate), jnp.dot(frame.tangent, rate)
    return [along, across, jnp.sqrt(jnp.sum(rate**2) + TINY)]


def plain_reading(observed: int, _: Layout) -> PlainReading:
    return PlainReading(2 * observed)


def local_reading(_: int, layout: Layout) -> LocalReading:
    return LocalReading((4 if layout.has_velocity else 2) + 6, layout)


READINGS: dict[str, Callable[[int, Layout], AbstractReading]] = parts.READINGS
READINGS |= {"features": plain_reading, "local": local_reading}
