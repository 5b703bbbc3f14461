"""comotion explore"""

import webbrowser
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

from comotion.cli.model import IntoRun, OwnData, RunOrModel, folder_of, kept_data, load_model
from comotion.cli.output import check_output
from comotion.cli.reading import ReadingOptions

PAGE = "explore.html"


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Write one HTML file in which the fitted model runs, to play with and to share.

    Objects can be dragged, thrown, removed and doubled, ties between them cut: the futures are
    followed again at once. The file needs no network and no server. Without --out it goes into the
    folder of the run and is opened; without DATA it shows the recordings the run has kept.

    Examples:
      comotion explore runs/demo
      comotion explore runs/balls test.csv --out scene.html
      comotion explore runs/peds peds.txt --columns object=id,time=frame --fps 25
      comotion explore model.safetensors test.csv --draws 50 --frames 200 --out scene.html
    """

    model: RunOrModel
    """the folder of a run, or a model file"""
    data: OwnData = None
    """recordings to begin with: a data file, or a folder of them"""
    out: IntoRun = None
    """file to write, .html; an existing one is replaced"""
    draws: Annotated[int, arg(metavar="NUMBER")] = 30
    """how many laws to draw"""
    sequences: Annotated[int, arg(metavar="NUMBER")] = 8
    """how many of the first sequences to show"""
    frames: Annotated[int, arg(metavar="NUMBER")] = 100
    """how many frames to forecast, also beyond the end of a recording"""
    seed: Annotated[int, arg(metavar="NUMBER")] = 0
    """the same seed gives the same draws"""
    title: Annotated[
        str | None, arg(metavar="TEXT", help_behavior_hint="(default: the name of the run)")
    ] = None
    """what stands above the scene"""


def run(options: Options) -> int:
    out = options.out or folder_of(options.model) / PAGE
    check_output(out, (".html",))
    from comotion.report.explorer import explore

    fitted = load_model(options.model)
    data = options.read(options.data or kept_data(options.model))
    page = explore(
        fitted,
        data,
        title=options.title or options.model.resolve().name,
        draws=options.draws,
        sequences=options.sequences,
        frames=options.frames,
        seed=options.seed,
    )
    page.save(out)
    print(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")
    if options.out is None:
        webbrowser.open(out.resolve().as_uri())
    return 0
