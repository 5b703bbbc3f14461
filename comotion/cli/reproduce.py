"""comotion reproduce"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from comotion.cli.output import as_json, note
from comotion.cli.reproduce_status import show_check, show_status
from comotion.errors import BadInput

if TYPE_CHECKING:
    from comotion.jobs.rows import RunRows
    from comotion.reproduce import Found

FAILED = 1
ALL, FIGURES = "all", "figures"
PAGE_WIDTH = 150


@dataclass(frozen=True)
class Options:
    """Make a table of the paper again, beside what it prints and what needs no model.

    The tables are gps, interactions, missing-vel, charges, lnode, disent, discr-cont-gp, bb2, bb3,
    supp:missing-vel and supp:charges, or `all`; `figures` draws the paper's figures. Scales: smoke
    takes seconds a run and shows only that everything works, quick a minute or two, fast minutes,
    paper trains as published. A seed decides measurement noise, the model's start and the draws;
    the motion is always the same.

    Every finished run leaves a row, and starting again makes only what is missing: stop at any
    time, or start the same command twice to share the work. Tables share their runs.

    Examples:
      comotion reproduce gps --scale smoke
      comotion reproduce bb2 --scale fast --seeds 1 --noise low --systems I-GPODE I-NODE
      comotion reproduce interactions --scale paper --on ray --address auto
      comotion reproduce figures --scale fast
      comotion reproduce all --status --rows benchmarks/results/reproduce.jsonl
    """

    table: Annotated[Positional[str], arg(metavar="TABLE")]
    """which table, all of them, or figures"""
    status: Annotated[bool, arg(help_behavior_hint="")] = False
    """make nothing: say what is there, what an older recipe made, what is missing, and how many
    hours that would take"""
    check: Annotated[bool, arg(help_behavior_hint="")] = False
    """make nothing: compare every cell that is there with the paper's and list those that miss"""
    scale: Literal["smoke", "quick", "fast", "paper"] = "fast"
    """how much work a run may be"""
    seeds: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: 5, at scale smoke 1)")
    ] = None
    """how many seeds: 0, 1, …"""
    noise: Annotated[tuple[str, ...], arg(metavar="LEVEL …", help_behavior_hint="")] = ()
    """only these noise levels of the table: none, low, high, higher"""
    systems: Annotated[tuple[str, ...], arg(metavar="NAME …", help_behavior_hint="")] = ()
    """only these systems of the table"""
    on: Literal["local", "ray"] = "local"
    """processes of this machine, or a Ray cluster that shares the folder"""
    address: Annotated[str | None, arg(metavar="HOST:PORT", help_behavior_hint="")] = None
    """of a Ray cluster that is running; without it one is started on this machine"""
    workers: Annotated[
        int | None, arg(metavar="NUMBER", help_behavior_hint="(default: one for two cores)")
    ] = None
    """how many runs at a time"""
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/reproduce")
    """folder for tables, plots, models and what a run needs to go on"""
    rows: Annotated[
        Path | None, arg(metavar="FILE", help_behavior_hint="(default: FOLDER/rows.jsonl)")
    ] = None
    """file with one JSON row for each finished run"""
    track: Annotated[
        Literal["tensorboard", "mlflow", "wandb"] | None, arg(help_behavior_hint="")
    ] = None
    """also send the figures of every training step there"""
    json: Annotated[bool, arg(help_behavior_hint="")] = False
    """print the numbers as JSON instead of tables; of figures, their files"""


def run(options: Options) -> int:
    from comotion.jobs.engine import engine
    from comotion.jobs.rows import RunRows
    from comotion.reproduce import found, labels, runs_of, select, table
    from comotion.reproduce.drive import drive
    from comotion.reproduce.scales import SCALES
    from comotion.reproduce.today import id_of
    from comotion.train.tracking import check_tracker

    seeds = SCALES[options.scale].seeds if options.seeds is None else options.seeds
    if seeds < 1:
        raise BadInput(f"--seeds {seeds}: give at least 1")
    if options.track:
        check_tracker(options.track)
    rows = RunRows(options.rows or options.out / "rows.jsonl")
    if options.table == FIGURES:
        return _figures(options, rows)
    names = labels() if options.table == ALL else [options.table]
    chosen = [select(table(name), options.noise, options.systems) for name in names]
    if options.status:
        return show_status(chosen, rows.read(), options.scale, seeds)
    if options.check:
        return show_check(chosen, rows.read(), options.scale)
    runs = [run for one in chosen for run in runs_of(one, options.scale, seeds)]
    failures = drive(
        runs,
        rows,
        engine(options.on, options.address, options.workers),
        folder=options.out.resolve() / "runs",
        say=note,
        track=options.track or "",
    )
    wanted = {run.id for run in runs}
    made = [row for row in rows.read() if id_of(row) in wanted]
    for one in chosen:
        _show(found(one, made, options.scale), options)
    return FAILED if failures else 0


def _figures(options: Options, rows: "RunRows") -> int:
    """The models of a few runs of the tables, and what the paper draws of such models."""
    if options.noise or options.systems or options.seeds is not None:
        raise BadInput("figures are of three balls without noise, seed 0; leave the choice out")
    from comotion.cli.reproduce_figures import figure_runs, make_models_again, write_figures
    from comotion.jobs.engine import engine
    from comotion.reproduce.drive import drive

    runs, folder = figure_runs(options.scale), options.out.resolve() / "runs"
    workers = engine(options.on, options.address, options.workers)
    if drive(runs, rows, workers, folder=folder, say=note, track=options.track or ""):
        return FAILED
    if not make_models_again(runs, folder, workers, options.track or ""):
        return FAILED
    written = [str(path) for path in write_figures(runs, folder, options.out, options.scale)]
    if options.json:
        print(as_json(written))
    else:
        print("\n".join(f"wrote {path}" for path in written))
    return 0


def _show(made: "Found", options: Options) -> None:
    from rich.console import Console

    from comotion.report import figure_png, reproduction_table, skill_figure

    console = Console(width=None if sys.stdout.isatty() else PAGE_WIDTH)

    options.out.mkdir(parents=True, exist_ok=True)
    stem = f"{made.table.label.replace(':', '-')}-{made.scale}"
    tables = {view: reproduction_table(made, view) for view in made.table.views}
    faces = {".md": "to_markdown", ".csv": "to_csv", ".tex": "to_latex"}
    for view, shown in tables.items():
        for ending, face in faces.items():
            (options.out / f"{stem}-{view}{ending}").write_text(getattr(shown, face)())
        if not options.json:
            console.print(shown.to_rich())
            console.print()
    (options.out / f"{stem}-skill.png").write_bytes(
        figure_png(skill_figure(made, made.table.views[-1]))
    )
    if options.json:
        print(as_json(_as_dict(made)))
    else:
        print(f"wrote {options.out / stem}-….md, .csv, .tex and {stem}-skill.png")


def _as_dict(made: "Found") -> dict[str, Any]:
    from comotion.reproduce.conventions import METRICS

    return {
        "table": made.table.label,
        "scale": made.scale,
        "lines": [
            {
                "setting": line.setting,
                "system": line.name,
                "seeds": len(line.rows),
                "paper": line.printed,
                "ours": {
                    view: {name: line.ours(view, name) for name in METRICS}
                    for view in made.table.views
                },
                "against the paper": {
                    view: made.differing(view).get(number, "") for view in made.table.views
                },
            }
            for number, line in enumerate(made.lines)
        ],
    }
