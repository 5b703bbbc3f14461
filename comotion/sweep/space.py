"""What is searched: a file with fields of the config and the values they may take."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from comotion.config import Recipe, SystemConfig, replace
from comotion.errors import BadInput
from comotion.grid.scales import SCALES, Scale
from comotion.grid.scenes import Scene
from comotion.simulate import LEVELS
from comotion.systems import system

READY = ("supplement",)
Choices = tuple[Any, ...]


@dataclass(frozen=True)
class Between:
    """Any number from `low` to `high`, whole if both are."""

    low: int | float
    high: int | float
    log: bool = False


@dataclass(frozen=True)
class Space:
    """Studies by the name of their system: fields, and what each may be."""

    studies: Mapping[str, Mapping[str, Choices | Between]]
    scale: str
    noise: tuple[str, ...]
    objects: int

    @property
    def size(self) -> Scale:
        return SCALES[self.scale]

    def plan(self, config: SystemConfig) -> Recipe:
        """One for all noise levels."""
        return self.size.plan(config, self.scenes()[0])

    def scenes(self) -> list[Scene]:
        scene = Scene("balls", self.objects)
        levels = [Scene(scene.kind, scene.objects, noise=level) for level in self.noise]
        return [self.size.scene(level) for level in levels]

    def config(self, name: str, values: Mapping[str, Any]) -> SystemConfig:
        return replace(self.size.system(system(name)), **values)


def read_space(name: str) -> Space:
    """A ready one by its name, or a TOML file."""
    ready = resources.files("comotion.sweep").joinpath(f"{name}.toml")
    try:
        text = ready.read_text() if name in READY else Path(name).read_text()
        return _space(tomllib.loads(text), name)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(
            f"{name}: neither a readable TOML file nor one of {', '.join(READY)} ({error})"
        ) from error


def _space(content: dict[str, Any], where: str) -> Space:
    known = ("scale", "noise", "objects", "studies")
    for name in content:
        if name not in known:
            raise BadInput(f"{where}: unknown field '{name}'; the fields are {', '.join(known)}")
    scale, noise = content.get("scale", "fast"), content.get("noise", ["none"])
    if scale not in SCALES:
        raise BadInput(f"{where}: scale: '{scale}' is not one of {', '.join(SCALES)}")
    if not noise or any(level not in LEVELS for level in noise):
        raise BadInput(f"{where}: noise: give a list of {', '.join(LEVELS)}")
    if not content.get("studies"):
        raise BadInput(f"{where}: give at least one table [studies.SYSTEM] of fields and values")
    space = Space(
        studies={
            name: {field: _domain(values, f"{where}: {field}") for field, values in fields.items()}
            for name, fields in content["studies"].items()
        },
        scale=scale,
        noise=tuple(noise),
        objects=content.get("objects", 3),
    )
    for name, fields in space.studies.items():
        for field, domain in fields.items():
            for value in _ends(domain):
                space.config(name, {field: value})  # refuses what no config can be
    return space


def _domain(values: Any, where: str) -> Choices | Between:
    if isinstance(values, list) and values:
        return tuple(values)
    if isinstance(values, dict) and {"low", "high"} <= values.keys() <= {"low", "high", "log"}:
        return Between(**values)
    raise BadInput(f"{where}: give a list of values, or {{low = …, high = …, log = true}}")


def _ends(domain: Choices | Between) -> Choices:
    return (domain.low, domain.high) if isinstance(domain, Between) else domain
