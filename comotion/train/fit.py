"""Fit a system to data: the one call that goes from trajectories to a fitted model."""

import dataclasses
import time
from contextlib import closing, nullcontext
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp

from comotion.backend.devices import as_first_process, on_one, one_thread_each
from comotion.backend.keys import key_for
from comotion.config import Recipe, RunConfig, SystemConfig, replace
from comotion.data.reading import read
from comotion.data.scaling import fit_scaling
from comotion.data.summary import summarise
from comotion.data.trajectories import Trajectories
from comotion.data.windows import Dataset, to_dataset, with_straight_line
from comotion.errors import BadInput
from comotion.initialise import initialise, look_for_contacts, with_walls
from comotion.integrate import BodyNoise
from comotion.predict import FittedModel, contacts_of
from comotion.systems import DEFAULT, build, check_data, data_shape, system
from comotion.train.closing import close
from comotion.train.folder import RunFolder, fingerprint
from comotion.train.loop import Loop
from comotion.train.phases import SoFar, calibrated, run, started, stretched
from comotion.train.plan import HELD_OUT, FitPlan, plan
from comotion.train.progress import Several, Silent, Watcher, watcher_here
from comotion.train.recipe import WISHES, changed
from comotion.train.recipe import recipe as named_recipe
from comotion.train.step import first_state


@one_thread_each()
def fit(
    train: Any,
    *,
    system: str | SystemConfig = DEFAULT,
    valid: Any = None,
    hold_out: float | None = None,
    recipe: str | Recipe = "short",
    time_limit: float | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    report: bool = False,
    on_interrupt: Literal["keep", "raise"] = "keep",
    progress: bool | None = None,
    watcher: Watcher | None = None,
    **parts: Any,
) -> FittedModel:
    """Learn f_s and f_b from trajectories, or from whatever `read` takes: a frame, a path, arrays.

    `system` is a name from `comotion systems` or a config; further arguments change single parts
    (`order=2`, `inducing_pair=100`) or fields of the recipe (`iterations=200`, `windows=50`).
    `recipe` is "short", "paper" or one of your own; after `time_limit` seconds no further step is
    taken. With `out`, the run is kept
    in a folder, and `resume=True` continues an interrupted one to the same weights as if nothing
    had happened; a run that is there already is moved aside (`overwrite=True` replaces it).
    Ctrl-C stops early and returns what was learned so far. Without `valid`, the last fifth of the
    data is held out to be watched and to calibrate on (`hold_out=0` trains on everything).

    With `report`, forecasts of what was held out are scored and kept as `findings` of the model,
    and a run in a folder gets its report.html.

    Rarely needed: `progress` False says nothing meanwhile (otherwise there is a bar in a terminal
    and in a notebook, and a line every few seconds elsewhere);
    `valid` is never trained on, only watched and used to calibrate;
    `on_interrupt` "raise" does not keep what was learned when Ctrl-C is pressed;
    `watcher` is told the figures beside the bar. After `jax.distributed.initialize`, every process
    makes the same call: all devices share the work, the first process writes the files.
    """
    folder = RunFolder(Path(out)) if out is not None and jax.process_index() == 0 else None
    planned = _planned(train, valid, hold_out, system, parts, folder if resume else None)
    seen = planned.train.velocities_observed
    config = run_config(system, recipe, seed, planned.parts, velocities_seen=seen)
    _check(planned, config)
    bar = Silent() if progress is False else watcher_here(config.recipe)
    watcher = bar if watcher is None else Several(bar, watcher)
    alone = nullcontext("")
    if folder is not None:
        alone = folder.running(config, planned, resume=resume, overwrite=overwrite)
    so_far = SoFar()
    with closing(watcher), alone as about_folder:
        for sentence in (*planned.sentences, *filter(None, [about_folder])):
            watcher.say(sentence)
        until = inf if time_limit is None else time.monotonic() + time_limit
        fitted = so_far.of(partial(_trained, planned, config, folder, watcher, until, so_far))
        if so_far.heard.is_set() and on_interrupt == "raise":
            raise KeyboardInterrupt("stopped")
        if folder is not None:
            fitted.save(folder.model)
        if report and not so_far.heard.is_set() and jax.process_count() == 1:
            fitted = close(fitted, planned, folder, watcher)
    return fitted


def _planned(
    train: Any,
    valid: Any,
    hold_out: float | None,
    system: str | SystemConfig,
    parts: dict[str, Any],
    resumed: RunFolder | None,
) -> FitPlan:
    """What is trained on and what is watched; a run that is resumed holds out what it held out."""
    valid = None if valid is None else read(valid)
    if hold_out is None and valid is None and resumed is not None:
        hold_out, valid = resumed.was_held_out()
    share = HELD_OUT if hold_out is None else hold_out
    return plan(read(train), valid=valid, hold_out=share, system=system, parts=parts)


