"""Fit without saying what: the structure is identified first."""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from comotion.config import Recipe, SystemConfig, read_toml
from comotion.identification.choose import (
    Effort,
    NothingHeldOut,
    identify,
    silently,
)
from comotion.identification.verdict import Identification
from comotion.predict import FittedModel
from comotion.systems import DEFAULT
from comotion.train import fit as fit_system
from comotion.train.recipe import now

SEARCHING = 0.6
"""Of a limit on time, the share that may go into the search."""


def fit(
    train: Any,
    *,
    system: str | SystemConfig | None = None,
    effort: Effort = "quick",
    time_limit: float | None = None,
    **options: Any,
) -> FittedModel:
    """Learn f_s and f_b from trajectories, or from whatever `read` takes: a frame, a path, arrays.

    Without `system`, `identify` tries which laws forecast the held-out end best, prints what it
    found, and the best is trained: never worse there than going straight on. `system` is a name
    from `comotion systems` or a config; further arguments change single parts (`order=2`,
    `inducing_pair=100`). With `out`, the run is kept in a folder, and `resume=True` continues an
    interrupted one. Ctrl-C stops early and returns what was learned so far.

    Rarely needed: `effort` "best" takes three times as many steps; after `time_limit` seconds
    nothing new is tried and no further step is taken; `valid`, `hold_out`, `recipe`, `seed`,
    `overwrite`, `progress` and `watcher` are those of `comotion.train.fit`; with `report=False`
    forecasts of what was held out are not scored afterwards.

    >>> model = cm.fit(data, system="comotion", iterations=100)  # doctest: +SKIP
    """
    begun, talks = time.monotonic(), options.get("progress") is not False
    say = partial(print, file=sys.stderr, flush=True) if talks else silently
    if system is None and options.get("resume"):
        system, options = _as_begun(options)
    if system is None and not _says_what(options):
        try:
            found = identify(
                train,
                valid=options.get("valid"),
                effort=effort,
                time_limit=None if time_limit is None else SEARCHING * time_limit,
                seed=options.get("seed", 0),
                say=say,
            )
        except NothingHeldOut as error:
            say(f"{error}: fitting {DEFAULT} as it is")
        else:
            if talks:
                print(found)
            if found.was_stopped:
                return _kept(found.model, options.get("out"))
            system, options["recipe"] = _chosen(found)
    elif effort != "quick":
        options["effort"] = effort
    named = {} if system is None else {"system": system}
    if time_limit is not None:  # what the search has left of it
        options["time_limit"] = max(time_limit - (time.monotonic() - begun), 1.0)
    fitted = fit_system(train, **named, **{"report": True, **options})
    if talks and fitted.findings.skill.lead:
        print(fitted.findings)
    return fitted


def _chosen(found: Identification) -> tuple[SystemConfig, Recipe]:
    """The best structure, and how to train it for good."""
    config = found.model.config
    last = config.recipe.stages[-1]
    if last.objective != "score":
        return config.system, config.recipe
    return config.system, now(config.system, last.horizon)


def _as_begun(options: dict[str, Any]) -> tuple[SystemConfig | None, dict[str, Any]]:
    """A run that is resumed has its own system, recipe and seed; what is given must agree."""
    file = Path(options.get("out") or ".") / "config.toml"
    if not file.is_file():
        return None, options
    config = read_toml(file)
    return config.system, {"recipe": config.recipe, "seed": config.seed} | options


def _kept(model: FittedModel, out: str | Path | None) -> FittedModel:
    """The best structure of a search that was stopped, as it was tried."""
    if out is not None:
        model.save(Path(out) / "model.safetensors")
    return model


def _says_what(options: dict[str, Any]) -> bool:
    """Whether parts, a recipe or a run to go on with already say what to fit."""
    about_the_run = {"valid", "hold_out", "seed", "out", "overwrite"}
    about_the_run |= {"report", "progress", "watcher"}
    return bool(options.keys() - about_the_run)
