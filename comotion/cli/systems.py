"""comotion systems"""

import dataclasses
import shutil
import textwrap
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import arg

from comotion.cli.output import as_json

if TYPE_CHECKING:
    from comotion.config import SystemConfig
    from comotion.report import Table

INDENT: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "    "}
WORDS = {"gp": "Gaussian process", "mlp": "network", "bnn": "Bayesian network"}


@dataclass(frozen=True)
class Options:
    """List the named systems, and the parts that every system is made of.

    A system is a choice of parts; `comotion fit --set PART=VALUE` changes single ones. With
    --paper, those that the paper compares are listed too; endings such as I-GPODE/with-globals say
    what happens to static properties of objects.

    Examples:
      comotion systems
      comotion systems --parts
      comotion systems --paper
      comotion systems --json
    """

    paper: Annotated[bool, arg(help_behavior_hint="")] = False
    """also list the systems of the paper"""
    parts: Annotated[bool, arg(help_behavior_hint="")] = False
    """explain the parts and the fields of a recipe, their choices and their defaults"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print JSON instead of tables"""


def run(options: Options) -> int:
    import rich

    if options.json:
        print(as_json(_as_dict()))
    elif options.parts:
        print(_explained())
    else:
        rich.print(_own_table().to_rich())
        if options.paper:
            rich.print()
            rich.print(_paper_table().to_rich())
    return 0


def _own_table() -> "Table":
    from comotion.report import Column, Table
    from comotion.systems import OURS

    return Table(
        "Systems",
        (Column("system"), Column("for")),
        tuple(OURS.items()),
        notes=(
            "",
            "comotion systems --parts explains every part; --set PART=VALUE changes one",
            "comotion systems --paper lists the systems of the paper",
        ),
    )


def _paper_table() -> "Table":
    from comotion.report import Column, Table
    from comotion.systems import FORMS, OURS, SYSTEMS, system

    rows = tuple(_row(system(name)) for name in SYSTEMS if name not in OURS)
    headings = ("system", "functions", "objects", "order", "time", "state of an object")
    endings = ", ".join(f"/{form}" for form in FORMS)
    return Table(
        "Systems of the paper",
        tuple(Column(name) for name in headings),
        rows,
        notes=(
            "",
            "interacting: f_s of each object plus messages f_b of others, for any number of them",
            "order: 1 learns the rate of the whole state, 2 learns accelerations only",
            f"endings for static properties: {endings}",
        ),
    )


def _row(config: "SystemConfig") -> tuple[str, ...]:
    if config.latent:
        state = f"{config.latent} entries, {config.decoder} decoder"
    elif config.hidden_velocity:
        state = "velocities too, even if hidden"
    else:
        state = "what is observed"
    function = WORDS.get(config.function, config.function)
    return (config.name, function, config.who, str(config.order), config.time, state)


def _explained() -> str:
    """A part with its default and its choices in a line, and below it what it means."""
    from comotion.config import Recipe, SystemConfig

    width = min(shutil.get_terminal_size().columns, 100)
    lines = []
    for title, kind in (("Parts of a system", SystemConfig), ("Fields of a recipe", Recipe)):
        lines.append(f"{title}, each with its default and what else it may be")
        for name, part in _parts(kind).items():
            lines.append(f"\n{name} = {part['default']}   ({part['choices']})")
            lines += textwrap.wrap(part["meaning"], width - 4, **INDENT)
        lines.append("")
    return "\n".join(lines).rstrip()


def _parts(kind: type) -> dict[str, dict[str, Any]]:
    """Fields of a config with the docstrings beneath them."""
    from docstring_parser import parse_from_object

    meanings = {p.arg_name: p.description or "" for p in parse_from_object(kind).params}
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        field.name: {
            "choices": _choices(hints[field.name]),
            "default": _plain(field.default),
            "meaning": " ".join(meanings.get(field.name, "").split()),
        }
        for field in dataclasses.fields(kind)
        if field.name not in ("name", "stages")
    }


def _choices(hint: Any) -> str:
    from comotion.config import choices

    listed = choices(hint)
    if listed is not None:
        return " | ".join(str(choice) for choice in listed)
    hint = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    return {int: "whole number", float: "number", bool: "true | false", str: "word"}[hint]


def _as_dict() -> dict[str, Any]:
    from comotion.config import Recipe, SystemConfig, to_dict
    from comotion.systems import FORMS, SYSTEMS, system

    named = {name: to_dict(system(name)) for name in SYSTEMS}
    return {
        "systems": {
            name: {part: _plain(value) for part, value in config.items()}
            for name, config in named.items()
        },
        "endings": FORMS,
        "parts": _parts(SystemConfig),
        "recipe": _parts(Recipe),
    }


def _plain(value: Any) -> Any:
    """JSON has no infinity."""
    return "inf" if value == float("inf") else value
