"""comotion evaluate"""

from dataclasses import dataclass, replace
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
    from comotion.reproduce.conventions import Scores
    from comotion.scoring import Evaluation

DRAWS = 100


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Score a model, or a forecast it made, on data.

    Prints five lines: skill, error in the data's units, coverage of bands, until when it is
    useful, and what it was made from. A model forecasts again and again along the data and is
    scored on what it has not seen, beside climatology, constant velocity and a Kalman filter.

    Examples:
      comotion evaluate runs/balls test.csv --train train.csv
      comotion evaluate runs/peds test.csv --seen 8 --horizon 12 --table
      comotion evaluate runs/balls test.csv --paper --by-lead
      comotion evaluate forecast.csv test.csv
      comotion evaluate forecast.nc test.csv --json > scores.json
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """the folder of a run, a model file, or a forecast made by `comotion predict`"""
    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """what really happened: a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder"""
    train: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: DATA itself)")
    ] = None
    """data to fit the references to, best those the model was fitted to"""
    seen: Annotated[
        int | None, arg(metavar="FRAMES", help_behavior_hint="(default: the model's)")
    ] = None
    """how many frames a forecast may see"""
    horizon: Annotated[
        int | None, arg(metavar="FRAMES", help_behavior_hint="(default: half of the rest)")
    ] = None
    """how many frames to forecast"""
    draws: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint=f"(default: {DRAWS})")
    ] = None
    """how many futures to draw from a model; a forecast has its draws already"""
    seed: Annotated[int | None, arg(metavar="NUMBER", help_behavior_hint="(default: 0)")] = None
    """seed of the draws"""
    table: Annotated[bool, arg(help_behavior_hint="")] = False
    """also print every measure of every row"""
    paper: Annotated[bool, arg(help_behavior_hint="")] = False
    """scores of the paper's tables instead: from the first frames, over all frames"""
    by_lead: Annotated[bool, arg(help_behavior_hint="")] = False
    """with --paper, also print how scores change with the lead time"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print JSON instead of text, with every measure at every lead"""
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False
    """show no progress"""


def run(options: Options) -> int:
    data = options.read(options.data)
    if options.paper:
        return _print_paper(options, data)
    if options.by_lead:
        raise BadInput("--by-lead is for --paper; --json has every measure at every lead")
    found = _evaluated(options, data)
    if options.json:
        print(as_json(found.to_dict()))
        return 0
    print(found)
    if options.table:
        print(f"\n{found.table}")
    return 0


def _evaluated(options: Options, data: "Trajectories") -> "Evaluation":
    from comotion.scoring import Protocol, evaluate
    from comotion.scoring.at_origins import default_protocol

    train = None if options.train is None else options.read(options.train)
    if _is_forecast(options):
        if options.seen is not None or options.horizon is not None:
            raise BadInput(f"{options.model} is made already; leave --seen and --horizon out")
        return evaluate(_finished(options), data, train=train)
    fitted = load_model(options.model)
    usual = default_protocol(fitted, data)
    protocol: Protocol = replace(
        usual, seen=options.seen or usual.seen, horizon=options.horizon or usual.horizon
    )
    draws, seed = options.draws or DRAWS, options.seed or 0
    return evaluate(fitted, data, train=train, protocol=protocol, draws=draws, seed=seed)


def _print_paper(options: Options, data: "Trajectories") -> int:
    from comotion.reproduce.conventions import paper_scores

    scores = paper_scores(_forecast(options, data), data, by_lead=options.by_lead)
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


def _is_forecast(options: Options) -> bool:
    return options.model.suffix.lower() in (".nc", ".csv", ".parquet")


def _finished(options: Options) -> "xr.Dataset":
    if options.draws is not None or options.seed is not None:
        raise BadInput(f"{options.model} has its draws already; leave --draws and --seed out")
    from comotion.predict.files import read_forecast

    return read_forecast(options.model)


def _forecast(options: Options, data: "Trajectories") -> "xr.Dataset":
    if _is_forecast(options):
        forecast = _finished(options)
        if "observation" not in forecast:
            raise BadInput(f"{options.model} has no draws, which --paper needs; write a .nc file")
        return forecast
    fitted, draws = load_model(options.model), DRAWS if options.draws is None else options.draws
    with counting("drawing futures", draws, options.quiet) as on_draw:
        seed = options.seed or 0
        return fitted.predict(data, draws=draws, seed=seed, on_draw=on_draw).dataset
