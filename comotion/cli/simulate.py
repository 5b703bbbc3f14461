"""comotion simulate"""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from comotion.cli.output import check_output, keeping
from comotion.errors import BadInput

if TYPE_CHECKING:
    from comotion.report import Table
    from comotion.simulate import Simulator


@dataclass(frozen=True)
class Options:
    """Make a data set whose true law of motion is known.

    Without a scene, the scenes there are and their defaults are listed. Those in which only
    some objects act on each other are written as .nc: a table has no place for who does.

    Examples:
      comotion simulate
      comotion simulate bouncing-balls --noise low --out balls.csv
      comotion simulate bouncing-balls --sequences 100 --objects 5 --seed 1
      comotion simulate charged-particles --hide-velocities --out charges.parquet
      comotion simulate springs --frames 50 --seed 1 --out springs.nc
    """

    scene: Annotated[Positional[str], arg(metavar="SCENE", help_behavior_hint="")] = ""
    """what to simulate, a name from the list"""
    out: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: SCENE.csv or SCENE.nc)")
    ] = None
    """file to write: .csv, .parquet or .nc"""
    sequences: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: see the list)")
    ] = None
    """how many independent sequences"""
    objects: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: see the list)")
    ] = None
    """how many objects in each sequence"""
    frames: Annotated[int, arg(metavar="NUMBER")] = 100
    """how many frames in each sequence"""
    step: Annotated[
        float | None, arg(metavar="TIME", help_behavior_hint="(default: see the list)")
    ] = None
    """time from frame to frame"""
    noise: Annotated[str, arg(metavar="LEVEL")] = "none"
    """none, low (0.02), high (0.04), higher (0.08), or a share of each feature's range"""
    seed: Annotated[int, arg(metavar="NUMBER")] = 0
    """the same seed gives the same data"""
    hide_velocities: Annotated[bool, arg(help_behavior_hint="")] = False
    """write positions only"""
    hide_charges: Annotated[bool, arg(help_behavior_hint="")] = False
    """leave the charges of charged-particles out"""
    overwrite: Annotated[bool, arg(help_behavior_hint="")] = False
    """replace a file of this name; otherwise it is moved aside"""


def run(options: Options) -> int:
    from comotion import data
    from comotion.simulate import SIMULATORS

    if not options.scene:
        import rich

        rich.print(_scenes_table().to_rich())
        return 0
    if options.scene not in SIMULATORS:
        raise BadInput(
            f"there is no scene '{options.scene}': choose one of {', '.join(SIMULATORS)}"
        )
    simulator = SIMULATORS[options.scene]
    endings = (".nc",) if simulator.has_graph else (".csv", ".parquet", ".nc")
    out = options.out or Path(options.scene + endings[0])
    check_output(out, endings)
    trajectories = simulator.make(**_arguments(options, simulator))
    with keeping(out, options.overwrite):
        data.write(trajectories, out)
    print(f"wrote {out}: {trajectories!r}")
    print(f"next: comotion fit {out} --split 0.8 --out runs/{out.stem}")
    return 0


def _scenes_table() -> "Table":
    from comotion.report import Column, Table
    from comotion.simulate import SIMULATORS

    sizes = ("sequences", "objects", "step")
    rows = []
    for name, simulator in SIMULATORS.items():
        defaults = inspect.signature(simulator.make).parameters
        rows.append((name, *(str(defaults[size].default) for size in sizes), simulator.about))
    headings = ("scene", *sizes, "what it does")
    return Table("Scenes", tuple(Column(heading) for heading in headings), tuple(rows))


def _arguments(options: Options, simulator: "Simulator") -> dict[str, Any]:
    """What was given; the rest is up to the scene."""
    given: dict[str, Any] = {
        name: value
        for name in ("sequences", "objects", "step")
        if (value := getattr(options, name)) is not None
    }
    given |= {"frames": options.frames, "seed": options.seed, "noise": _noise(options.noise)}
    given["velocities"] = not options.hide_velocities
    if not options.hide_charges:
        return given
    if "charges" not in inspect.signature(simulator.make).parameters:
        raise BadInput(f"--hide-charges: there are no charges in {options.scene}; leave it out")
    return given | {"charges": False}


def _noise(level: str) -> str | float:
    try:
        return float(level)
    except ValueError:
        return level
