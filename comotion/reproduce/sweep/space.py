"""What is searched: a file with fields of the config and the values they may take."""

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from comotion.config import Recipe, SystemConfig, replace
from comotion.errors import BadInput
from comotion.reproduce.scales import SCALES, Scale
from comotion.reproduce.scenes import PaperScene
from comotion.simulate import LEVELS
from comotion.systems import system
from comotion.train.recipe import recipe

READY = ("supplement",)
Choices = tuple[Any, ...]


@dataclass(frozen=True)
class Between:
    """Any number from `low` to `high`, whole if both are."""

    low: int | float
    high: int | float
    log: bool = False


Fields = Mapping[str, Choices | Between]


@dataclass(frozen=True)
class Space:
    """Studies by the name of their system: fields, and what each may be."""

    studies: Mapping[str, Fields]
    scale: str
    noise: tuple[str, ...]
    objects: int

    @property
    def size(self) -> Scale:
        return SCALES[self.scale]

    def plan(self, config: SystemConfig, *, velocities_seen: bool) -> Recipe:
        """Of a trial, the same for all noise levels."""
        scene = dataclasses.replace(self.scenes()[0], velocities=velocities_seen)
        return self.size.plan(config, scene)

    def plan_to_keep(self, config: SystemConfig, *, velocities_seen: bool) -> Recipe:
        """With the calibration that trials leave out, which the likelihood does not depend on."""
        named = recipe(self.size.recipe, config, velocities_seen=velocities_seen)
        plan = self.plan(config, velocities_seen=velocities_seen)
        return dataclasses.replace(plan, calibration=named.calibration)

    def scenes(self) -> list[PaperScene]:
        scene = PaperScene("balls", self.objects)
        levels = [PaperScene(scene.kind, scene.objects, noise=level) for level in self.noise]
        return [self.size.scene(level) for level in levels]

    def config(self, name: str, values: Mapping[str, Any]) -> SystemConfig:
        return replace(self.size.system(system(name)), **values)


def read_space(name: str) -> Space:
    """A ready one by its name, or a TOML file."""
    ready = resources.files("comotion.reproduce.sweep").joinpath(f"{name}.toml")
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
    scale = content.get("scale", "fast")
    if scale not in tuple(SCALES):
        raise BadInput(f"{where}: scale: {scale!r} is not one of {', '.join(SCALES)}")
    space = Space(
        studies=_studies(content.get("studies", {}), where),
        scale=scale,
        noise=_noise(content.get("noise", ["none"]), where),
        objects=_objects(content.get("objects", 3), where),
    )
    for name, fields in space.studies.items():
        for field, domain in fields.items():
            for value in _ends(domain):
                space.config(name, {field: value})  # refuses what no config can be
    return space


def _noise(levels: Any, where: str) -> tuple[str, ...]:
    known = tuple(LEVELS)
    if not isinstance(levels, list) or not levels or any(level not in known for level in levels):
        raise BadInput(f"{where}: noise: give a list of {', '.join(known)}, got {levels!r}")
    return tuple(levels)


def _objects(count: Any, where: str) -> int:
    if not _is_number(count) or not isinstance(count, int) or count < 1:
        raise BadInput(f"{where}: objects: give a whole number of at least 1, got {count!r}")
    return count


def _studies(tables: Any, where: str) -> dict[str, Fields]:
    if not isinstance(tables, dict) or not tables:
        raise BadInput(
            f"{where}: studies: give at least one table [studies.SYSTEM] of fields and values, "
            f"got {tables!r}"
        )
    return {name: _fields(table, f"{where}: studies.{name}") for name, table in tables.items()}


def _fields(table: Any, where: str) -> Fields:
    if not isinstance(table, dict) or not table:
        raise BadInput(f"{where}: give a table of at least one field and its values, got {table!r}")
    return {field: _domain(values, f"{where}: {field}") for field, values in table.items()}


def _domain(values: Any, where: str) -> Choices | Between:
    if isinstance(values, list) and values:
        return tuple(values)
    if isinstance(values, dict) and {"low", "high"} <= values.keys() <= {"low", "high", "log"}:
        return _between(where, **values)
    raise BadInput(
        f"{where}: give a list of values, or {{low = …, high = …, log = true}}, got {values!r}"
    )


def _between(where: str, low: Any, high: Any, log: Any = False) -> Between:
    if not (_is_number(low) and _is_number(high) and low <= high):
        raise BadInput(
            f"{where}: give two finite numbers, low not above high, got low = {low!r}, "
            f"high = {high!r}"
        )
    if not isinstance(log, bool):
        raise BadInput(f"{where}: log: give true or false, got {log!r}")
    if log and low <= 0:
        raise BadInput(
            f"{where}: low = {low!r} has no logarithm; give a number above 0, or log = false"
        )
    return Between(low, high, log)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _ends(domain: Choices | Between) -> Choices:
    return (domain.low, domain.high) if isinstance(domain, Between) else domain
