"""comotion validate"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from comotion.cli.output import as_json
from comotion.cli.reading import ReadingOptions


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Check a data file and say what is in it.

    Says which columns were taken for what, how many sequences, objects and frames there are, what
    is missing, the range of every column, and warns of what is allowed but probably not meant.
    Then: what a fit would do with the data, and how long it would take. A file that cannot be used
    is refused with a sentence that names the line or column.

    Examples:
      comotion validate balls.csv
      comotion validate peds.txt --columns object=id,time=frame --fps 25
      comotion validate balls.csv --json
    """

    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder of them"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print JSON instead of text"""


def run(options: Options) -> int:
    from comotion.data import describe
    from comotion.data.reading import understand
    from comotion.identification.price import named_costs, search_cost
    from comotion.systems import MOTION
    from comotion.train.plan import plan

    reading = understand(options.data, options.wishes)
    data, description = reading.data, describe(reading.data)
    planned = plan(data, system=MOTION)
    price = search_cost(planned)
    if options.json:
        told = description.to_dict() | {"notes": reading.notes, "plan": planned.sentences}
        print(as_json(told | {"fit": asdict(price)}))
        return 0
    print(description)
    warned = {f"note: {warning}" for warning in description.warnings}
    rest = [sentence for sentence in planned.sentences if sentence not in warned]
    for label, sentences in (("read", reading.notes), ("a fit", rest)):
        for sentence in sentences:
            print(f"{label:<11} {sentence}")
    print(f"{'a fit takes':<11} {price}")
    if price.structures:
        named = (f"--system {name} {price.time}" for name, price in named_costs(planned).items())
        print(f"{'':<11} as up to {price.structures} structures are tried first, those that the")
        print(f"{'':<11} evidence favours; --time-limit SECONDS ends the search early,")
        print(f"{'':<11} and without it: {', '.join(named)}")
    return 0
