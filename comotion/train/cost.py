"""How long a fit will take and how much memory, roughly, before it begins."""

from dataclasses import dataclass

from comotion.config import RunConfig
from comotion.data.trajectories import Trajectories

# From `benchmarks/growth.py` on two cores: a step's own time, the time of one function value per
# feature or inducing point, and what compiling and starting take.
STEP = 0.008
VALUE = 6e-9
BEGINNING = 30.0
STAGES_OF_SOLVER = 4
"""Evaluations of the field in a step of the fourth order."""
MOVED = 40.0
"""What moving an object costs beside its law, in function values."""
PROCESS = 1.2e9
"""Bytes that Python, JAX and compiled programs take."""


@dataclass(frozen=True)
class Cost:
    seconds: float
    bytes: float

    @property
    def time(self) -> str:
        if self.seconds < 90:
            return "a minute"
        if self.seconds < 5400:
            return f"{self.seconds / 60:.0f} minutes"
        return f"{self.seconds / 3600:.1f} hours"

    def __str__(self) -> str:
        return self.told(self.time)

    def told(self, time: str) -> str:
        return f"about {time} on two cores, {self.bytes / 1e9:.1f} GB of memory"


def cost(config: RunConfig, data: Trajectories) -> Cost:
    """Within a factor of two or three; the number of iterations is the recipe's."""
    system, recipe = config.system, config.recipe
    sequences, frames, objects, features = data.values.shape
    heard = min(system.nearest or objects, objects - 1) if system.who == "interacting" else 0
    alone = objects * (system.inducing_alone + system.fourier_features)
    pairs = objects * heard * (system.inducing_pair + system.fourier_features)
    asked = MOVED * objects + alone * (system.alone != "none") + pairs * (system.pair != "none")
    per_frame = STAGES_OF_SOLVER * system.substeps * asked * recipe.windows * recipe.draws
    seconds = BEGINNING
    for stage in recipe.stages:
        horizon = min(stage.horizon, frames)
        seconds += stage.iterations * (STEP + VALUE * per_frame * (horizon - 1))
    kept = sequences * frames * objects * (16.0 * features + 8.0) + 4.0 * sequences * objects**2
    states = 40.0 * recipe.windows * max(s.horizon for s in recipe.stages) * objects * (heard + 1)
    return Cost(seconds, PROCESS + 4.0 * kept + states)
