"""Score references and models on real recordings: `python benchmarks/real.py --help`

Rolling origins, forecast frames only. References are fitted to the training part; the test part is
looked at once. Recordings are looked for in the folder that COMOTION_DATA, or `--data`, names.
"""

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from real_tasks import TASKS, Task
from rows import append

import comotion as cm
from comotion.cli.fit import parse_part
from comotion.scoring import (
    MEASURES,
    AbstractPredictive,
    AbstractReference,
    AlongAcross,
    Climatology,
    ConstantTurn,
    ConstantVelocity,
    LeadScores,
    Origins,
    OUAcceleration,
    SampledPaths,
    adapted,
    forecast_at,
    roll,
    score_at,
)
from comotion.scoring.evaluation import Evaluation
from comotion.systems import MOTION, SYSTEMS, system
from comotion.train.recipe import now

REFERENCES: dict[str, type[AbstractReference]] = {
    "climatology": Climatology,
    "constant velocity": ConstantVelocity,
    "constant velocity, along and across": AlongAcross,
    "constant turn": ConstantTurn,
    "Kalman filter": OUAcceleration,
}
STRAIGHT = "constant velocity"
ADAPTED = ", bands from the recording's past"
DRAWS = 100


@dataclass(frozen=True)
class Options:
    """Rows for some of the tasks; references always, a model if one is named."""

    tasks: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """names of tasks; all of them if none is given"""
    model: str | None = None
    """"fit" to fit to the training part with the defaults, a system's name to fit that one without
    a search, or a model file fitted to it"""
    parts: tuple[str, ...] = ()
    """parts of a named system, chosen on the part to choose on, as NAME=VALUE: contacts=auto"""
    references: bool = True
    """rows of the references, too, or only what a model is compared with"""
    data: Path | None = None
    """folder with the recordings, instead of COMOTION_DATA"""
    seed: int = 0
    time_limit: float | None = None
    """seconds for a fit"""


def main(options: Options) -> None:
    if options.data is not None:
        os.environ["COMOTION_DATA"] = str(options.data)
    for name in options.tasks or TASKS:
        task = TASKS[name]()
        origins = roll(task.test, task.protocol)
        scores: dict[str, LeadScores] = {}
        for title, kind in REFERENCES.items() if options.references else ():
            if kind is ConstantTurn and len(origins.coordinates) != 2:
                continue
            started = time.perf_counter()
            fitted = kind.fit(task.train, task.protocol)
            trained = time.perf_counter() - started
            judge(name, task.about, title, fitted.forecast(origins), origins, scores, trained)
        if not options.references:  # a model's row is compared with the straight line all the same
            line = ConstantVelocity.fit(task.train, task.protocol)
            scores[STRAIGHT] = score_at(line.forecast(origins), origins)
        if options.model is not None:
            started = time.perf_counter()
            model = made(task, options.model, options)
            trained = time.perf_counter() - started
            predicted = forecast_at(model, origins, draws=DRAWS, seed=options.seed)
            title = f"comotion {model.system}: {structure(model)}, seed {options.seed}"
            judge(name, task.about, title, predicted, origins, scores, trained)
            assert isinstance(predicted, SampledPaths)
            here = adapted(predicted, origins)
            judge(name, task.about, title + ADAPTED, here, origins, scores, trained)


def made(task: Task, chosen: str, options: Options) -> cm.FittedModel:
    """Fitted to the training part as asked for, or loaded."""
    if chosen not in ("fit", *SYSTEMS):
        return cm.load(chosen)
    parts: dict[str, Any] = dict(map(parse_part, options.parts))
    if chosen == MOTION:
        seen, horizon = task.protocol.seen, task.protocol.horizon
        parts |= {"encoder_frames": seen, "recipe": now(system(MOTION, **parts), horizon)}
    return cm.fit(
        task.train,
        valid=task.choose,
        system=None if chosen == "fit" else chosen,
        seed=options.seed,
        time_limit=options.time_limit,
        **parts,
    )


def structure(model: cm.FittedModel) -> str:
    """What of a law the model has."""
    system = model.config.system
    parts = {
        "contacts": model.contact_law is not None,
        f"f_s of {'place' if system.alone == 'raw' else system.alone}": system.alone != "none",
        f"f_b {system.pair}": system.pair != "none",
    }
    return " and ".join(name for name, there in parts.items() if there) or "no law"


def judge(
    task: str,
    about: str,
    title: str,
    predicted: AbstractPredictive,
    origins: Origins,
    scores: dict[str, LeadScores],
    seconds: float,
) -> None:
    """Score, keep the scores beside those of the references, and write a row."""
    scores[title] = score_at(predicted, origins)
    found = Evaluation(title, scores, origins, about)
    held = scores[title].by_lead("coverage_90")
    last = origins.horizon - 1
    row = {
        "task": task,
        "about": about,
        "forecast": title,
        "origins": len(origins),
        "rows": len(origins.origin),
        **{measure: rounded(found[measure]) for measure in MEASURES},
        "fde": rounded(scores[title].last("ade")),
        "coverage_90 first, middle, last": [rounded(held[h]) for h in (0, last // 2, last)],
        "seconds to fit": round(seconds, 1),
        "peak memory in MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if title != STRAIGHT and STRAIGHT in scores:
        skill = found.skill(STRAIGHT)
        row["CRPS over constant velocity"] = [
            rounded(1 - value) for value in (skill.estimate, skill.high, skill.low)
        ]
    append("real", row)


def rounded(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None


if __name__ == "__main__":
    main(tyro.cli(Options))
