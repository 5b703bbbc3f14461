"""The figures of `comotion reproduce figures`: runs of the tables, loaded and drawn."""

import time
from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from comotion.cli.output import note
from comotion.data import Trajectories
from comotion.jobs.engine import AbstractEngine, Failure
from comotion.predict import fields, load
from comotion.report import figure_png
from comotion.report.paper_figures import bands_figure, overview_figure, single_ball_figure
from comotion.reproduce import runs_of, select, table
from comotion.reproduce.drive import OTHERS_PAUSE
from comotion.reproduce.perform import Task, perform
from comotion.reproduce.runs import Run
from comotion.reproduce.scenes import parts_of, single_ball

SYSTEMS = ("I-GPODE", "I-NODE", "I-BNODE")
SHOWN = 3
"""sequences, from the first on"""


def figure_runs(scale: str) -> list[Run]:
    """Three balls without noise, seed 0: runs that the tables have as well."""
    chosen = select(table("interactions"), noise=["none"], systems=SYSTEMS)
    return [run for run in runs_of(chosen, scale, seeds=1) if run.source.name in SYSTEMS]


def write_figures(runs: Sequence[Run], folder: Path, out: Path, scale: str) -> list[Path]:
    models = {run.source.name: load(_file(run, folder)) for run in runs}
    scene, seed, draws = runs[0].scene, runs[0].seed, runs[0].draws
    parts, alone = parts_of(scene, seed), single_ball(scene, seed).seen[:SHOWN]
    shown = {"train": parts.train.seen[:SHOWN], "test": parts.test.seen[:SHOWN]}

    def forecast(name: str, data: Trajectories) -> xr.Dataset:
        return models[name].predict(data, draws=draws, candidates=1).dataset

    drawn = {}
    for view, data in shown.items():
        forecasts = {name: forecast(name, data) for name in ("I-GPODE", "I-NODE")}
        title = f"95 % and 50 % bands on {view} sequences, scale {scale}"
        drawn[f"bands-{view}"] = bands_figure(title, forecasts, data)
    single = {name: forecast(name, alone) for name in models}
    drawn["single-ball"] = single_ball_figure(single, alone)
    learned = fields(models["I-GPODE"], draws=20)
    drawn["overview"] = overview_figure(forecast("I-GPODE", shown["test"]), learned, shown["test"])
    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"figure-{name}-{scale}.png" for name in drawn]
    for path, figure in zip(paths, drawn.values(), strict=True):
        path.write_bytes(figure_png(figure))
    return paths


def make_models_again(
    runs: Sequence[Run], folder: Path, engine: AbstractEngine, track: str = ""
) -> bool:
    """Models of rows that came from another folder or machine; whether all are there then.

    Those that another process is making are waited for.
    """
    while missing := [run for run in runs if not _file(run, folder).exists()]:
        tasks = [Task(run, folder, track) for run in missing]
        free = [(task, claim) for task in tasks if (claim := task.claim()) is not None]
        if free:
            note(f"{len(free)} models are not in {folder}: they are fitted again")
        try:
            results = list(engine.map(perform, [task for task, _ in free]))
        finally:
            for _, claim in free:
                claim.release()
        failed = [(task, result) for task, result in results if isinstance(result, Failure)]
        for task, failure in failed:
            note(f"failed  {task.run.title}: {failure.sentence}")
        if failed:
            return False
        if not free:
            time.sleep(OTHERS_PAUSE)
    return True


def _file(run: Run, folder: Path) -> Path:
    return folder / run.id / "model.safetensors"
