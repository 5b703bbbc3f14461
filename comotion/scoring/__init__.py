"""How good is a forecast? Rolling origins, forecast frames only, beside forecasts without a model.

`rolling` says where forecasts start and who counts; `references` and `kalman` need no model;
`lead_scores` scores, `resampling` compares in pairs, `evaluation` says it in five lines. `adaptive`
makes bands as wide as a recording's own past asks for.
"""

from comotion.scoring.adaptive import adapt, adapted
from comotion.scoring.at_origins import REFERENCES, evaluate, forecast_at
from comotion.scoring.distributions import AbstractPredictive, SampledPaths
from comotion.scoring.evaluation import Evaluation
from comotion.scoring.kalman import DampedVelocity, OUAcceleration, Wandering, WhiteAcceleration
from comotion.scoring.lead_scores import MEASURES, LeadScores, score_at
from comotion.scoring.references import (
    AbstractReference,
    AlongAcross,
    Climatology,
    ConstantTurn,
    ConstantVelocity,
)
from comotion.scoring.rolling import Origins, Protocol, roll

__all__ = [
    "MEASURES",
    "REFERENCES",
    "AbstractPredictive",
    "AbstractReference",
    "AlongAcross",
    "Climatology",
    "ConstantTurn",
    "ConstantVelocity",
    "DampedVelocity",
    "Evaluation",
    "LeadScores",
    "OUAcceleration",
    "Origins",
    "Protocol",
    "SampledPaths",
    "Wandering",
    "WhiteAcceleration",
    "adapt",
    "adapted",
    "evaluate",
    "forecast_at",
    "roll",
    "score_at",
]
