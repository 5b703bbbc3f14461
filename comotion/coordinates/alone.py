"""Coordinates of f_s, the law of an object by itself."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion.coordinates.base import AbstractAloneCoordinates, Actor, heading
from comotion.coordinates.layout import Layout
from comotion.functions import AbstractDraw


class RawAlone(AbstractAloneCoordinates):
    """f_s of the whole state, the paper's choice."""

    takes_extra: ClassVar[bool] = True
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return self.layout.state + self.layout.properties + self.layout.controls

    @property
    def out_size(self) -> int:
        return self.vectors * self.layout.spatial + self.layout.extra

    def inputs(self, actor: Actor) -> Float[Array, " I"]:
        return jnp.concatenate([actor.state, actor.properties, actor.controls])

    def rates(self, outputs: Float[Array, " Q"], actor: Actor) -> Float[Array, " R"]:
        return outputs


class NoAlone(AbstractAloneCoordinates):
    """There is no f_s: nothing is seen and nothing is said."""

    takes_extra: ClassVar[bool] = True
    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return 1

    @property
    def out_size(self) -> int:
        return 0

    def inputs(self, actor: Actor) -> Float[Array, " I"]:
        return jnp.zeros(1, actor.state.dtype)

    def rates(self, outputs: Float[Array, " Q"], actor: Actor) -> Float[Array, " R"]:
        entries = self.vectors * self.layout.spatial + self.layout.extra
        return jnp.zeros(entries, actor.state.dtype)


class SpeedAlone(AbstractAloneCoordinates):
    """f_s of the velocity only, and the same in every direction: a rate along the heading.

    Nothing depends on where an object is, so what was learned in one scene holds in another.
    """

    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return 1 + self.layout.properties + self.layout.controls

    @property
    def out_size(self) -> int:
        return self.vectors

    def inputs(self, actor: Actor) -> Float[Array, " I"]:
        speed, _ = heading(actor, self.layout)
        return jnp.concatenate([speed[None], actor.properties, actor.controls])

    def rates(self, outputs: Float[Array, " Q"], actor: Actor) -> Float[Array, " R"]:
        return jnp.outer(outputs, heading(actor, self.layout)[1]).reshape(-1)


class AxisAlone(AbstractAloneCoordinates):
    """Each axis moves by itself: its rate depends on its own position and velocity only."""

    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return self.layout.vectors + self.layout.properties + self.layout.controls

    @property
    def out_size(self) -> int:
        return self.vectors * self.layout.spatial

    def inputs(self, actor: Actor) -> Float[Array, "d I"]:
        return _along_axes(actor, self.layout)

    def rates(self, outputs: Float[Array, "d Q"], actor: Actor) -> Float[Array, " R"]:
        per_axis = outputs.reshape(self.layout.spatial, self.vectors, self.layout.spatial)
        return jnp.einsum("ivi->vi", per_axis).reshape(-1)


class MirrorAlone(AbstractAloneCoordinates):
    """One law for every axis that does not change when the axis is mirrored at the origin."""

    layout: Layout = eqx.field(static=True)
    vectors: int = eqx.field(static=True)

    @property
    def in_size(self) -> int:
        return self.layout.vectors + self.layout.properties + self.layout.controls

    @property
    def out_size(self) -> int:
        return self.vectors

    def inputs(self, actor: Actor) -> Float[Array, "2 d I"]:
        mirrored = Actor(-actor.state, actor.properties, actor.controls)
        return jnp.stack([_along_axes(actor, self.layout), _along_axes(mirrored, self.layout)])

    def rates(self, outputs: Float[Array, "2 d Q"], actor: Actor) -> Float[Array, " R"]:
        return (0.5 * (outputs[0] - outputs[1])).T.reshape(-1)

    def ask(self, function: AbstractDraw, actors: Actor) -> Float[Array, "A R"]:
        if self.in_size > self.layout.vectors:  # what is no vector has no other side
            return super().ask(function, actors)
        one_side = jax.vmap(lambda actor: _along_axes(actor, self.layout))(actors)
        return jnp.swapaxes(function.odd(one_side), 1, 2).reshape(len(one_side), -1)


def _along_axes(actor: Actor, layout: Layout) -> Float[Array, "d I"]:
    moving = actor.state[: layout.vectors * layout.spatial].reshape(layout.vectors, layout.spatial)
    fixed = jnp.concatenate([actor.properties, actor.controls])
    return jnp.concatenate(
        [moving.T, jnp.broadcast_to(fixed[None, :], (layout.spatial, fixed.shape[0]))], axis=1
    )
