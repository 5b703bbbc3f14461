"""Fields that refuse what they cannot be, wherever a config is made; to and from plain values."""

import dataclasses
import math
import typing
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from comotion.config import parts
from comotion.errors import BadInput

RENAMED = {
    "warm_start": "regression",
    "matching": "pretrain",
    "free_properties": "find_properties",
}
RETIRED = {"events"}
"""What fields were called in files of earlier versions, and those that decide nothing any more."""


@dataclass(frozen=True)
class RowOf:
    """A part is chosen by its name in a table of `parts`, so that a new row is a new choice."""

    table: str

    def names(self) -> tuple[str, ...]:
        return tuple(getattr(parts, self.table))


@dataclass(frozen=True)
class Limits:
    """Smallest and largest value of a number."""

    least: int | float
    most: int | float = math.inf


class Checked:
    """Refuses impossible values wherever a config is made, not only where one is read."""

    def __post_init__(self) -> None:
        where = type(self).__name__.removesuffix("Config").lower()
        for name, hint in typing.get_type_hints(type(self), include_extras=True).items():
            value = _convert(getattr(self, name), hint, f"{where}: {name}")
            object.__setattr__(self, name, value)


def to_dict(config: Any) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(kind: type, fields: Any, where: str = "config") -> Any:
    """Builds the dataclass `kind`, refusing unknown names and impossible values."""
    hints = typing.get_type_hints(kind, include_extras=True)
    known = ", ".join(sorted(hints))
    if not isinstance(fields, dict):
        raise BadInput(f"{where}: expected a table of {known}, got {fields!r}")
    fields = {RENAMED.get(name, name): fields[name] for name in fields if name not in RETIRED}
    for name in fields:
        if name not in hints:
            raise BadInput(f"{where}: unknown field '{name}'; the fields are {known}")
    for part in dataclasses.fields(kind):
        if part.name not in fields and _is_required(part):
            raise BadInput(f"{where}: '{part.name}' is missing; the fields are {known}")
    values = {
        name: _convert(value, hints[name], f"{where}: {name}") for name, value in fields.items()
    }
    return kind(**values)


def choices(hint: Any) -> tuple[Any, ...] | None:
    """The values a field of this type may have, if they can be listed."""
    origin = typing.get_origin(hint)
    if origin is Literal:
        return typing.get_args(hint)
    if origin is Annotated and isinstance(hint.__metadata__[0], RowOf):
        return hint.__metadata__[0].names()
    return None


def _is_required(part: dataclasses.Field) -> bool:
    return part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING


def _convert(value: Any, hint: Any, where: str) -> Any:
    """The value as the field has it; raises BadInput where it cannot be one."""
    origin = typing.get_origin(hint)
    if dataclasses.is_dataclass(hint):
        kind = typing.cast(type, hint)
        return value if isinstance(value, kind) else from_dict(kind, value, where)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise BadInput(f"{where}: expected a list, got {value!r}")
        return tuple(_convert(item, typing.get_args(hint)[0], where) for item in value)
    listed = choices(hint)
    if listed is not None:
        if (type(value), value) not in [(type(choice), choice) for choice in listed]:
            raise BadInput(
                f"{where}: {value!r} is not one of {', '.join(str(choice) for choice in listed)}"
            )
        return value
    if origin is Annotated:
        return _in_range(_convert(value, hint.__origin__, where), hint.__metadata__[0], where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise BadInput(f"{where}: expected {hint.__name__}, got {value!r}")
    return value


def _in_range(value: int | float, limits: Limits, where: str) -> int | float:
    if not value >= limits.least:
        raise BadInput(f"{where}: expected at least {limits.least}, got {value!r}")
    if value > limits.most:
        raise BadInput(f"{where}: expected at most {limits.most}, got {value!r}")
    return value