def _check(planned: FitPlan, config: RunConfig) -> None:
    """Says before anything starts what is wrong with the data."""
    shape = data_shape(planned.train)
    check_data(config.system, shape, planned.train)
    if planned.valid is not None:
        check_data(config.system, shape, planned.valid)
        data_shape(planned.valid)  # also if nothing in them moves


def _trained(
    planned: FitPlan,
    config: RunConfig,
    folder: RunFolder | None,
    watcher: Watcher,
    until: float,
    so_far: SoFar,
) -> FittedModel:
    """A start from the data, steps, calibration; Ctrl-C keeps and calibrates what was learned."""
    train, valid = planned.train, planned.valid
    keys = jax.random.split(key_for("fit", config.seed), 4)
    key_build, key_start, key_train, key_calibrate = keys
    identity = fingerprint(train)
    fitted, dataset = untrained(train, config, key=key_build)
    # Which contacts and simple laws there are is part of a checkpoint's shape: found again.
    if not _has_started(folder) or config.system.contacts != "off":
        fitted = started(fitted, dataset, watcher, key=key_start)
    state = first_state(fitted.model)
    if folder is not None:
        state = folder.restore(state, identity)
    state = as_first_process(state)
    held_out = None if valid is None else training_set(valid, fitted)
    loop = Loop(config, dataset, held_out, watcher, folder, identity, state, until)
    loop.save()
    so_far.fitted, so_far.loop = fitted, loop
    if fitted.config.system != config.system:  # a simple law leaves nothing to train
        return fitted
    law = contacts_of(fitted.model)
    # Through collisions only noise is trained, never a law.
    if law is None or isinstance(fitted.model.process_noise, BodyNoise):
        run(loop, so_far, key=key_train)
    judged = dataset if held_out is None else held_out
    fitted = dataclasses.replace(fitted, model=on_one(loop.model))
    fitted = calibrated(fitted, judged, watcher, so_far, key=key_calibrate)
    return fitted if valid is None else stretched(fitted, valid, watcher, so_far)


def prepare(
    train: Trajectories, config: RunConfig, *, key: jax.Array
) -> tuple[FittedModel, Dataset]:
    """The model as training finds it, and the data in its units."""
    key_build, key_start = jax.random.split(key)
    fitted, dataset = untrained(train, config, key=key_build)
    found = look_for_contacts(fitted.model, dataset, config.system.contacts)
    model = with_walls(fitted.model, found)
    model = initialise(model, dataset, config.recipe, found=found, key=key_start)
    return dataclasses.replace(fitted, model=model), dataset


def untrained(
    train: Trajectories, config: RunConfig, *, key: jax.Array
) -> tuple[FittedModel, Dataset]:
    """A model that has not seen the data yet, and the data in its units."""
    shape = data_shape(train)
    scaling = fit_scaling(train, config.system.scaling)
    summary = summarise(train, config.system.encoder_frames)
    model = build(config.system, shape, key=key)
    fitted = FittedModel(model, scaling, summary, shape, config)
    return fitted, training_set(train, fitted)


def training_set(data: Trajectories, fitted: FittedModel) -> Dataset:
    """The data in the model's units, and what the scores of its forecasts are measured in."""
    dataset = to_dataset(data, fitted.scaling)
    stages = fitted.config.recipe.stages
    horizon = max((stage.horizon for stage in stages if stage.objective == "score"), default=0)
    spatial = fitted.model.dynamics.layout.spatial
    return with_straight_line(dataset, spatial, horizon) if horizon else dataset


def _has_started(folder: RunFolder | None) -> bool:
    """Whether the run to be resumed has a checkpoint; all processes do as the first one."""
    there = folder is not None and folder.state.exists()
    return bool(as_first_process(jnp.asarray(there)))


def run_config(
    name: str | SystemConfig,
    recipe: str | Recipe,
    seed: int,
    parts: dict[str, Any],
    *,
    velocities_seen: bool = False,
) -> RunConfig:
    base = system(name) if isinstance(name, str) else name
    wishes = {name: value for name, value in parts.items() if name in WISHES}
    own = {name: value for name, value in parts.items() if name not in wishes}
    chosen = replace(base, **own)
    if isinstance(recipe, str):
        plan = named_recipe(recipe, chosen, velocities_seen=velocities_seen)
    else:
        plan = recipe
    if not plan.stages:
        raise BadInput(f"recipe '{plan.name}' has no stages; give at least one")
    return RunConfig(chosen, changed(plan, wishes) if wishes else plan, seed)
