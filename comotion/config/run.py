"""Everything that decides a run, to and from TOML."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tomli_w

from comotion.backend import disk
from comotion.config.checked import Checked, Limits, from_dict, to_dict
from comotion.config.recipe import Recipe
from comotion.config.system import SystemConfig
from comotion.errors import BadInput


@dataclass(frozen=True)
class RunConfig(Checked):
    """Everything that decides a run, so that running it again gives the same model.

    It is kept with a model (`model.config`) and in the folder of a run, as config.toml.

    >>> cm.RunConfig(cm.system("motion"), seed=3).system.name
    'motion'
    """

    system: SystemConfig = field(default_factory=SystemConfig)
    recipe: Recipe = field(default_factory=Recipe)
    seed: Annotated[int, Limits(0)] = 0


def write_toml(config: RunConfig, path: Path) -> None:
    disk.write_text(path, tomli_w.dumps(to_dict(config)))


def read_toml(path: Path) -> RunConfig:
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: not a readable TOML file ({error})") from error
    if not fields:
        raise BadInput(f"{path}: nothing is in this file; give the config.toml of a run")
    return from_dict(RunConfig, fields, where=str(path))
