"""A run's folder: config, metrics, checkpoint, model."""

import dataclasses
import hashlib
import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from comotion.config import RunConfig, read_toml, write_toml
from comotion.data.aside import free_name, told_aside
from comotion.data.store import load, write
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput
from comotion.predict import checkpoint
from comotion.train.plan import HELD_OUT, FitPlan
from comotion.train.step import TrainState


@dataclass(frozen=True)
class RunFolder:
    """`config.toml`, `metrics.jsonl`, `checkpoint/state.safetensors`, `model.safetensors`; what
    was held out in `data.toml`, `plan.txt` and `held_out.nc`; `report.html`."""

    path: Path

    @property
    def model(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def config(self) -> Path:
        return self.path / "config.toml"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def state(self) -> Path:
        return self.path / "checkpoint" / "state.safetensors"

    @property
    def held_out(self) -> Path:
        return self.path / "held_out.nc"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def _sentences(self) -> Path:
        return self.path / "plan.txt"

    @property
    def _shares(self) -> Path:
        return self.path / "data.toml"

    def open(self, config: RunConfig, resume: bool, overwrite: bool = False) -> str:
        """A new run moves one that is there aside, or takes its place; a resumed one must be the
        same run. Says what was done with an earlier run, if there was one."""
        told = ""
        if self.config.exists() and not resume:
            told = self._make_way(overwrite)
        if self.config.exists() and read_toml(self.config) != config:
            raise BadInput(
                f"{self.config}: the run to resume has another config; "
                "resume it with the same system, recipe and seed"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        write_toml(config, self.config)
        return told

    def _make_way(self, overwrite: bool) -> str:
        """Other files in the folder of a run that is replaced are left alone."""
        if not overwrite:
            aside = free_name(self.path)
            self.path.rename(aside)
            return told_aside(self.path, aside)
        shutil.rmtree(self.state.parent, ignore_errors=True)
        for file in (self.config, self.metrics, self.model, self.held_out, self.report):
            file.unlink(missing_ok=True)
        for file in (self._shares, self._sentences):
            file.unlink(missing_ok=True)
        return ""

    def was_held_out(self) -> tuple[float, Trajectories | None]:
        """The share that the run to resume held out, or else the data it was given to watch."""
        if not self._shares.is_file():
            return HELD_OUT, None
        share = float(tomllib.loads(self._shares.read_text())["held_out"])
        given = share == 0 and self.held_out.is_file()
        return share, load(self.held_out) if given else None

    def note(self, plan: FitPlan) -> None:
        """What was decided about the data; data that are held out are kept beside the run."""
        self._shares.write_text(tomli_w.dumps({"held_out": plan.share}))
        if plan.sentences:
            self._sentences.write_text("".join(f"{line}\n" for line in plan.sentences))
        watched = plan.valid if plan.held_out is None else plan.held_out
        if watched is not None:
            write(watched, self.held_out)

    def save(self, state: TrainState, fingerprint: str) -> None:
        checkpoint.write(self.state, state, {"data": fingerprint})

    def restore(self, like: TrainState, fingerprint: str) -> TrainState:
        """The last checkpoint, or `like` if there is none yet."""
        if not self.state.exists():
            self.metrics.unlink(missing_ok=True)
            return like
        arrays, header = checkpoint.read(self.state)
        if header["data"] != fingerprint:
            raise BadInput(
                f"{self.path}: this run was started with other data; resume it with the same file"
            )
        state = checkpoint.restore(like, arrays, self.state)
        self._forget_after(int(state.iteration))
        return state

    def log(self, row: dict[str, Any]) -> None:
        with self.metrics.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def _forget_after(self, iteration: int) -> None:
        """Steps taken after the checkpoint will be taken again."""
        if not self.metrics.exists():
            return
        lines = self.metrics.read_text().splitlines()
        kept = [line for line in lines if _iteration(line) <= iteration]
        self.metrics.write_text("".join(line + "\n" for line in kept))


def fingerprint(data: Trajectories) -> str:
    """Tells data sets apart by their content, not by what they were read from."""
    digest = hashlib.sha256()
    for field in dataclasses.fields(data):
        if field.name == "frame_kind":
            continue
        value = getattr(data, field.name)
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return digest.hexdigest()


def _iteration(line: str) -> float | int:
    try:
        return json.loads(line)["iteration"]
    except (json.JSONDecodeError, KeyError):  # a line cut short by a kill
        return float("inf")
