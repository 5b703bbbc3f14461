"""Tables by name, filled by the rooms above: what a config may choose from, and what can be seen.

The names of parts stand here, so that a config can be checked before any room, and JAX with it, is
there. `report` and `scoring` stand above what they draw and score: for `model.explore(…)`,
`forecast.plot()`, `forecast.score(…)` and `law.plot()` the package's root puts them in `VIEWS`,
to be imported when something is to be seen.
"""

from collections.abc import Callable
from typing import Any


class PartTable(dict[str, Any]):
    """What makes a part, by its name; a new row is a new choice."""

    def __init__(self, *names: str):
        super().__init__(dict.fromkeys(names))


KERNELS = PartTable("se", "matern12", "matern32", "matern52")
FUNCTIONS = PartTable("gp", "mlp", "bnn")
ACTIVATIONS = PartTable("elu", "relu", "softplus", "tanh", "swish", "lip-swish")
ALONE = PartTable("raw", "axis", "mirror", "speed", "wall", "none")
PAIR = PartTable(
    *("raw", "relative", "galilean", "radial", "central"),
    *("distance", "log-distance", "aligning", "body", "none"),
)
ACCUMULATIONS = PartTable("sum", "nonlinear", "weighted")
READINGS = PartTable("features", "local")

VIEWS: dict[str, Callable[..., Any]] = {}
"""Pictures, pages and scores of models, forecasts and laws, by the name of what makes them."""
