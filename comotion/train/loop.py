"""Rounds of growing horizons, checkpoints on the way, and a clear word when it goes wrong."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.backend.devices import everywhere
from comotion.config import RunConfig, Stage
from comotion.data.windows import Dataset
from comotion.functions import SparseGP
from comotion.model import Model
from comotion.train.folder import RunFolder
from comotion.train.optimiser import skipped
from comotion.train.progress import Figures, Watcher
from comotion.train.step import (
    Best,
    StepInfo,
    StepPlan,
    TrainState,
    draw_batch,
    held_out_figure,
    learning_rate,
    step_plan,
    told_of_held_out,
    train_step,
)

CHECKPOINT_SECONDS = 5.0
"""What a killed run loses at most."""
LOG_EVERY = 10
"""Steps: reading figures back from a device each time would slow it down."""
VALIDATE_EVERY = 50
"""Steps: a held-out figure costs about as much as a step."""
MOST_SKIPPED = 25
"""Gradients in a row that are not finite, after which no later one will be."""


class TrainingDivergedError(ArithmeticError):
    """Many steps in a row had no finite gradient."""


@dataclass
class Loop:
    """Runs what is left of a recipe from whatever state it is given."""

    config: RunConfig
    train: Dataset
    valid: Dataset | None
    watcher: Watcher
    folder: RunFolder | None
    fingerprint: str
    state: TrainState
    until: float = inf
    """the time, as `time.monotonic` has it, after which no step is begun"""
    _saved: float = field(default_factory=time.monotonic)

    def run(self, *, key: Key) -> None:
        key_train, key_valid = jax.random.split(key)
        for stage, begin in _begins(self.config.recipe.stages):
            done = int(self.state.iteration) - begin
            if done < stage.iterations:
                self._run_stage(stage, begin, max(done, 0), key_train, key_valid)
            if time.monotonic() > self.until:
                count = int(self.state.iteration)
                self.watcher.say(f"the time limit was reached after {count} iterations")
                break
        self._return_to_start_if_better(key_valid)
        self.save()

    def save(self) -> None:
        if self.folder is not None:
            self.folder.save(self.state, self.fingerprint)
        self._saved = time.monotonic()

    @property
    def model(self) -> Model:
        """As it forecast held-out frames best, where training follows the score of forecasts;
        else as it is now, or as it was at first if training has made it worse."""
        best = self.state.best
        return best.model if jnp.isfinite(best.score) else self.state.model

    def tell_stopped(self) -> None:
        self.watcher.say(f"stopped after {int(self.state.iteration)} iterations; resume to go on")

    def _run_stage(
        self, stage: Stage, begin: int, done: int, key_train: Key, key_valid: Key
    ) -> None:
        plan = self._plan(stage, self.train)
        watching = plan if self.valid is None else self._plan(stage, self.valid)
        self.state = everywhere(self.state, plan.mesh)
        train, valid = everywhere((self.train, self.valid), plan.mesh)
        self.watcher.say(f"compiling for windows of {plan.frames} frames")
        if valid is not None and stage.objective == "score" and done == 0:
            self._keep_if_best(self._held_out(valid, key_valid, watching, plan))
        for number in range(done, stage.iterations):
            if time.monotonic() > self.until:
                return
            rate = learning_rate(stage, number)
            batch, key = draw_batch(train, key_train, self.state.iteration, plan)
            self.state, info = train_step(self.state, batch, key, jnp.asarray(rate, FAST), plan)
            if number % LOG_EVERY == 0 or number == stage.iterations - 1:
                self._stop_if_lost(stage)
                row = _row(info, begin + number + 1, stage, rate)
                last = number == stage.iterations - 1
                if valid is not None and (last or number % VALIDATE_EVERY == 0):
                    found = self._held_out(valid, key_valid, watching, plan)
                    row[f"valid_{told_of_held_out(plan)}"] = float(found)
                    if stage.objective == "score":
                        self._keep_if_best(found)
                self._report(stage, row)
            if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
                self.save()

    def _plan(self, stage: Stage, dataset: Dataset) -> StepPlan:
        return step_plan(self.config, stage, dataset, self.state.model.dynamics.layout)

    def _held_out(
        self, valid: Dataset, key: Key, watching: StepPlan, plan: StepPlan
    ) -> Float[Array, ""]:
        """By a step that is not taken, where the program of steps fits: one less to compile."""
        if plan.objective == "bound" or watching != plan:
            return held_out_figure(self.state.model, valid, key, watching)
        batch, key = draw_batch(valid, key, 0, plan)
        info = train_step(self.state, batch, key, jnp.zeros((), FAST), plan)[1]
        return info.figures[told_of_held_out(plan)]

    def _keep_if_best(self, score: Float[Array, ""]) -> None:
        if score < self.state.best.score:
            self._keep(Best(self.state.model, score))

    def _keep(self, best: Best) -> None:
        self.state = eqx.tree_at(lambda state: state.best, self.state, best)

    def _return_to_start_if_better(self, key: Key) -> None:
        """Of training by the bound: the best state is then the first one, and has no score yet."""
        stage, start = self.config.recipe.stages[-1], self.state.best.model
        if self.valid is None or stage.objective == "score":
            return
        plan = self._plan(stage, self.valid)
        valid = everywhere(self.valid, plan.mesh)
        before, after = (held_out_figure(m, valid, key, plan) for m in (start, self.state.model))
        if not after >= before:  # also if it is no number any more
            self._keep(Best(start, -before))
            self.watcher.say("training made it worse on held-out data: its start is kept")

    def _report(self, stage: Stage, row: Figures) -> None:
        self.watcher.show(stage, row)
        if self.folder is not None:
            self.folder.log(row)

    def _stop_if_lost(self, stage: Stage) -> None:
        lost = int(skipped(self.state.optimiser))
        if lost < MOST_SKIPPED:
            return
        check_functions(self.state.model)
        raise TrainingDivergedError(
            f"{lost} iterations in a row at horizon {stage.horizon} had no "
            "finite gradient: use a smaller learning rate, shorter horizons or more substeps"
        )


def check_functions(model: Model) -> None:
    """Raises an error that names the function whose covariance cannot be factorised."""
    for name, function in model.dynamics.functions().items():
        if isinstance(function, SparseGP):
            function.check_conditioning(name)


def _begins(stages: tuple[Stage, ...]) -> Iterator[tuple[Stage, int]]:
    begin = 0
    for stage in stages:
        yield stage, begin
        begin += stage.iterations


def _row(info: StepInfo, iteration: int, stage: Stage, rate: float) -> Figures:
    return {
        "iteration": iteration,
        "horizon": stage.horizon,
        **{name: float(value) for name, value in info.figures.items()},
        "gradient_norm": float(info.gradient_norm),
        "learning_rate": rate,
        "time": time.time(),
    }
