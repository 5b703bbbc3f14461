"""After training: how well does it forecast what was held out, and what did it learn?"""

import dataclasses

from comotion.data import Trajectories, describe
from comotion.errors import BadInput
from comotion.predict import FittedModel
from comotion.predict.findings import Findings, Skill
from comotion.scoring.held_out import held_out_skill
from comotion.train.folder import RunFolder
from comotion.train.plan import FitPlan
from comotion.train.progress import Watcher


def close(
    fitted: FittedModel, planned: FitPlan, folder: RunFolder | None, watcher: Watcher
) -> FittedModel:
    """The model with its findings, which are also written into the folder of the run as a page.

    Ctrl-C leaves out what is not done yet.
    """
    try:
        watcher.say("forecasting what was held out")
        skill = _skill(fitted, planned, watcher)
        fitted = dataclasses.replace(fitted, findings=_findings(fitted, planned, skill))
        if folder is not None:
            fitted.save(folder.model)
            watcher.say("writing the report")
            fitted.report(folder.report, _shown(planned), title=f"Report of {folder.path.name}")
    except KeyboardInterrupt:
        watcher.say("stopped; the model is whole, its report is not made")
    return fitted


def _skill(fitted: FittedModel, planned: FitPlan, watcher: Watcher) -> Skill:
    held_out = _shown(planned)
    if held_out is None:
        return Skill()
    try:
        skill = held_out_skill(fitted, held_out, planned.train)
    except BadInput as error:  # too few frames for a forecast, or nobody stays long enough
        watcher.say(f"what was held out cannot be scored: {error}")
        return Skill()
    return dataclasses.replace(skill, bands_measured_here=bool(fitted.stretch.leads))


def _findings(fitted: FittedModel, planned: FitPlan, skill: Skill) -> Findings:
    try:
        learned = fitted.law.headline
    except BadInput:  # not every system has a law of pairs to be told
        learned = ""
    told = [" ".join(line.split()) for line in str(describe(planned.train)).splitlines()]
    return Findings(skill, learned, (*told, *planned.sentences))


def _shown(planned: FitPlan) -> Trajectories | None:
    """As it was before it was packed, where it was taken from the data."""
    return planned.valid if planned.held_out is None else planned.held_out
