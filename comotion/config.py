"""What to build and how to train it: frozen dataclasses, to and from TOML."""

import dataclasses
import importlib
import tomllib
import types
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w

from comotion.errors import BadInput

RANGES: dict[str, tuple[float, float | None]] = {
    "hidden_axes": (1, 3),
    "latent": (0, None),
    "property_count": (1, None),
    "property_frames": (1, None),
    "encoder_frames": (1, None),
    "inducing_alone": (1, None),
    "inducing_pair": (1, None),
    "fourier_features": (1, None),
    "hidden_decoder": (1, None),
    "hidden_alone": (1, None),
    "hidden_pair": (1, None),
    "nearest": (0, None),
    "radius": (0, None),
    "substeps": (1, None),
    "horizon": (2, None),
    "iterations": (0, None),
    "learning_rate": (0, None),
    "windows": (1, None),
    "draws": (1, None),
    "clip": (0, None),
    "pretrain": (0, None),
    "start_noise": (1e-9, None),
    "tolerance": (0, None),
    "velocity_tolerance": (0, None),
    "seed": (0, None),
}
"""Smallest and largest values of the fields that have them."""


RENAMED = {
    "warm_start": "regression",
    "matching": "pretrain",
    "free_properties": "find_properties",
}
RETIRED = {"events"}
"""What fields were called in files of earlier versions, and those that decide nothing any more."""


@dataclass(frozen=True)
class RowOf:
    """A part is chosen by its name in a table of parts, so that a new row is a new choice.

    Tables live in rooms above this one and bring JAX with them: they are looked up by name, and
    only when a config is checked.
    """

    room: str
    table: str

    def names(self) -> tuple[str, ...]:
        return tuple(getattr(importlib.import_module(self.room), self.table))


@dataclass(frozen=True)
class SystemConfig:
    """The parts of a system; `comotion systems` lists the named combinations."""

    name: str = "I-GPODE"
    """the system these parts belong to"""
    function: Annotated[str, RowOf("comotion.functions", "FUNCTIONS")] = "gp"
    """how unknown functions are represented"""
    who: Literal["interacting", "joint"] = "interacting"
    """f_s plus messages f_b, or one function of all objects"""
    accumulation: Annotated[str, RowOf("comotion.dynamics", "ACCUMULATIONS")] = "sum"
    """how the messages of the neighbours become one rate"""
    alone: Annotated[str, RowOf("comotion.coordinates", "ALONE")] = "raw"
    """coordinates of f_s"""
    pair: Annotated[str, RowOf("comotion.coordinates", "PAIR")] = "relative"
    """coordinates of f_b"""
    order: Literal[1, 2] = 1
    """2: the rate of position is velocity, only accelerations are learned"""
    time: Literal["continuous", "discrete"] = "continuous"
    """an ODE, or one jump per frame"""
    hidden_axes: int = 2
    """axes of the hidden space when no positions are observed, only pixels for example"""
    hidden_velocity: bool = False
    """whether velocities that are not observed are part of the state"""
    latent: int = 0
    """widen the state of each object to this many entries; 0: only what the others ask for"""
    properties: Literal["none", "observed", "inferred"] = "observed"
    """static properties: left out, given with the data, or inferred from the first frames"""
    property_count: int = 1
    """how many properties to infer"""
    property_encoder: Literal["small", "large"] = "small"
    property_reading: Annotated[str, RowOf("comotion.encode", "READINGS")] = "features"
    """what the property encoder is told about a pair: features and their differences, or motion
    and rates as seen from the line between the two"""
    property_activation: Literal["elu", "relu"] = "elu"
    property_frames: int = 49
    """frames the property encoder sees"""
    encoder: Literal["gru", "smoother"] = "gru"
    """initial states by a recurrent network, or by Bayesian regression on the first frames"""
    encoder_frames: int = 5
    """frames the initial-state encoder sees"""
    decoder: Literal["identity", "linear", "mlp"] = "identity"
    """from state to observation"""
    hidden_decoder: int = 128
    """hidden units of the decoder when it is a network"""
    scaling: Literal["none", "units"] = "none"
    """data as they are, or in units in which positions and velocities are about one"""
    kernel: Annotated[str, RowOf("comotion.gp", "KERNELS")] = "se"
    covariance: Literal["diagonal", "full"] = "diagonal"
    """covariance of q(U)"""
    inducing_alone: int = 250
    """inducing inputs of f_s; a joint system has as many parameters as f_s and f_b together"""
    inducing_pair: int = 250
    """inducing inputs of f_b"""
    fourier_features: int = 256
    hidden_alone: int = 256
    """hidden units of f_s when it is a network"""
    hidden_pair: int = 512
    """hidden units of f_b when it is a network"""
    activation: Annotated[str, RowOf("comotion.functions", "ACTIVATIONS")] = "softplus"
    nearest: int = 0
    """hear only this many nearest objects; 0: everyone the data's graph allows"""
    radius: float = float("inf")
    """hear only objects this near, in the data's units"""
    substeps: int = 1
    """RK4 steps per frame"""


