"""Named ways to train."""

from comotion.config import Recipe, Stage, SystemConfig, replace
from comotion.errors import BadInput
from comotion.train.warm_start import leaves_nothing, solvable, sums_of_processes


def paper(system: SystemConfig) -> Recipe:
    """As published: three rounds, 50 000 iterations, learning rates by function type."""
    rate = 1e-4 if system.function == "bnn" else 5e-4
    rounds = ((5, 25_000), (16, 12_500), (33, 12_500))
    return Recipe(
        name="paper",
        stages=tuple(Stage(horizon, iterations, rate) for horizon, iterations in rounds),
    )


def short(system: SystemConfig) -> Recipe:
    """For people: a start from the data, then a few hundred large steps that die away.

    The tolerance keeps the bound of long windows smooth where a start is surer than it should be;
    calibration then says how much more is open than the posterior of the functions. Networks, and
    functions of raw pairs, know less at the start and take more steps, each on fewer windows: many
    steps buy more than large ones for the same time.
    """
    networks = system.function != "gp"
    raw = _sees_raw_pairs(system)
    regressed = not raw or system.hidden_velocity
    rate = 2e-3 if networks else 1e-2
    if raw:
        rounds, windows = ((16, 500), (33, 4000)), 48
    elif solvable(system):
        rounds, windows = ((16, 300),), 100
    elif networks:
        rounds, windows = ((5, 600), (16, 400), (33, 200)), 32
    else:
        rounds, windows = ((5, 250), (16, 150), (33, 100)), 100
    return Recipe(
        name="short",
        stages=tuple(Stage(horizon, count, rate, decay="cosine") for horizon, count in rounds),
        windows=windows,
        warm_start=regressed,
        matching=300 if regressed and not leaves_nothing(system) else 0,
        free_properties=True,
        clip=1.0,
        kernel_rate=0.1 if regressed else 1.0,
        tolerance=0.0 if raw else 0.05,
        velocity_tolerance=0.0 if raw else 0.2,
        calibration=100,
    )


def _sees_raw_pairs(system: SystemConfig) -> bool:
    """Whether fitting rates leads astray: six raw inputs of a pair let it explain single frames so
    well, and so surely, that long windows never undo it. Where velocities are hidden it is done
    all the same, because nothing else knows them."""
    return sums_of_processes(system) and system.pair == "relative"


RECIPES = {"paper": paper, "short": short}


def recipe(name: str, system: SystemConfig, *, velocities_seen: bool = False) -> Recipe:
    """With `velocities_seen` it does not matter that the system would allow for hidden ones."""
    if name not in RECIPES:
        raise BadInput(f"there is no recipe '{name}': choose one of {', '.join(RECIPES)}")
    return RECIPES[name](replace(system, hidden_velocity=False) if velocities_seen else system)
