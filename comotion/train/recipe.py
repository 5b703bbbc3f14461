"""Named ways to train."""

from comotion.config import Recipe, Stage, SystemConfig
from comotion.errors import BadInput
from comotion.train.warm_start import leaves_nothing, solvable


def paper(system: SystemConfig) -> Recipe:
    """As published: three rounds, 50 000 iterations, learning rates by function type."""
    rate = 1e-4 if system.function == "bnn" else 5e-4
    rounds = ((5, 25_000), (16, 12_500), (33, 12_500))
    return Recipe(
        name="paper",
        stages=tuple(Stage(horizon, iterations, rate) for horizon, iterations in rounds),
    )


def short(system: SystemConfig) -> Recipe:
    """For people: a regression to start from, then a few hundred large steps that die away.

    The tolerance keeps the bound of long windows smooth and the functions' posterior broad;
    calibration then says how much more is open than that posterior. Networks know less at the
    start and take more steps, each on fewer windows: all of a step's time goes into those.
    """
    networks = system.function != "gp"
    rate = 2e-3 if networks else 1e-2
    if solvable(system):
        rounds = ((16, 300),)
    elif networks:
        rounds = ((5, 600), (16, 400), (33, 200))
    else:
        rounds = ((5, 250), (16, 150), (33, 100))
    return Recipe(
        name="short",
        stages=tuple(Stage(horizon, count, rate, decay="cosine") for horizon, count in rounds),
        windows=32 if networks else 100,
        warm_start=True,
        matching=0 if leaves_nothing(system) else 300,
        free_properties=True,
        clip=1.0,
        kernel_rate=0.1,
        tolerance=0.05,
        velocity_tolerance=0.2,
        calibration=100,
    )


RECIPES = {"paper": paper, "short": short}


def recipe(name: str, system: SystemConfig) -> Recipe:
    if name not in RECIPES:
        raise BadInput(f"there is no recipe '{name}': choose one of {', '.join(RECIPES)}")
    return RECIPES[name](system)
