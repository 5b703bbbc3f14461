"""comotion identify"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from comotion.cli.reading import ReadingOptions


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Say which laws the objects of a data file obey, if any.

    The log evidence of each kind of law is worked out first. What it favours is fitted to all but
    the end of the data and judged by forecasts of that end, beside constant velocity, a Kalman
    filter and climatology. A law is kept only if forecasts are better with it beyond chance.

    Examples:
      comotion identify robots.csv --fps 50
      comotion identify peds.txt --columns object=id,time=frame --fps 25 --effort best
    """

    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder of them"""
    horizon: Annotated[
        int | None, arg(metavar="FRAMES", help_behavior_hint="(default: up to 50)")
    ] = None
    """frames ahead that count"""
    effort: Literal["quick", "best"] = "quick"
    """how long each structure is trained"""
    time_limit: Annotated[float | None, arg(metavar="SECONDS", help_behavior_hint="")] = None
    """nothing new is tried after this time"""
    seed: Annotated[int, arg(metavar="NUMBER")] = 0
    """the same seed gives the same answer"""


def run(options: Options) -> int:
    from comotion.cli.output import note
    from comotion.identification import identify

    print(
        identify(
            options.read(options.data),
            horizon=options.horizon,
            effort=options.effort,
            time_limit=options.time_limit,
            seed=options.seed,
            say=note,
        )
    )
    return 0
