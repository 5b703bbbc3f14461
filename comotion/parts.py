"""What a config may choose from: tables of parts by name, each filled by the room of its parts.

The names stand here, so that a config can be checked before any room, and JAX with it, is there.
"""

from typing import Any


class PartTable(dict[str, Any]):
    """What makes a part, by its name; a new row is a new choice."""

    def __init__(self, *names: str):
        super().__init__(dict.fromkeys(names))


KERNELS = PartTable("se", "matern12", "matern32", "matern52")
FUNCTIONS = PartTable("gp", "mlp", "bnn")
ACTIVATIONS = PartTable("elu", "relu", "softplus", "tanh", "swish", "lip-swish")
ALONE = PartTable("raw", "axis", "mirror", "speed", "none")
PAIR = PartTable(
    *("raw", "relative", "galilean", "radial", "central"),
    *("distance", "log-distance", "aligning", "body", "none"),
)
ACCUMULATIONS = PartTable("sum", "nonlinear", "weighted")
READINGS = PartTable("features", "local")
