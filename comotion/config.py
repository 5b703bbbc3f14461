"""What to build and how to train it: frozen dataclasses, to and from TOML."""

import dataclasses
import math
import tomllib
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w

from comotion import parts
from comotion.backend import disk
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


@dataclass(frozen=True)
class SystemConfig(Checked):
    """The parts of a system; `comotion systems` lists the named combinations.

    >>> cm.SystemConfig(pair="radial", order=2).kernel
    'se'
    """

    name: str = "I-GPODE"
    """the system these parts belong to"""
    function: Annotated[str, RowOf("FUNCTIONS")] = "gp"
    """what stands for an unknown law: gp knows how sure it is, mlp (a network) does not, bnn (a
    network with uncertain weights) in part"""
    who: Literal["interacting", "joint"] = "interacting"
    """interacting: f_s (what an object does alone) plus f_b (what each other object does to it),
    for any number of objects; joint: one law of all together, for a fixed number"""
    accumulation: Annotated[str, RowOf("ACCUMULATIONS")] = "sum"
    """how the pushes of several others become one: added up, added with weights, or any function"""
    alone: Annotated[str, RowOf("ALONE")] = "raw"
    """what an object by itself depends on: raw, its place and velocity; axis, each direction for
    itself; mirror, the same on both sides of the middle; speed, only how fast it is; none, nothing
    (it goes straight on)"""
    pair: Annotated[str, RowOf("PAIR")] = "relative"
    """what two objects depend on: raw, places and velocities of both; relative, how they lie to
    each other; galilean, only differences; radial, distance and approach, the same in every
    direction; central, the same along the line between them alone; distance, a push along that line
    by distance alone, which kinds may feel differently; log-distance, the same for forces that are
    steep nearby and reach far; aligning, the same, growing with the gap, and one that evens out
    velocities; body, where the other is as seen by the one that moves; none, they do not care"""
    order: Literal[1, 2] = 1
    """2: the rate of position is velocity, only accelerations are learned"""
    time: Literal["continuous", "discrete"] = "continuous"
    """an ODE, or one jump per frame"""
    hidden_axes: Annotated[int, Limits(1, 3)] = 2
    """axes of the hidden space when no positions are observed, only pixels for example"""
    hidden_velocity: bool = False
    """whether velocities that are not observed are part of the state"""
    latent: Annotated[int, Limits(0)] = 0
    """widen the state of each object to this many entries; 0: only what the others ask for"""
    properties: Literal["none", "observed", "inferred"] = "observed"
    """static properties: left out, given with the data, or inferred from the first frames"""
    property_count: Annotated[int, Limits(1)] = 1
    """how many properties to infer"""
    property_encoder: Literal["small", "large"] = "small"
    """size of the network that infers properties"""
    property_reading: Annotated[str, RowOf("READINGS")] = "features"
    """what the property encoder is told about a pair: features and their differences, or motion
    and rates as seen from the line between the two"""
    property_activation: Literal["elu", "relu"] = "elu"
    """nonlinearity of that network"""
    property_frames: Annotated[int, Limits(1)] = 49
    """frames the property encoder sees"""
    encoder: Literal["gru", "smoother", "filter"] = "gru"
    """states by a recurrent network or Bayesian regression on the first frames, or by a filter at
    the last frame seen"""
    process_noise: Literal["state", "body"] = "state"
    """of the law: none until it is calibrated, or speed and turning apart, with a memory"""
    encoder_frames: Annotated[int, Limits(1)] = 5
    """frames the initial-state encoder sees"""
    decoder: Literal["identity", "linear", "mlp"] = "identity"
    """from state to observation"""
    hidden_decoder: Annotated[int, Limits(1)] = 128
    """hidden units of the decoder when it is a network"""
    scaling: Literal["none", "units"] = "none"
    """data as they are, or in units in which positions and velocities are about one"""
    kernel: Annotated[str, RowOf("KERNELS")] = "se"
    """how smooth a law is expected to be: se very, matern52 and matern32 less, matern12 rough"""
    covariance: Literal["diagonal", "full"] = "diagonal"
    """whether the uncertainty of a law is kept for each support point, or for all together"""
    inducing_alone: Annotated[int, Limits(1)] = 250
    """support points of f_s (inducing inputs): more follow finer detail and cost time; a joint
    system has as many parameters as f_s and f_b together"""
    inducing_pair: Annotated[int, Limits(1)] = 250
    """support points of f_b"""
    fourier_features: Annotated[int, Limits(1)] = 256
    """waves that make up a drawn law between its support points: more are more exact and slower"""
    hidden_alone: Annotated[int, Limits(1)] = 256
    """hidden units of f_s when it is a network"""
    hidden_pair: Annotated[int, Limits(1)] = 512
    """hidden units of f_b when it is a network"""
    activation: Annotated[str, RowOf("ACTIVATIONS")] = "softplus"
    """nonlinearity of laws that are networks"""
    nearest: Annotated[int, Limits(0)] = 0
    """hear only this many nearest objects; 0: everyone the data's graph allows"""
    radius: Annotated[float, Limits(0)] = float("inf")
    """hear only objects this near, in the data's units"""
    substeps: Annotated[int, Limits(1)] = 1
    """RK4 steps per frame"""
    contacts: Literal["off", "hard", "auto"] = "off"
    """hard contacts: none, those found in the data (an error if there are none), or whether there
    are any decided by the data"""

    @property
    def frames_seen(self) -> int:
        """Frames of which a forecast knows anything, by either encoder."""
        inferred = self.properties == "inferred"
        return max(self.encoder_frames, self.property_frames if inferred else 0)


