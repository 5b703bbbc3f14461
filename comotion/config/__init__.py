"""What to build and how to train it: frozen dataclasses, checked where they are made."""

from comotion.config.checked import Limits, choices, from_dict, to_dict
from comotion.config.recipe import Recipe, Stage
from comotion.config.run import RunConfig, read_toml, write_toml
from comotion.config.system import SystemConfig, replace

__all__ = [
    "Limits",
    "Recipe",
    "RunConfig",
    "Stage",
    "SystemConfig",
    "choices",
    "from_dict",
    "read_toml",
    "replace",
    "to_dict",
    "write_toml",
]
