"""What the commands take as MODEL and DATA."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from comotion.errors import BadInput

if TYPE_CHECKING:
    from comotion.predict import FittedModel

RunOrModel = Annotated[Positional[Path], arg(metavar="MODEL")]
OwnData = Annotated[
    Positional[Path | None], arg(metavar="DATA", help_behavior_hint="(default: the run's own)")
]
IntoRun = Annotated[
    Path | None, arg(metavar="FILE", help_behavior_hint="(default: in the run's folder)")
]
KEPT = ("held_out.nc", "test.csv")
"""What a fit and the demo leave beside a model."""


def load_model(place: Path) -> "FittedModel":
    """From a model file or the folder of a run."""
    from comotion.predict import load

    return load(place)


def folder_of(model: Path) -> Path:
    return model if model.is_dir() else model.parent


def kept_data(model: Path) -> Path:
    """The recordings that a run has kept."""
    for name in KEPT:
        if (folder_of(model) / name).is_file():
            return folder_of(model) / name
    raise BadInput(f"{model} has kept no recordings; give a data file after it")
