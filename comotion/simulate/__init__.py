"""Ground truth: simulated motion of interacting objects, independent of every model.

`advance_balls`, `advance_charges` and `advance_springs` carry given states forward by the true law.
"""

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