@dataclass(frozen=True)
class Stage(Checked):
    """One round of training on windows of `horizon` frames.

    >>> cm.Stage(horizon=16, iterations=200, learning_rate=1e-2).decay
    'none'
    """

    horizon: Annotated[int, Limits(2)]
    iterations: Annotated[int, Limits(0)]
    learning_rate: Annotated[float, Limits(0)]
    decay: Literal["none", "cosine"] = "none"
    objective: Literal["bound", "score"] = "bound"
    """the evidence bound, or the score of forecasts of `horizon` frames from the last one seen"""


@dataclass(frozen=True)
class Recipe(Checked):
    """How to train: rounds with growing horizons, and what comes before them.

    `fit` takes one as `recipe`; each field can also be given to `fit` by its name.

    >>> rounds = (cm.Stage(5, 100, 1e-2), cm.Stage(16, 200, 1e-2, decay="cosine"))
    >>> cm.Recipe(name="mine", stages=rounds, regression=True).windows
    100
    """

    name: str = "short"
    stages: tuple[Stage, ...] = ()
    windows: Annotated[int, Limits(1)] = 100
    """windows per iteration"""
    draws: Annotated[int, Limits(1)] = 1
    """function draws per iteration (L of the paper)"""
    clip: Annotated[float, Limits(0)] = 0.0
    """largest norm of a gradient per observed value; 0: no limit"""
    kernel_rate: Annotated[float, Limits(0)] = 1.0
    """learning rate of kernels, inducing inputs and property encoder, as a share of the rest's"""
    regression: bool = False
    """start the functions from a regression on the rates that smoothed data show"""
    shooting: Annotated[int, Limits(0)] = 0
    """after that regression, steps of Gauss-Newton on the paths of short windows: laws as sure as
    the observations make them, where nothing but the law moves things"""
    pretrain: Annotated[int, Limits(0)] = 0
    """iterations of fitting rates and initial states directly, before trajectories are followed"""
    find_properties: bool = False
    """find inferred properties as free numbers first; pretraining then teaches the encoder those"""
    start_noise: Annotated[float, Limits(1e-9)] = 0.01
    """share of a feature's variance that its observation noise starts with"""
    tolerance: Annotated[float, Limits(0)] = 0.0
    """share of a feature's variance a trajectory may be off by, beside observation noise"""
    velocity_tolerance: Annotated[float, Limits(0)] = 0.0
    """the same for velocities, which a collision missed by a frame gets wrong at once"""
    calibration: Annotated[int, Limits(0)] = 0
    """windows on which the size of what the law leaves open is chosen, after training; 0: none"""


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


def to_dict(config: Any) -> dict[str, Any]:
    return dataclasses.asdict(config)


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


def replace(config: SystemConfig, **changes: Any) -> SystemConfig:
    """A copy with some parts changed, checked like any other config."""
    return from_dict(SystemConfig, {**to_dict(config), **changes}, where="system")


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
