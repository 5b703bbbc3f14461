"""comotion validate"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from comotion.cli.output import as_json
from comotion.cli.reading import ReadingOptions


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Check a data file and say what is in it.

    Says how many sequences, objects and frames there are, what is missing, the range of every
    column, and warns of what is allowed but probably not meant. A file that cannot be used is
    refused with a sentence that names the line or column.

    Examples:
      comotion validate balls.csv
      comotion validate balls.csv --json
    """

    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder of them"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print JSON instead of text"""


def run(options: Options) -> int:
    from comotion.data import describe

    description = describe(options.read(options.data))
    if options.json:
        print(as_json(description.to_dict()))
    else:
        print(description)
    return 0
