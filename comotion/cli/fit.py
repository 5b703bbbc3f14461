"""comotion fit"""

import dataclasses
import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, UseAppendAction, arg

from comotion.cli.interrupt import Stopped, remembering_interrupts
from comotion.cli.reading import ReadingOptions
from comotion.errors import BadInput


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Learn from a data file how things move together.

    Unless a system, parts or a recipe are named, the laws that forecast the held-out end best are
    identified first, as `comotion identify` does. The run is kept in a folder: config.toml (running
    it again gives the same model), metrics.jsonl, checkpoints, model.safetensors and report.html.
    At the end stands how well it forecasts what was held out, beside a straight line and a Kalman
    filter. Ctrl-C stops early and keeps what was learned; --resume goes on as if nothing had
    happened.

    Examples:
      comotion fit balls.csv --split 0.8 --out runs/balls
      comotion fit balls.csv --system I-GPODE-S --set pair=radial --set kernel=matern32
      comotion fit train.csv --valid valid.csv --recipe paper --seed 3 --out runs/3
      comotion fit balls.csv --track tensorboard --out runs/watched
      comotion fit balls.csv --config runs/balls/config.toml --out runs/again
      comotion fit balls.csv --out runs/balls --resume
    """

    data: Annotated[Positional[Path], arg(metavar="DATA")]
    """trajectories to learn from: a .csv, .txt, .parquet, .nc, .npy or .npz file, or a folder"""
    out: Annotated[
        Path | None, arg(metavar="FOLDER", help_behavior_hint="(default: runs/NAME-OF-DATA)")
    ] = None
    """folder for the run"""
    system: Annotated[
        str | None, arg(metavar="NAME", help_behavior_hint="(default: what forecasts best)")
    ] = None
    """which model to fit, a name from `comotion systems`"""
    parts: Annotated[tuple[str, ...], arg(name="set", metavar="PART=VALUE"), UseAppendAction] = ()
    """change one part of the system, or a field of the recipe; `comotion systems --parts`
    explains them"""
    recipe: Annotated[
        str | None, arg(metavar="short|paper", help_behavior_hint="(default: short)")
    ] = None
    """how to train: minutes, or the published 50 000 iterations"""
    iterations: Annotated[int | None, arg(metavar="NUMBER", help_behavior_hint="")] = None
    """training steps in all (default: the recipe's)"""
    effort: Literal["quick", "best"] = "quick"
    """best takes three times as many steps"""
    time_limit: Annotated[float | None, arg(metavar="SECONDS", help_behavior_hint="")] = None
    """take no further training step after this time"""
    config: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """take system, recipe and seed from the config.toml of another run"""
    valid: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """sequences never trained on: watched meanwhile, and used to calibrate the spread afterwards"""
    split: Annotated[
        float | None, arg(metavar="SHARE", help_behavior_hint="(default: 0.8, if there are enough)")
    ] = None
    """train on this share, the first sequences (of few recordings: frames); hold out the rest"""
    seed: Annotated[int | None, arg(metavar="NUMBER", help_behavior_hint="(default: 0)")] = None
    """the same seed gives the same model"""
    resume: Annotated[bool, arg(help_behavior_hint="")] = False
    """go on with the run in the folder, with its own settings"""
    overwrite: Annotated[bool, arg(help_behavior_hint="")] = False
    """replace a run that is in the folder already; otherwise it is moved aside"""
    no_report: Annotated[bool, arg(help_behavior_hint="")] = False
    """do not score forecasts of what was held out, and write no report.html"""
    track: Annotated[
        Literal["tensorboard", "mlflow", "wandb"] | None, arg(help_behavior_hint="")
    ] = None
    """also send the figures of metrics.jsonl there"""
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False
    """show no progress"""


def run(options: Options) -> int:
    out = options.out or Path("runs") / options.data.stem
    settings = _settings(options, out)
    from comotion.identification import fit
    from comotion.train.tracking import tracker

    valid = None if options.valid is None else options.read(options.valid)
    progress = False if options.quiet else None
    watcher = None if options.track is None else tracker(options.track, out, out.name)
    with remembering_interrupts() as memory:
        fitted = fit(
            options.read(options.data),
            valid=valid,
            effort=options.effort,
            time_limit=options.time_limit,
            hold_out=None if options.split is None else 1 - options.split,
            out=out,
            overwrite=options.overwrite,
            report=not options.no_report,
            progress=progress,
            watcher=watcher,
            **settings,
        )
    if memory.interrupted:
        stopped = f"stopped early; the model so far is {out / 'model.safetensors'}"
        if (out / "config.toml").is_file():
            stopped += ", and the same command with --resume goes on"
        raise Stopped(stopped)
    if options.quiet and fitted.findings.skill.lead:
        print(fitted.findings)
    print(f"the model is {out / 'model.safetensors'}")
    if not options.no_report:
        print(f"open {out / 'report.html'}")
    print("next, with data it has not seen:")
    print(f"  comotion predict {out} DATA --out forecast.nc")
    print(f"  comotion evaluate {out} DATA")
    return 0


def _settings(options: Options, out: Path) -> dict[str, Any]:
    """What is asked for: named system, recipe and seed, or those of a config changed as asked."""
    if options.valid is not None and options.split is not None:
        raise BadInput("--valid and --split both say what to hold out; give one of them")
    if options.split is not None and not 0 < options.split <= 1:
        raise BadInput(
            f"--split {options.split:g} leaves nothing to train on; give a share above 0, up to 1"
        )
    parts = dict(parse_part(text) for text in options.parts)
    if options.iterations is not None:
        parts["iterations"] = options.iterations
    if options.resume:
        parts["resume"] = True
    file = _config_file(options, out)
    if file is None:
        named = {"system": options.system, "recipe": options.recipe, "seed": options.seed}
        return {name: value for name, value in named.items() if value is not None} | parts
    from comotion.config import read_toml

    if options.system is not None:
        raise BadInput(f"--system and {file} both name a system; leave one of them out")
    config = read_toml(file)
    return {
        "system": config.system,
        "recipe": options.recipe or config.recipe,
        "seed": config.seed if options.seed is None else options.seed,
        **parts,
    }


def _config_file(options: Options, out: Path) -> Path | None:
    """A resumed run has its own config; whatever else is asked for must then agree with it."""
    own = out / "config.toml"
    if options.resume and not own.is_file():
        raise BadInput(f"{out}: there is no run to resume in this folder; leave --resume out")
    if options.config is None and options.resume and options.system is None:
        return own
    return options.config


def parse_part(text: str) -> tuple[str, Any]:
    """`order=2` is a number, `kernel=matern52` a word, `hidden_velocity=true` a truth."""
    from comotion.config import SystemConfig
    from comotion.train.recipe import WISHES

    name, equals, value = (piece.strip() for piece in text.partition("="))
    known = [field.name for field in dataclasses.fields(SystemConfig)] + sorted(WISHES)
    if not equals or name not in known:
        close = difflib.get_close_matches(name, known, n=1) if equals else []
        guess = f" (did you mean {close[0]}?)" if close else ""
        raise BadInput(
            f"--set {text}: write PART=VALUE{guess}, where PART is one of {', '.join(known)}"
        )
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, {"True": True, "False": False}.get(value, value)
