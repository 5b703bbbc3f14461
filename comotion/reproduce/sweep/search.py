"""Trials of a study: each fits a system with suggested values, and stops early if it falls behind.

Everything a search knows is in one journal file, which several processes may write to. A trial
whose process died is forgotten when the search goes on, and another one takes its place.
"""

import dataclasses
import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comotion.config import RunConfig, Stage
from comotion.data import Trajectories
from comotion.data.reading import understand
from comotion.data.wishes import Wishes
from comotion.errors import BadInput
from comotion.reproduce.scenes import parts_of
from comotion.reproduce.sweep.space import Between, Space
from comotion.train.progress import Figures

FEWEST_TO_COMPARE = 4
"""Trials that must be finished before another one is stopped early."""


@dataclass(frozen=True)
class Study:
    """One system's search."""

    space: Space
    name: str
    folder: Path
    seed: int = 0
    data: Path | None = None
    """the user's own trajectories instead of simulated ones"""
    share: float = 0.8
    """of them to train on; the rest is chosen on"""
    wishes: Wishes = dataclasses.field(default_factory=Wishes)
    """which columns hold what"""

    def open(self, trial_seed: int = 0) -> Any:
        optuna = _optuna()
        backend = optuna.storages.journal.JournalFileBackend(str(self.folder / "journal.log"))
        return optuna.create_study(
            study_name=self.name,
            storage=optuna.storages.JournalStorage(backend),
            direction="maximize",
            load_if_exists=True,
            sampler=optuna.samplers.TPESampler(seed=trial_seed, constant_liar=True),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=FEWEST_TO_COMPARE),
        )

    def sets(self) -> Iterator[tuple[Trajectories, Trajectories]]:
        """What to train on and what to choose on."""
        if self.data is not None:
            yield _divided(understand(self.data, self.wishes).data, self.share)
            return
        for scene in self.space.scenes():
            parts = parts_of(scene, self.seed)
            yield parts.train.seen, parts.valid.seen


def _divided(whole: Trajectories, share: float) -> tuple[Trajectories, Trajectories]:
    count = round(share * len(whole)) if 0 < share < 1 else 0
    if not 0 < count < len(whole):
        raise BadInput(
            f"--split {share:g} leaves nothing to train or to choose on of {len(whole)} sequences; "
            "give a share between 0 and 1 that leaves some of both"
        )
    train, valid = whole.split(count, len(whole) - count)
    return train, valid


@dataclass(frozen=True)
class SweepTrial:
    """One piece of work: the study suggests the values when it begins."""

    study: Study
    number: int


def perform(trial: SweepTrial) -> dict[str, Any]:
    """One trial, finished or stopped early; what came of it."""
    study, made = trial.study.open(trial_seed=trial.study.seed + trial.number), []
    study.optimize(
        lambda suggestion: _value(trial.study, suggestion),
        n_trials=1,
        callbacks=[lambda _, finished: made.append(finished)],
    )
    (done,) = made
    return {"state": done.state.name, "value": done.value, "values": done.params}


def _value(study: Study, suggestion: Any) -> float:
    """The log likelihood of data to choose on, averaged over the data sets."""
    from comotion.train import fit
    from comotion.train.validation import held_out_log_likelihood

    values = suggested(study, suggestion)
    config = study.space.config(study.name, values)
    found = []
    for number, (train, valid) in enumerate(study.sets()):
        plan = study.space.plan(config, velocities_seen=train.velocities_observed)
        length = sum(stage.iterations for stage in plan.stages)
        watcher = StopsEarly(suggestion, number * length)
        fitted = fit(
            train,
            system=config,
            recipe=plan,
            valid=valid,
            seed=study.seed,
            progress=False,
            watcher=watcher,
        )
        found.append(held_out_log_likelihood(fitted, valid, seed=study.seed))
    if not math.isfinite(sum(found)):
        raise _optuna().TrialPruned
    return sum(found) / len(found)


def suggested(study: Study, suggestion: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field, domain in study.space.studies[study.name].items():
        if not isinstance(domain, Between):
            values[field] = suggestion.suggest_categorical(field, list(domain))
        elif isinstance(domain.low, int) and isinstance(domain.high, int):
            values[field] = suggestion.suggest_int(field, domain.low, domain.high, log=domain.log)
        else:
            values[field] = suggestion.suggest_float(field, domain.low, domain.high, log=domain.log)
    return values


class StopsEarly:
    """Watches a fit and stops it when the likelihood of data to choose on falls behind."""

    def __init__(self, suggestion: Any, before: int):
        self.suggestion = suggestion
        self.before = before

    def say(self, sentence: str) -> None:
        pass

    def show(self, stage: Stage, row: Figures) -> None:
        likelihood = row.get("valid_log_likelihood")
        if likelihood is None:
            return
        self.suggestion.report(likelihood, self.before + int(row["iteration"]))
        if not math.isfinite(likelihood) or self.suggestion.should_prune():
            raise _optuna().TrialPruned

    def close(self) -> None:
        pass


def finished(study: Study) -> list[Any]:
    """Trials that count: carried through or stopped early."""
    return [trial for trial in study.open().trials if trial.state.name in ("COMPLETE", "PRUNED")]


def forget_the_dead(study: Study) -> None:
    """Called when nobody is working on the study: whoever was has died."""
    optuna = _optuna()
    opened = study.open()
    for trial in opened.trials:
        if trial.state.name == "RUNNING":
            opened.tell(trial.number, state=optuna.trial.TrialState.FAIL)


def best_config(study: Study) -> RunConfig | None:
    """The config of the best finished trial, ready for `comotion fit --config`."""
    done = [trial for trial in study.open().trials if trial.state.name == "COMPLETE"]
    if not done:
        return None
    best = max(done, key=lambda trial: trial.value)
    config = study.space.config(study.name, best.params)
    train, _ = next(study.sets())
    plan = study.space.plan_to_keep(config, velocities_seen=train.velocities_observed)
    return RunConfig(config, plan, study.seed)


def missing(study: Study, trials: int) -> Iterator[SweepTrial]:
    """Trials to make, as long as there are too few."""
    for number in range(len(finished(study)), trials):
        yield SweepTrial(study, number)


def _optuna() -> Any:
    try:
        optuna = importlib.import_module("optuna")
        importlib.import_module("optuna.storages.journal")
    except ModuleNotFoundError as error:
        raise BadInput(
            "Optuna is not installed; install it with `pip install 'comotion[sweep]'`"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
