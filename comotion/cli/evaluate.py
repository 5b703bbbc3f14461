"""comotion evaluate"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from comotion.cli.model import load_model
from comotion.cli.output import as_json, counting
from comotion.cli.reading import ReadingOptions
from comotion.errors import BadInput

if TYPE_CHECKING:
    import xarray as xr

    from comotion.data import Trajectories
    from comotion.scoring import Scores

DRAWS = 100


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Score a model, or a forecast it made, on data.

    Prints errors, likelihoods, coverage of bands and skill, each with its convention, beside two
    forecasts that need no model: climatology (one Gaussian for all times) and constant velocity.

    Examples:
      comotion evaluate runs/balls test.csv
      comotion evaluate runs/balls test.csv --draws 200 --by-lead
      comotion evaluate forecast.nc test.csv --json > scores.json
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """the folder of a run, a model file, or a forecast made by `comotion predict` (.nc)"""
    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """what really happened: a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder"""
    draws: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint=f"(default: {DRAWS})")
    ] = None
    """how many futures to draw from a model; a forecast has its draws already"""
    seed: Annotated[int | None, arg(metavar="NUMBER", help_behavior_hint="(default: 0)")] = None
    """seed of the draws"""
    by_lead: Annotated[bool, arg(help_behavior_hint="")] = False
    """also print how scores change with the lead time"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print JSON instead of text"""
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False
    """show no progress"""


def run(options: Options) -> int:
    from comotion.scoring import evaluate

    data = options.read(options.data)
    scores = evaluate(_forecast(options, data), data, by_lead=options.by_lead)
    if options.json:
        print(as_json(scores.to_dict()))
        return 0
    print(scores)
    if options.by_lead:
        print_lead_table(scores)
    return 0


def print_lead_table(scores: "Scores") -> None:
    import rich

    from comotion.cli.lead_table import lead_table

    print()
    rich.print(lead_table(scores).to_rich())


def _forecast(options: Options, data: "Trajectories") -> "xr.Dataset":
    if options.model.suffix.lower() == ".nc":
        if options.draws is not None or options.seed is not None:
            raise BadInput(f"{options.model} has its draws already; leave --draws and --seed out")
        from comotion.predict.files import read_forecast

        return read_forecast(options.model)
    fitted, draws = load_model(options.model), DRAWS if options.draws is None else options.draws
    with counting("drawing futures", draws, options.quiet) as on_draw:
        return fitted.predict(data, draws=draws, seed=options.seed or 0, on_draw=on_draw)
