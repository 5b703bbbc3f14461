"""What is made different in a scene after its start was drawn, so that all else is the same."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from comotion.data.windows import Grid, Window
from comotion.model import Start


class Change(eqx.Module):
    """For one sequence; with a leading axis, a batch. In scaled units; NaN leaves a value alone.

    Applied between the draw of a start and the integration: draws of the law, of the start and of
    all noise are those of the scene as it was.
    """

    present: Bool[Array, "*P A"]
    heard: Bool[Array, "*P A A"]
    state: Float[Array, "*P A D"]
    properties: Float[Array, "*P A C"]

    def apply(self, start: Start, window: Window, grid: Grid) -> tuple[Start, Window, Grid]:
        def changed(new: Array, old: Array) -> Array:
            return jnp.where(jnp.isnan(new), old, new)

        start = dataclasses.replace(
            start,
            initial=changed(self.state, start.initial),
            properties=changed(self.properties, start.properties),
        )
        window = eqx.tree_at(lambda w: w.neighbours, window, window.neighbours & self.heard)
        grid = eqx.tree_at(lambda g: g.active, grid, grid.active & self.present[None, :])
        return start, window, grid
