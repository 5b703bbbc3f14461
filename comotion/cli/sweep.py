"""comotion sweep"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from comotion.cli.output import as_json, note
from comotion.cli.reading import ReadingOptions
from comotion.errors import BadInput

if TYPE_CHECKING:
    from comotion.jobs.engine import AbstractEngine
    from comotion.reproduce.sweep.search import Study
    from comotion.reproduce.sweep.space import Space

FAILED = 1


@dataclass(frozen=True)
class Options(ReadingOptions):
    """Search for the values of config fields that explain unseen data best.

    A space is a TOML file: tables [studies.SYSTEM] with fields and a list of values each (or
    {low = …, high = …, log = true}), and scale, objects and noise of the simulated data to choose
    on. The space `supplement` is the search of the paper's supplement. With --data it is your own
    data. What is compared is the likelihood of data never trained on; trials that fall behind
    are stopped early. Stop at any time: the same command goes on. Other settings or other data are
    another search, and want another folder.

    The folder gets a journal of all trials, and for each study best.toml, which
    `comotion fit --config` takes, and a plot of what mattered.

    Examples:
      comotion sweep supplement --trials 30
      comotion sweep space.toml --data balls.csv --split 0.8 --trials 50 --workers 4
      comotion sweep supplement --only I-GPODE --on ray --address auto
    """

    space: Annotated[Positional[str], arg(metavar="SPACE")]
    """a TOML file, or supplement"""
    trials: Annotated[int, arg(metavar="NUMBER")] = 20
    """how many trials each study shall have in the end"""
    only: Annotated[tuple[str, ...], arg(metavar="NAME …", help_behavior_hint="")] = ()
    """only these studies of the space"""
    data: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")] = None
    """choose on your own trajectories: a file or a folder"""
    split: Annotated[float, arg(metavar="SHARE")] = 0.8
    """share of them to train on"""
    scale: Annotated[
        Literal["smoke", "fast", "paper"] | None,
        arg(help_behavior_hint="(default: as the space says)"),
    ] = None
    """how much work a trial may be"""
    seed: Annotated[int, arg(metavar="NUMBER")] = 0
    """of noise, models and suggestions"""
    on: Literal["local", "ray"] = "local"
    """processes of this machine, or a Ray cluster that shares the folder"""
    address: Annotated[str | None, arg(metavar="HOST:PORT", help_behavior_hint="")] = None
    """of a Ray cluster that is running; without it one is started on this machine"""
    workers: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: one for two cores)")
    ] = None
    """how many trials at a time"""
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/sweep")
    """folder for the journal and the results"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print the results as JSON instead of text"""


def run(options: Options) -> int:
    from comotion.jobs.engine import engine
    from comotion.reproduce.sweep.search import Study
    from comotion.reproduce.sweep.settings import keep_to, settings

    if options.trials < 1:
        raise BadInput(f"--trials {options.trials}: give at least 1")
    if options.seed < 0:
        raise BadInput(f"--seed {options.seed}: give at least 0")
    space = _space(options)
    out = options.out.resolve()
    data = None if options.data is None else options.data.resolve()
    studies = [
        Study(space, name, out, options.seed, data, options.split, options.wishes)
        for name in options.only or space.studies
    ]
    wanted = [settings(study) for study in studies]
    workers = engine(options.on, options.address, options.workers)
    options.out.mkdir(parents=True, exist_ok=True)
    results, failed = {}, False
    with _alone_in(options.out):
        for study, one in zip(studies, wanted, strict=True):
            keep_to(study, one)
        for study in studies:
            failed |= _search(study, options, workers)
            results[study.name] = _conclude(study, options.out)
    if options.json:
        print(as_json(results))
    else:
        for name, result in results.items():
            print(_told(name, result))
    return FAILED if failed else 0


def _space(options: Options) -> "Space":
    """What the file says, at the scale that was asked for."""
    import dataclasses

    from comotion.reproduce.sweep.space import read_space

    space = read_space(options.space)
    for name in options.only:
        if name not in space.studies:
            raise BadInput(f"--only {name}: the studies are {', '.join(space.studies)}")
    return dataclasses.replace(space, scale=options.scale or space.scale)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One search at a time, so that trials found running at the start are known to be dead."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(
                f"--out {folder}: a search is going on there; give it more --workers instead"
            ) from error
        yield


def _search(study: "Study", options: Options, workers: "AbstractEngine") -> bool:
    """Makes the trials that are missing; whether one of them failed."""
    from contextlib import closing

    from comotion.jobs.engine import Failure
    from comotion.reproduce.sweep.search import finished, forget_the_dead, missing, perform

    forget_the_dead(study)
    failed, done = False, len(finished(study))
    if done:
        note(f"{study.name}: {done} trials are there already")
    with closing(workers.map(perform, missing(study, options.trials))) as results:
        for trial, result in results:
            if isinstance(result, Failure):
                failed = True
                note(f"{study.name}, trial {trial.number + 1}: failed: {result.sentence}")
                continue
            reached = "stopped early" if result["state"] == "PRUNED" else f"{result['value']:.4f}"
            values = ", ".join(f"{field} {value}" for field, value in result["values"].items())
            note(f"{study.name}, {trial.number + 1}/{options.trials}: {reached} ({values})")
    return failed


def _conclude(study: "Study", out: Path) -> dict[str, Any]:
    """Writes the best config and the plot, if any trial was carried through."""
    from comotion.config import write_toml
    from comotion.report import figure_png
    from comotion.report.search import explained, search_figure
    from comotion.reproduce.sweep.search import best_config, finished

    trials = finished(study)
    whole = [(trial.params, trial.value) for trial in trials if trial.state.name == "COMPLETE"]
    best = best_config(study)
    if best is None:
        return {"trials": len(trials), "stopped early": len(trials), "best": None}
    folder = out / study.name
    folder.mkdir(exist_ok=True)
    write_toml(best, folder / "best.toml")
    (folder / "what-mattered.png").write_bytes(figure_png(search_figure(study.name, whole)))
    values, likelihood = max(whole, key=lambda trial: trial[1])
    return {
        "trials": len(trials),
        "stopped early": len(trials) - len(whole),
        "best": {
            "values": values,
            "log_likelihood": likelihood,
            "config": str(folder / "best.toml"),
        },
        "share of the differences": explained(whole),
    }


def _told(name: str, result: dict[str, Any]) -> str:
    head = f"{name}: {result['trials']} trials, {result['stopped early']} stopped early"
    if result["best"] is None:
        return f"{head}; none was carried through"
    best = result["best"]
    values = ", ".join(f"{field} = {value}" for field, value in best["values"].items())
    shares = result["share of the differences"].items()
    mattered = ", ".join(f"{field} {share:.0%}" for field, share in shares)
    return (
        f"{head}\n  best: {values} (log likelihood per value {best['log_likelihood']:.4f}), "
        f"see {best['config']}"
        f"\n  what mattered (share of the differences between trials): {mattered}"
    )
