"""How well a fitted model forecasts frames that were held out, in short."""

import dataclasses

import numpy as np

from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.predict.findings import Rival, Skill
from comotion.scoring.at_origins import default_protocol, evaluate
from comotion.scoring.evaluation import Evaluation
from comotion.scoring.references import AbstractReference

ORIGINS, DRAWS = 100, 50


def held_out_skill(
    fitted: FittedModel | AbstractReference, held_out: Trajectories, train: Trajectories
) -> Skill:
    """At rolling origins, beside references fitted to `train`, as far ahead as both are long."""
    shorter = min(held_out, train, key=lambda data: int(data.lengths.max()))
    protocol = default_protocol(fitted, shorter)
    protocol = dataclasses.replace(protocol, most_origins=ORIGINS)
    return skill_of(evaluate(fitted, held_out, train=train, protocol=protocol, draws=DRAWS))


def skill_of(found: Evaluation) -> Skill:
    own = found.scores[found.name]

    def rival(name: str) -> Rival:
        gain = found.skill(name)
        return Rival(
            name,
            tuple(found.scores[name].by_lead("crps").tolist()),
            float(gain.estimate),
            float(gain.low),
            float(gain.high),
        )

    held = found.held()
    return Skill(
        time_unit=found.origins.windows.units.time,
        origins=len(found.origins),
        lead=tuple(found.origins.lead.tolist()),
        crps=tuple(own.by_lead("crps").tolist()),
        coverage_50=tuple(own.by_lead("coverage_50").tolist()),
        coverage_90=tuple(own.by_lead("coverage_90").tolist()),
        held_90=() if np.isnan(held.low) else (held.estimate, held.low, held.high),
        rivals=tuple(rival(name) for name in found.references),
    )
