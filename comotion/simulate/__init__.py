"""Ground truth: simulated motion of interacting objects, independent of every model.

`advance_balls`, `advance_charges`, `advance_springs` and `advance_agents` carry given states
forward by the true law; `AGENT_SCENES[name].law` has the true kernels of agents.

>>> cm.simulate.charged_particles(sequences=2, objects=4, frames=10)
Trajectories(2 sequences, up to 10 frames, up to 4 objects, x, y, vx, vy)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from comotion.data.trajectories import Trajectories
from comotion.simulate.agent_laws import AgentLaw
from comotion.simulate.agents import SCENES as AGENT_SCENES
from comotion.simulate.agents import advance as advance_agents
from comotion.simulate.agents import agents
from comotion.simulate.bouncing_balls import advance as advance_balls
from comotion.simulate.bouncing_balls import bouncing_balls
from comotion.simulate.charged_particles import advance as advance_charges
from comotion.simulate.charged_particles import charged_particles
from comotion.simulate.noise import LEVELS, add_noise, noise_level, noise_sd
from comotion.simulate.render import render_discs
from comotion.simulate.springs import advance as advance_springs
from comotion.simulate.springs import springs
from comotion.simulate.walkers import drifters, walkers

__all__ = [
    "AGENT_SCENES",
    "LEVELS",
    "SIMULATORS",
    "AgentLaw",
    "Simulator",
    "add_noise",
    "advance_agents",
    "advance_balls",
    "advance_charges",
    "advance_springs",
    "agents",
    "bouncing_balls",
    "charged_particles",
    "drifters",
    "noise_level",
    "noise_sd",
    "render_discs",
    "springs",
    "walkers",
]


@dataclass(frozen=True)
class Simulator:
    """What makes the scene, and whether who acts on whom is part of its data."""

    make: Callable[..., Trajectories]
    about: str
    has_graph: bool = False


def _first_line(make: Callable[..., Trajectories]) -> str:
    return (make.__doc__ or "").strip().partition("\n")[0]


SIMULATORS = {
    "bouncing-balls": Simulator(bouncing_balls, _first_line(bouncing_balls)),
    "charged-particles": Simulator(charged_particles, _first_line(charged_particles)),
    "springs": Simulator(springs, _first_line(springs), has_graph=True),
    "walkers": Simulator(walkers, _first_line(walkers)),
    "drifters": Simulator(drifters, _first_line(drifters)),
    **{
        name: Simulator(partial(agents, name, **scene.sizes), scene.about.capitalize() + ".")
        for name, scene in AGENT_SCENES.items()
    },
}
"""The scenes of `comotion simulate`."""