@dataclass(frozen=True)
class Stage:
    """One round of training on windows of `horizon` frames."""

    horizon: int
    iterations: int
    learning_rate: float
    decay: Literal["none", "cosine"] = "none"


@dataclass(frozen=True)
class Recipe:
    """How to train: rounds with growing horizons, and what comes before them."""

    name: str = "short"
    stages: tuple[Stage, ...] = ()
    windows: int = 100
    """windows per iteration"""
    draws: int = 1
    """function draws per iteration (L of the paper)"""
    clip: float = 0.0
    """largest norm of a gradient per observed value; 0: no limit"""
    kernel_rate: float = 1.0
    """learning rate of kernels, inducing inputs and property encoder, as a share of the rest's"""
    regression: bool = False
    """start the functions from a regression on the rates that smoothed data show"""
    pretrain: int = 0
    """iterations of fitting rates and initial states directly, before trajectories are followed"""
    find_properties: bool = False
    """find inferred properties as free numbers first; pretraining then teaches the encoder those"""
    start_noise: float = 0.01
    """share of a feature's variance that its observation noise starts with"""
    tolerance: float = 0.0
    """share of a feature's variance a trajectory may be off by, beside observation noise"""
    velocity_tolerance: float = 0.0
    """the same for velocities, which a collision missed by a frame gets wrong at once"""
    calibration: int = 0
    """windows on which the size of what the law leaves open is chosen, after training; 0: none"""


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides a run, so that running it again gives the same model."""

    system: SystemConfig = field(default_factory=SystemConfig)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0


def to_dict(config: Any) -> dict[str, Any]:
    return dataclasses.asdict(config)


def write_toml(config: RunConfig, path: Path) -> None:
    path.write_text(tomli_w.dumps(to_dict(config)))


def read_toml(path: Path) -> RunConfig:
    try:
        fields = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path}: not a readable TOML file ({error})") from error
    return from_dict(RunConfig, fields, where=str(path))


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
    for name, value in values.items():
        _check_range(name, value, where)
    return kind(**values)


def replace(config: SystemConfig, **changes: Any) -> SystemConfig:
    """A copy with some parts changed, checked like any other config."""
    return from_dict(SystemConfig, {**to_dict(config), **changes}, where="system")


def choices(hint: Any) -> tuple[Any, ...] | None:
    """The values a field of this type may have, if they can be listed."""
    origin = typing.get_origin(hint)
    if origin is Literal:
        return typing.get_args(hint)
    if origin is Annotated:
        return hint.__metadata__[0].names()
    return None


def _check_range(name: str, value: Any, where: str) -> None:
    least, most = RANGES.get(name, (None, None))
    if least is not None and not value >= least:
        raise BadInput(f"{where}: {name}: expected at least {least}, got {value!r}")
    if most is not None and value > most:
        raise BadInput(f"{where}: {name}: expected at most {most}, got {value!r}")


def _is_required(part: dataclasses.Field) -> bool:
    return part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING


def _convert(value: Any, hint: Any, where: str) -> Any:
    origin = typing.get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return from_dict(typing.cast(type, hint), value, where)
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
    assert not isinstance(hint, types.UnionType)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise BadInput(f"{where}: expected {hint.__name__}, got {value!r}")
    return value
