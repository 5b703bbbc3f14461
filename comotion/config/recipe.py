"""How to train: rounds, and what comes before and after them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from comotion.config.checked import Checked, Limits


@dataclass(frozen=True)
class Stage(Checked):
    """One round of training on windows of `horizon` frames.

    >>> cm.Stage(horizon=16, iterations=200, learning_rate=1e-2).decay
    'none'
    """

    horizon: Annotated[int, Limits(2)]
    iterations: Annotated[int, Limits(0)]
    learning_rate: Annotated[float, Limits(0)]
    decay: Literal["none", "cosine"] = "none"
    objective: Literal["bound", "score"] = "bound"
    """the evidence bound, or the score of forecasts of `horizon` frames from the last one seen"""


@dataclass(frozen=True)
class Recipe(Checked):
    """How to train: rounds with growing horizons, and what comes before them.

    `fit` takes one as `recipe`; each field can also be given to `fit` by its name.

    >>> rounds = (cm.Stage(5, 100, 1e-2), cm.Stage(16, 200, 1e-2, decay="cosine"))
    >>> cm.Recipe(name="mine", stages=rounds, regression=True).windows
    100
    """

    name: str = "short"
    stages: tuple[Stage, ...] = ()
    windows: Annotated[int, Limits(1)] = 100
    """windows per iteration"""
    draws: Annotated[int, Limits(1)] = 1
    """function draws per iteration (L of the paper)"""
    clip: Annotated[float, Limits(0)] = 0.0
    """largest norm of a gradient per observed value; 0: no limit"""
    kernel_rate: Annotated[float, Limits(0)] = 1.0
    """learning rate of kernels, inducing inputs and property encoder, as a share of the rest's"""
    regression: bool = False
    """start the functions from a regression on the rates that smoothed data show"""
    shooting: Annotated[int, Limits(0)] = 0
    """after that regression, steps of Gauss-Newton on the paths of short windows: laws as sure as
    the observations make them, where nothing but the law moves things"""
    pretrain: Annotated[int, Limits(0)] = 0
    """iterations of fitting rates and initial states directly, before trajectories are followed"""
    find_properties: bool = False
    """find inferred properties as free numbers first; pretraining then teaches the encoder those"""
    start_noise: Annotated[float, Limits(1e-9)] = 0.01
    """share of a feature's variance that its observation noise starts with"""
    tolerance: Annotated[float, Limits(0)] = 0.0
    """share of a feature's variance a trajectory may be off by, beside observation noise"""
    velocity_tolerance: Annotated[float, Limits(0)] = 0.0
    """the same for velocities, which a collision missed by a frame gets wrong at once"""
    calibration: Annotated[int, Limits(0)] = 0
    """windows on which the size of what the law leaves open is chosen, after training; 0: none"""
