"""Learn how things move together, with honest uncertainty.

    data → encode → draw functions → integrate → observe → bound → train → predict → evaluate

`read` and `simulate` give trajectories, `fit` learns a model, `FittedModel.predict` forecasts,
`evaluate` scores, `load` reads a model file back; docs/architecture.md is the map of the rooms.
"""

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from comotion.backend import cache
from comotion.config.parts import VIEWS

if TYPE_CHECKING:
    from comotion import datasets as datasets
    from comotion import simulate as simulate
    from comotion.config import Recipe, RunConfig, Stage, SystemConfig
    from comotion.data import BadInput, Trajectories, describe, from_frame, read, to_frame, write
    from comotion.identification import fit, identify
    from comotion.predict import FittedModel, load
    from comotion.scoring import evaluate
    from comotion.systems import system

__version__ = "0.1.0"

_HOMES = {
    "BadInput": "comotion.errors",
    "FittedModel": "comotion.predict",
    "Recipe": "comotion.config",
    "RunConfig": "comotion.config",
    "Stage": "comotion.config",
    "SystemConfig": "comotion.config",
    "Trajectories": "comotion.data",
    "datasets": "comotion.datasets",
    "describe": "comotion.data",
    "evaluate": "comotion.scoring",
    "fit": "comotion.identification",
    "from_frame": "comotion.data",
    "identify": "comotion.identification",
    "load": "comotion.predict",
    "read": "comotion.data",
    "simulate": "comotion.simulate",
    "system": "comotion.systems",
    "to_frame": "comotion.data",
    "write": "comotion.data",
}

__all__ = [
    "BadInput",
    "FittedModel",
    "Recipe",
    "RunConfig",
    "Stage",
    "SystemConfig",
    "Trajectories",
    "datasets",
    "describe",
    "evaluate",
    "fit",
    "from_frame",
    "identify",
    "load",
    "read",
    "simulate",
    "system",
    "to_frame",
    "write",
]


def _view(room: str, name: str, *args: Any, **options: Any) -> Any:
    return getattr(importlib.import_module(room), name)(*args, **options)


VIEWS |= {
    name: partial(_view, room, name)
    for name, room in {
        "explore": "comotion.report.explorer",
        "report": "comotion.report.run_page",
        "future_figure": "comotion.report.future",
        "animate_future": "comotion.report.future",
        "independent_field_figure": "comotion.report.fields",
        "interaction_field_figure": "comotion.report.fields",
        "evaluate": "comotion.scoring",
        "adapt": "comotion.scoring",
    }.items()
}


def __getattr__(name: str) -> Any:
    """Rooms are imported when first used, so that `import comotion` takes no time."""
    if name not in _HOMES:
        raise AttributeError(f"module 'comotion' has no attribute '{name}'")
    cache.enable()
    value = importlib.import_module(_HOMES[name])
    if name not in ("datasets", "simulate"):  # the public names that are rooms themselves
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
