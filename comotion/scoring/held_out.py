"""How well a fitted model forecasts frames that were held out, in short."""

import dataclasses

from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.predict import FittedModel
from comotion.predict.findings import Rival, Skill
from comotion.scoring.at_origins import default_protocol, evaluate
from comotion.scoring.evaluation import Evaluation

ORIGINS, DRAWS = 100, 50


def held_out_skill(fitted: FittedModel, held_out: Trajectories, train: Trajectories) -> Skill:
    """At rolling origins, beside references fitted to `train`; empty where there are too few
    frames for a forecast."""
    protocol = default_protocol(fitted, held_out)
    protocol = dataclasses.replace(protocol, most_origins=ORIGINS)
    try:
        found = evaluate(fitted, held_out, train=train, protocol=protocol, draws=DRAWS)
    except BadInput:
        return Skill()
    return skill_of(found)


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

    return Skill(
        origins=len(found.origins),
        lead=tuple(found.origins.lead.tolist()),
        crps=tuple(own.by_lead("crps").tolist()),
        coverage_50=tuple(own.by_lead("coverage_50").tolist()),
        coverage_90=tuple(own.by_lead("coverage_90").tolist()),
        rivals=tuple(rival(name) for name in found.references),
    )
