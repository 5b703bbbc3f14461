"""What a config may choose from: tables of parts by name, each filled by the room of its parts.

The names stand here, so that a config can be checked before any room, and JAX with it, is there.
"""

from typing import Any


class Table(dict[str, Any]):
    """What makes a part, by its name; a new row is a new choice."""

    def __init__(self, *names: str):
        super().__init__(dict.fromkeys(names))


KERNELS = Table("se", "matern12", "matern32", "matern52")
FUNCTIONS = Table("gp", "mlp", "bnn")
ACTIVATIONS = Table("elu", "relu", "softplus", "tanh", "swish", "lip-swish")
ALONE = Table("raw", "axis", "mirror", "speed", "none")
PAIR = Table("raw", "relative", "galilean", "radial", "central", "body", "none")
ACCUMULATIONS = Table("sum", "nonlinear", "weighted")
READINGS = Table("features", "local")
