"""Make one run: simulate, learn, forecast, score; and the row it leaves."""

import json
import os
import platform
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from comotion.backend.disk import Claim, claim
from comotion.jobs.clock import Clock
from comotion.jobs.provenance import provenance
from comotion.jobs.rows import Row
from comotion.reproduce.conventions import Scores, paper_scores
from comotion.reproduce.runs import Forecaster, Run
from comotion.reproduce.scales import TABLE_DRAWS
from comotion.reproduce.scenes import Part, parts_of, single_ball
from comotion.train.progress import Watcher
from comotion.train.tracking import tracker

SINGLE_LENGTHS = (10, 33, 100)
BY_LEAD = ("skill_crps", "mse_mean_table", "ell_table_all_draws")
DRAWN = ("trajectory", "observation")
FARTHEST = 1000.0
"""Standard deviations of climatology."""
DIGITS, LEAD_DIGITS = 5, 3


@dataclass(frozen=True)
class Task:
    """A run, and where it may keep what it needs to go on after an interruption."""

    run: Run
    folder: Path
    track: str = ""

    @property
    def home(self) -> Path:
        """The run's own folder."""
        return self.folder / self.run.id

    def claim(self) -> Claim | None:
        """A claim on the run's folder, or None if someone is working there."""
        return claim(self.folder / ".claims" / self.run.id)

    def watch(self) -> Watcher | None:
        """A tracker that sees the run's training, if one is wanted."""
        return tracker(self.track, self.home, self.run.title) if self.track else None


def perform(task: Task) -> Row:
    """The row of the run, from wherever an earlier attempt got to."""
    run, folder, clock = task.run, task.home, Clock()
    folder.mkdir(parents=True, exist_ok=True)
    _sign(folder)
    with clock.phase("simulate"):
        parts = parts_of(run.scene, run.seed)
    with clock.phase("fit"):
        forecaster = run.source.learn(run.scene, parts, run.seed, folder, task.watch)
    judge = Judge(forecaster, clock)
    judge.judge("test", parts.test, run.draws)
    judge.judge("train", parts.train.first(run.scene.test), TABLE_DRAWS)
    if _is_asked_about_single_balls(run):
        part = single_ball(run.scene, run.seed)
        lengths = [length for length in SINGLE_LENGTHS if length <= run.scene.frames]
        judge.judge("single", part, run.draws, {f"T{length}": length for length in lengths})
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    found = {"scores": judge.scores, "by_lead": judge.by_lead, "diverged": judge.diverged}
    times = {"seconds": clock.seconds, "finished": round(time.time())}
    return {"id": run.id, "run": run.to_dict()} | found | times | provenance()


@dataclass
class Judge:
    """Scores of one forecaster on several parts of the data."""

    forecaster: Forecaster
    clock: Clock
    scores: dict[str, Any] = field(default_factory=dict)
    by_lead: dict[str, Any] = field(default_factory=dict)
    diverged: dict[str, float] = field(default_factory=dict)
    """share of the drawn sequences"""

    def judge(
        self, view: str, part: Part, draws: int, lengths: dict[str, int] | None = None
    ) -> None:
        """Over all frames, or over the first ones of several lengths under names of their own."""
        with self.clock.phase(f"forecast {view}"):
            forecast, self.diverged[view] = _within_reach(self.forecaster(part, draws))
        with self.clock.phase(f"score {view}"):
            for name, length in (lengths or {view: forecast.sizes["time"]}).items():
                cut, seen = forecast.isel(time=slice(length)), part.seen.first_frames(length)
                scores = paper_scores(cut, seen, by_lead=True, paper_draws=TABLE_DRAWS)
                self.scores[name] = _plain_scores(scores)
                if view != "train":
                    self.by_lead[view] = _plain_leads(scores)


def _is_asked_about_single_balls(run: Run) -> bool:
    """The supplement's question whether f_s knows what one ball of three does alone."""
    scene = run.scene
    usual = (scene.kind, scene.objects, scene.velocities) == ("balls", 3, True)
    return usual and scene.noise == "none" and run.source.knows_single_objects


def _within_reach(forecast: xr.Dataset) -> tuple[xr.Dataset, float]:
    """Values that diverged brought back to a distance that can be squared, and the share of drawn
    sequences with such values: a forecast that is lost is scored as lost, not left out."""
    mean, sd = forecast["climatology_mean"], forecast["climatology_sd"]
    low, high = mean - FARTHEST * sd, mean + FARTHEST * sd
    trajectory = forecast["trajectory"]
    lost = ~((trajectory >= low) & (trajectory <= high)) & forecast["alive"]
    share = float(lost.any(dim=("time", "object", "feature")).mean())
    if share == 0:
        return forecast, 0.0
    changed = {name: forecast[name].fillna(high).clip(low, high) for name in DRAWN}
    return forecast.assign(changed), share


def _plain_scores(scores: Scores) -> dict[str, dict[str, float | None]]:
    return {
        row: {name: _rounded(value) for name, value in values.items()}
        for row, values in scores.rows.items()
    }


def _plain_leads(scores: Scores) -> dict[str, Any]:
    by_lead = scores.by_lead
    assert by_lead is not None
    curves = {
        row: {
            name: [_rounded(value, LEAD_DIGITS) for value in by_lead[name].sel(row=row).values]
            for name in BY_LEAD
        }
        for row in by_lead["row"].values.tolist()
    }
    return {"lead": [_rounded(value) for value in by_lead["lead"].values]} | curves


def _rounded(value: float, digits: int = DIGITS) -> float | None:
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def _sign(folder: Path) -> None:
    """Says who is working on the run."""
    (folder / "worker.json").write_text(json.dumps({"host": platform.node(), "pid": os.getpid()}))
