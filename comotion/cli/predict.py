"""comotion predict"""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from comotion.cli.model import load_model
from comotion.cli.output import check_output, counting, keeping
from comotion.cli.reading import ReadingOptions, words
from comotion.errors import BadInput

if TYPE_CHECKING:
    import numpy as np

    from comotion.predict.effect import Effect

MOST_TIMES = 1_000_000


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Forecast with a fitted model from the last frames of every object, or from the first ones.

    A .nc file keeps every draw: `trajectory` without and `observation` with observation noise,
    ready for xarray and for `comotion evaluate`. A .csv or .parquet file is a long table with one
    row for each sequence, object, time and feature: mean, sd and quantiles of the draws, noise
    included (q05 to q95 is the 90 % band).

    Examples:
      comotion predict runs/peds now.csv --horizon 5 --out forecast.csv
      comotion predict runs/balls test.csv --out forecast.nc
      comotion predict runs/balls test.csv --draws 500 --seed 1 --out forecast.parquet
      comotion predict model.safetensors test.csv --times 0:100:0.5 --out longer.nc
      comotion predict model.safetensors test.csv --times 10,20,50 --out few.csv
      comotion predict runs/balls test.csv --without 2 --paired --out without.nc
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL")]
    """the folder of a run, or a model file"""
    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder of them"""
    horizon: Annotated[float | None, arg(metavar="TIME", help_behavior_hint="")] = None
    """forecast so far beyond the origin; without it, from the first frames over the data's times"""
    origin: Annotated[str | None, arg(metavar="last|first|TIME", help_behavior_hint="")] = None
    """the last moment that may be seen (default with --horizon: last)"""
    out: Annotated[Path, arg(metavar="FILE")] = Path("forecast.nc")
    """file to write: .nc, .csv or .parquet"""
    draws: Annotated[int, arg(metavar="NUMBER")] = 100
    """how many futures to draw"""
    times: Annotated[
        str | None, arg(metavar="TIMES", help_behavior_hint="(default: the times of the data)")
    ] = None
    """times to forecast, also beyond the data: FIRST:LAST:STEP, or a list such as 10,20,50"""
    seed: Annotated[int, arg(metavar="NUMBER")] = 0
    """the same seed gives the same draws"""
    without: Annotated[str, arg(metavar="OBJECT,…", help_behavior_hint="")] = ""
    """forecast as if these objects were not there"""
    paired: Annotated[bool, arg(help_behavior_hint="")] = False
    """with --without: the same draws with and without them; prints what that changes, and writes
    NAME-base and NAME-effect beside the forecast"""
    overwrite: Annotated[bool, arg(help_behavior_hint="")] = False
    """replace a file of this name; otherwise it is moved aside"""
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False
    """show no progress"""


def run(options: Options) -> int:
    from comotion.data.units import counted

    times = None if options.times is None else parse_times(options.times)
    check_output(options.out, (".nc", ".csv", ".parquet"))
    gone = words(options.without)
    if options.paired and not gone:
        raise BadInput("--paired compares with a change: say which objects to leave out, --without")
    fitted, data = load_model(options.model), options.read(options.data)
    settings: dict[str, Any] = {"draws": options.draws, "times": times, "seed": options.seed}
    settings |= {"horizon": options.horizon, "origin": parse_origin(options.origin)}
    if options.paired:
        return _write_paired(fitted.what_if(data, remove=gone, **settings), options)
    data = data.without(*gone) if gone else data
    into = options.out if options.out.suffix.lower() == ".nc" else None  # draw by draw
    with keeping(options.out, options.overwrite):
        with counting("drawing futures", options.draws, options.quiet) as on_draw:
            forecast = fitted.predict(data, on_draw=on_draw, out=into, **settings)
        if into is None:
            forecast.save(options.out)
    print(f"wrote {options.out}: {options.draws} draws of {counted(len(data), 'sequence')}")
    if times is None and options.horizon is None:
        print(f"next: comotion evaluate {options.out} {options.data}")
    return 0


def _write_paired(found: "Effect", options: Options) -> int:
    from comotion.predict.effect import paired_files

    print(found)
    with ExitStack() as kept:
        for file in paired_files(options.out):
            kept.enter_context(keeping(file, options.overwrite))
        changed, base, difference = found.save(options.out)
    print(f"wrote {changed} (without {options.without}), {base} (with), {difference} (difference)")
    return 0


def parse_origin(text: str | None) -> str | float | None:
    if text in (None, "last", "first"):
        return text
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"--origin {text}: write last, first, or a time such as 12.5") from None


def parse_times(text: str) -> "np.ndarray":
    """FIRST:LAST:STEP, the last time included, or a list with commas."""
    import numpy as np

    try:
        numbers = [float(piece) for piece in text.replace(":", ",").split(",")]
    except ValueError:
        numbers = []
    if not numbers or (":" in text and (len(numbers) != 3 or "," in text)):
        raise BadInput(
            f"--times {text}: write FIRST:LAST:STEP such as 0:50:0.5, or a list such as 10,20,50"
        )
    if ":" not in text:
        return np.array(numbers)
    first, last, step = numbers
    if not (step > 0 and first <= last and (last - first) / step < MOST_TIMES):
        raise BadInput(
            f"--times {text}: the last time must not be before the first, and the step must be "
            f"above 0 and give fewer than {MOST_TIMES} times"
        )
    return first + step * np.arange(int(np.floor((last - first) / step + 1e-9)) + 1)
