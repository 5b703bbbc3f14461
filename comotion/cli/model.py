"""What the commands take as MODEL and DATA."""

from pathlib import Path
from typing import TYPE_CHECKING

from comotion.errors import BadInput

if TYPE_CHECKING:
    from comotion.predict import FittedModel


def load_model(place: Path) -> "FittedModel":
    """From a model file or the folder of a run."""
    from comotion.predict import load

    if not place.is_dir():
        return load(place)
    file = place / "model.safetensors"
    if not file.is_file():
        raise BadInput(
            f"{place}: there is no model.safetensors in this folder; give the folder of a "
            "finished run, or finish it with `comotion fit … --resume`"
        )
    return load(file)
