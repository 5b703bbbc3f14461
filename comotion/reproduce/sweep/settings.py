"""What decides what a trial means, kept in the journal so that no two searches are mixed."""

import dataclasses
import hashlib
import json
from typing import Any

from comotion.config import RunConfig, to_dict
from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.reproduce.sweep.search import Study
from comotion.train.folder import fingerprint

KEPT = "settings"


def settings(study: Study) -> dict[str, str]:
    """As they can be read in a message: what was asked for, then what follows from it.

    Looks at the data, so that those which cannot be searched on are refused here.
    """
    train, valid = next(study.sets())
    asked = {
        "scale": study.space.scale,
        "seed": study.seed,
        "fields": study.space.studies[study.name],
    }
    config = study.space.config(study.name, {})
    plan = study.space.plan(config, velocities_seen=train.velocities_observed)
    follows = {"system and recipe": _digest(_written(to_dict(RunConfig(config, plan))))}
    everything = asked | _about_data(study, train, valid) | follows
    return {name: _written(value) for name, value in everything.items()}


def keep_to(study: Study, wanted: dict[str, str]) -> None:
    """Refuses to go on with trials that were made with other settings."""
    opened = study.open()
    if not opened.trials:
        opened.set_user_attr(KEPT, wanted)
    kept = opened.user_attrs.get(KEPT, {})
    for name, value in wanted.items():
        if kept.get(name) != value:
            raise BadInput(
                f"--out {study.folder}: {study.name} was searched there with {name} "
                f"{kept.get(name, 'unknown')}, not {value}; choose another --out folder, or the "
                "same settings again"
            )


def _about_data(study: Study, train: Trajectories, valid: Trajectories) -> dict[str, Any]:
    if study.data is None:
        return {"data": "simulated", "noise": study.space.noise, "objects": study.space.objects}
    content = _digest(fingerprint(train) + fingerprint(valid))
    return {"data": "from a file", "split": study.share, "data fingerprint": content}


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=dataclasses.asdict)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
