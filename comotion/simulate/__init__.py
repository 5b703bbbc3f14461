"""Ground truth: simulated motion of interacting objects, independent of every model.

`advance_balls`, `advance_charges` and `advance_springs` carry given states forward by the true law.
"""

from collections.abc import Callable
from dataclasses import dataclass

from comotion.data.trajectories import Trajectories
from comotion.simulate.bouncing_balls import advance as advance_balls
from comotion.simulate.bouncing_balls import bouncing_balls
from comotion.simulate.charged_particles import advance as advance_charges
from comotion.simulate.charged_particles import charged_particles
from comotion.simulate.noise import LEVELS, add_noise, noise_level, noise_sd
from comotion.simulate.render import render_discs
from comotion.simulate.springs import advance as advance_springs
from comotion.simulate.springs import springs

__all__ = [
    "LEVELS",
    "SIMULATORS",
    "Simulator",
    "add_noise",
    "advance_balls",
    "advance_charges",
    "advance_springs",
    "bouncing_balls",
    "charged_particles",
    "noise_level",
    "noise_sd",
    "render_discs",
    "springs",
]


@dataclass(frozen=True)
class Simulator:
    """What makes the scene, and whether who acts on whom is part of its data."""

    make: Callable[..., Trajectories]
    has_graph: bool = False

    @property
    def about(self) -> str:
        """The first line of the docstring."""
        return (self.make.__doc__ or "").strip().partition("\n")[0]


SIMULATORS = {
    "bouncing-balls": Simulator(bouncing_balls),
    "charged-particles": Simulator(charged_particles),
    "springs": Simulator(springs, has_graph=True),
}
"""The scenes of `comotion simulate`."""
