"""A run's folder: config, metrics, checkpoint, model."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comotion.config import RunConfig, read_toml, write_toml
from comotion.data.store import write
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput
from comotion.predict import checkpoint
from comotion.train.plan import Plan
from comotion.train.step import TrainState


@dataclass(frozen=True)
class RunFolder:
    """`config.toml`, `metrics.jsonl`, `checkpoint/state.safetensors`, `model.safetensors`."""

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

    def open(self, config: RunConfig, resume: bool) -> None:
        """A new run wants an empty folder; a resumed one must be the same run."""
        if self.config.exists() and not resume:
            raise BadInput(
                f"{self.path}: there is a run in this folder already; resume it, or choose "
                "another folder"
            )
        if self.config.exists() and read_toml(self.config) != config:
            raise BadInput(
                f"{self.config}: the run to resume has another config; "
                "resume it with the same system, recipe and seed"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        write_toml(config, self.config)

    def note(self, plan: Plan) -> None:
        """What was decided about the data; data that are held out are kept beside the run."""
        if plan.sentences:
            (self.path / "plan.txt").write_text("".join(f"{line}\n" for line in plan.sentences))
        if plan.held_out is not None:
            write(plan.held_out, self.path / "held_out.nc")

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
    """Tells data sets apart by their content."""
    digest = hashlib.sha256()
    for field in dataclasses.fields(data):
        value = getattr(data, field.name)
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return digest.hexdigest()


def _iteration(line: str) -> float | int:
    try:
        return json.loads(line)["iteration"]
    except (json.JSONDecodeError, KeyError):  # a line cut short by a kill
        return float("inf")
