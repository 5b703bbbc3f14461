"""comotion simulate"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from comotion.cli.output import check_output
from comotion.errors import BadInput


@dataclass(frozen=True)
class Options:
    """Make a data set whose true law of motion is known.

    Scenes:
      bouncing-balls     equal balls that bounce off each other
      charged-particles  charges of -1 or +1: like ones repel, unlike ones attract
      springs            masses, each pair of them joined by a spring or not (.nc
                         only: a table has no place for who is joined to whom)

    All of them are in a box with reflecting walls.

    Examples:
      comotion simulate bouncing-balls --noise low --out balls.csv
      comotion simulate bouncing-balls --sequences 100 --objects 5 --seed 1
      comotion simulate charged-particles --hide-velocities --out charges.parquet
      comotion simulate springs --frames 50 --seed 1 --out springs.nc
    """

    scene: Annotated[
        Positional[Literal["bouncing-balls", "charged-particles", "springs"]],
        arg(metavar="SCENE"),
    ]
    """bouncing-balls, charged-particles or springs"""
    out: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: SCENE.csv, springs.nc)")
    ] = None
    """file to write: .csv, .parquet or .nc; an existing one is replaced"""
    sequences: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: 300, charges 700)")
    ] = None
    """how many independent sequences"""
    objects: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: 3 balls, 5 others)")
    ] = None
    """how many objects in each sequence"""
    frames: Annotated[int, arg(metavar="NUMBER")] = 100
    """how many frames in each sequence"""
    step: Annotated[
        float | None, arg(metavar="TIME", help_behavior_hint="(default: 0.5, charges 0.05)")
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


def run(options: Options) -> int:
    out = options.out or Path(options.scene + (".nc" if options.scene == "springs" else ".csv"))
    check_output(out, (".nc",) if options.scene == "springs" else (".csv", ".parquet", ".nc"))
    arguments = _arguments(options)
    from comotion import data, simulate

    trajectories = getattr(simulate, options.scene.replace("-", "_"))(**arguments)
    data.write(trajectories, out)
    print(f"wrote {out}: {trajectories!r}")
    print(f"next: comotion fit {out} --split 0.8 --out runs/{out.stem}")
    return 0


def _arguments(options: Options) -> dict[str, Any]:
    """What was given; the rest is up to the scene."""
    given: dict[str, Any] = {
        name: value
        for name in ("sequences", "objects", "step")
        if (value := getattr(options, name)) is not None
    }
    given |= {"frames": options.frames, "seed": options.seed, "noise": _noise(options.noise)}
    given["velocities"] = not options.hide_velocities
    if options.hide_charges and options.scene != "charged-particles":
        raise BadInput(f"--hide-charges: there are no charges in {options.scene}; leave it out")
    return given | ({"charges": False} if options.hide_charges else {})


def _noise(level: str) -> str | float:
    try:
        return float(level)
    except ValueError:
        return level
