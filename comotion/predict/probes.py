"""Objects to ask the learned functions about, on grids that span the training data."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from comotion._types import FAST
from comotion.coordinates import Actor
from comotion.coordinates.layout import Layout
from comotion.predict.fitted import FittedModel

REACH = 2.0  # standard deviations to each side: all of a uniform spread, 95 % of a Gaussian one


@dataclass(frozen=True)
class StateUnits:
    """Zero and unit of every entry of a state, and the unit of time, in the data's units."""

    layout: Layout
    shift: Float[np.ndarray, " D"]
    scale: Float[np.ndarray, " D"]
    time: float

    def actors(self, places: Float[np.ndarray, "B d"], moving: Float[np.ndarray, "B d"]) -> Actor:
        """Objects as the model sees them; properties are 1, everything else is at its mean."""
        states = np.tile(self.shift, (len(places), 1))
        states[:, self.layout.position] = places
        if self.layout.has_velocity:
            states[:, self.layout.velocity] = moving
        return Actor(
            jnp.asarray((states - self.shift) / self.scale, FAST),
            jnp.ones((len(places), self.layout.properties), FAST),
            jnp.zeros((len(places), self.layout.controls), FAST),
        )

    def rates(self, scaled: Float[np.ndarray, "L B R"]) -> Float[np.ndarray, "L B R"]:
        """Rates of the last entries of the state, as many as are learned."""
        return scaled * self.scale[-scaled.shape[-1] :] / self.time


def state_units(fitted: FittedModel, layout: Layout) -> StateUnits:
    """Observed features come first in a state; a jump of discrete time knows no unit of time."""
    scaling, observed = fitted.scaling, len(fitted.shape.features)
    shift, scale = np.zeros(layout.state), np.ones(layout.state)
    shift[:observed], scale[:observed] = np.asarray(scaling.shift), np.asarray(scaling.scale)
    if layout.has_velocity and not fitted.shape.velocities_observed:
        scale[layout.velocity] = scale[layout.position] / float(scaling.time)
    time = 1.0 if fitted.config.system.time == "discrete" else float(scaling.time)
    return StateUnits(layout, shift, scale, time)


@dataclass(frozen=True)
class Raster:
    """Places around a middle in up to two dimensions; a third coordinate stays in the middle."""

    middle: Float[np.ndarray, " d"]
    reach: Float[np.ndarray, " d"]
    resolution: int

    @property
    def planar(self) -> int:
        return min(len(self.middle), 2)

    @property
    def axes(self) -> list[Float[np.ndarray, " K"]]:
        ends = zip(self.middle - self.reach, self.middle + self.reach, strict=True)
        return [np.linspace(low, high, self.resolution) for low, high in ends][: self.planar]

    @property
    def places(self) -> Float[np.ndarray, "B d"]:
        """Row after row: x changes fastest."""
        grid = np.meshgrid(*reversed(self.axes), indexing="ij")
        places = np.tile(self.middle, (self.resolution**self.planar, 1))
        places[:, : self.planar] = np.stack([axis.ravel() for axis in reversed(grid)], axis=1)
        return places


@dataclass(frozen=True)
class Probes:
    """Where f_s and f_b are asked, and at which speed."""

    units: StateUnits
    positions: Raster
    gaps: Raster
    speed: float

    @property
    def distances(self) -> Float[np.ndarray, " K"]:
        farthest = float(self.gaps.reach[: self.gaps.planar].max())
        return np.linspace(0.0, farthest, self.gaps.resolution + 1)[1:]

    def lonely(self) -> Actor:
        """One object at every place, moving to the right."""
        places = self.positions.places
        moving = np.zeros_like(places)
        moving[:, 0] = self.speed
        return self.units.actors(places, moving)

    def couples(self) -> tuple[Actor, Actor]:
        """An object with its neighbour all around it, then on its left, ever farther away.

        The two close in on each other, each at half the speed.
        """
        left = np.zeros((self.gaps.resolution, len(self.gaps.middle)))
        left[:, 0] = -self.distances
        gaps = np.concatenate([self.gaps.places, left])
        lengths = np.linalg.norm(gaps, axis=1, keepdims=True)
        closing = 0.5 * self.speed * gaps / np.where(lengths > 0, lengths, 1.0)
        centre = np.tile(self.positions.middle, (len(gaps), 1))
        return self.units.actors(centre, closing), self.units.actors(centre + gaps, -closing)


def probes(fitted: FittedModel, layout: Layout, resolution: int, speed: float) -> Probes:
    middle = fitted.summary.mean[: layout.spatial]
    sd = fitted.summary.sd[: layout.spatial]
    reach = REACH * np.where(sd > 0, sd, 1.0)
    # Two places differ by √2 times as much as one place varies.
    gaps = Raster(np.zeros_like(middle), np.sqrt(2.0) * reach, resolution)
    units = state_units(fitted, layout)
    return Probes(units, Raster(middle, reach, resolution), gaps, speed)
