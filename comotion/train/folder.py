"""A run's folder: config, metrics, checkpoint, model."""

import dataclasses
import hashlib
import json
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from comotion.backend.disk import Claim, about_files, claim, free_name, told_aside, write_text
from comotion.config import RunConfig, read_toml, write_toml
from comotion.data.store import load, write
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput
from comotion.predict import checkpoint
from comotion.train.plan import HELD_OUT, FitPlan
from comotion.train.step import TrainState

RUNNING = ".running"
"""What stands for the folder while a run is at work in it."""


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

    @contextmanager
    def running(
        self, config: RunConfig, plan: FitPlan, *, resume: bool = False, overwrite: bool = False
    ) -> Iterator[str]:
        """The folder is this run's alone meanwhile; says what was done with an earlier run.

        A new run moves one that is there aside, or takes its place; a resumed one must be the
        same run. The config comes last: where it is, all else that a run needs is there.
        """
        with ExitStack() as held:
            try:
                told = self._begin(config, plan, held, resume, overwrite)
            except OSError as error:
                raise BadInput(about_files(error)) from error
            yield told

    def _begin(
        self, config: RunConfig, plan: FitPlan, held: ExitStack, resume: bool, overwrite: bool
    ) -> str:
        mine, told = self._claimed(), ""
        held.callback(mine.release)
        if resume:
            self._refuse_another(config)
        elif self._is_used and overwrite:
            self._forget()
        elif self._is_used:
            told = self._move_aside(mine, held)
        if not (resume and self._shares.exists()):
            self._note(plan)
        write_toml(config, self.config)
        return told

    def _claimed(self) -> Claim:
        if self.path.is_file():
            raise BadInput(f"{self.path} is a file; give the name of a folder")
        mine = claim(self.path / RUNNING)
        if mine is None:
            raise BadInput(
                f"{self.path}: another fit is at work in this folder; wait for it, or give "
                "another folder"
            )
        return mine

    @property
    def _is_used(self) -> bool:
        """By a run, whole or not: none of this is ever taken for part of a new one."""
        return any(file.exists() for file in (self.config, self.metrics, self.state, self.model))

    def _refuse_another(self, config: RunConfig) -> None:
        if not self._is_used:
            return
        if not self.config.exists():
            raise BadInput(
                f"{self.path}: without its config.toml the run in this folder cannot be resumed; "
                "leave resume out, and it is moved aside"
            )
        if read_toml(self.config) != config:
            raise BadInput(
                f"{self.config}: the run to resume has another config; "
                "resume it with the same system, recipe and seed"
            )

    def _forget(self) -> None:
        """Other files in the folder of a run that is replaced are left alone."""
        shutil.rmtree(self.state.parent, ignore_errors=True)
        for file in (self.metrics, self.model, self.held_out, self.report):
            file.unlink(missing_ok=True)
        for file in (self._shares, self._sentences, self.config):
            file.unlink(missing_ok=True)

    def _move_aside(self, mine: Claim, held: ExitStack) -> str:
        if self.path.resolve() in (Path.cwd(), *Path.cwd().parents):
            raise BadInput(
                f"{self.path}: the run in this folder cannot be moved aside, because you are in "
                "it; give another folder, or overwrite it"
            )
        aside = free_name(self.path)
        self.path.rename(aside)
        held.pop_all()
        Claim(aside / RUNNING, mine.descriptor).release()
        held.callback(self._claimed().release)
        return told_aside(self.path, aside)

    def was_held_out(self) -> tuple[float, Trajectories | None]:
        """The share that the run to resume held out, or else the data it was given to watch."""
        if not self._shares.is_file():
            return HELD_OUT, None
        try:
            share = float(tomllib.loads(self._shares.read_text(encoding="utf-8"))["held_out"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(
                f"{self._shares} cannot be read ({error}), so it is not known what the run held "
                "out; leave resume out, and the run is moved aside"
            ) from None
        given = share == 0 and self.held_out.is_file()
        return share, load(self.held_out) if given else None

    def _note(self, plan: FitPlan) -> None:
        """What was decided about the data; data that are held out are kept beside the run."""
        write_text(self._shares, tomli_w.dumps({"held_out": plan.share}))
        if plan.sentences:
            write_text(self._sentences, "".join(f"{line}\n" for line in plan.sentences))
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
        if header.get("data") != fingerprint:
            raise BadInput(
                f"{self.path}: this run was started with other data; resume it with the same file"
            )
        state = checkpoint.restore(like, arrays, self.state)
        self._forget_after(int(state.iteration))
        return state

    def log(self, row: dict[str, Any]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)  # it may have been deleted meanwhile
        with self.metrics.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def _forget_after(self, iteration: int) -> None:
        """Steps taken after the checkpoint will be taken again."""
        if not self.metrics.exists():
            return
        lines = self.metrics.read_text(encoding="utf-8", errors="replace").splitlines()
        kept = [line for line in lines if _iteration(line) <= iteration]
        write_text(self.metrics, "".join(line + "\n" for line in kept))


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
        return int(json.loads(line)["iteration"])
    except (ValueError, KeyError, TypeError, RecursionError):  # a line cut short by a kill
        return float("inf")
