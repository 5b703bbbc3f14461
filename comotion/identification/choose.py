"""Forward selection: each round keeps the structure that forecasts held-out frames best."""

import dataclasses
import time
from collections.abc import Callable
from threading import Event
from typing import Any, Literal

from comotion.contacts import ContactLaw
from comotion.data import Trajectories, read
from comotion.errors import BadInput
from comotion.identification.structures import BILLIARD, CONTACTS, NULL, Structure, beside, rounds
from comotion.identification.verdict import STOPPED, Identification, Trial, gain_over
from comotion.initialise import unless_it_leaks
from comotion.initialise.find_contacts import find_contacts
from comotion.initialise.tracks import tracks_of
from comotion.scoring import Evaluation
from comotion.scoring.at_origins import REFERENCES, evaluate_at, forecast_at
from comotion.scoring.rolling import Origins, Protocol, roll
from comotion.systems import MOTION, system
from comotion.train import fit
from comotion.train.interruptible import interruptible
from comotion.train.plan import plan
from comotion.train.recipe import now

Effort = Literal["quick", "best"]
STEPS = {"quick": 150, "best": 500}
"""Training steps of each structure."""
SEEN = 10
LONGEST = 50
MOST_ORIGINS = 200
DRAWS = 50
HOLDS = 0.8
"""Of the truth, in bands of 90 %: a law is whole if they hold so much."""


class NothingHeldOut(BadInput):
    """There is too little to leave any of it out."""


def silently(sentence: str) -> None:
    pass


def identify(
    data: Any,
    *,
    valid: Any = None,
    horizon: int | None = None,
    seen: int = SEEN,
    effort: Effort = "quick",
    time_limit: float | None = None,
    seed: int = 0,
    say: Callable[[str], None] = silently,
) -> Identification:
    """Which laws do these objects obey, if any? Printed, the answer is a table with sentences.

    Structures are fitted to the data but for their end (or `valid`) and judged by forecasts of
    `horizon` frames from the last of `seen` frames there, beside constant velocity, a Kalman
    filter and climatology. One is kept only if it is better than what was there before beyond
    chance; so without a law to be found the answer is none.

    Rarely needed: `effort` "best" trains longer; after `time_limit` seconds nothing new is tried;
    `say` is told what is tried.

    >>> print(cm.identify(data))  # doctest: +SKIP
    """
    planned = plan(
        read(data),
        valid=None if valid is None else read(valid),
        system=MOTION,
        parts={},
    )
    train, held_out = planned.train, planned.valid
    if held_out is None:
        raise NothingHeldOut(
            f"{planned.sentences[-1]}; without held-out data nothing can be said about their law"
        )
    protocol = protocol_for(train, held_out, seen, horizon)
    origins = roll(held_out, protocol)
    until = float("inf") if time_limit is None else time.monotonic() + time_limit
    run = _Run(train, held_out, origins, protocol, effort, seed, say)
    best = run.trial(NULL, None)
    trials, skipped, objects = [best], {}, train.values.shape[2]
    law, reason = _contacts(train)
    stopped = reason == STOPPED
    if law is None:
        skipped[CONTACTS.name] = reason
    straight = law is not None and law.only
    for structures in rounds(objects, contacts=law is not None, straight=straight):
        tried = []
        for addition in structures:
            structure = beside(best.structure, addition, objects)
            if _is_whole(best):
                skipped[structure.name] = f"{best.structure.name} is enough"
                continue
            if stopped or time.monotonic() > until:
                skipped[structure.name] = STOPPED if stopped else "the time limit was reached"
                continue
            try:
                tried.append(run.trial(structure, best.evaluation))
            except (BadInput, ArithmeticError) as error:  # it cannot be had, or training diverged
                skipped[structure.name] = str(error)
            except KeyboardInterrupt:  # what was found before is an answer, too
                stopped = True
                skipped[structure.name] = STOPPED
        trials += tried
        better = [trial for trial in tried if trial.helps]
        best = min(better, key=lambda trial: trial.crps, default=best)
    return Identification(tuple(trials), best, skipped)


def _contacts(train: Trajectories) -> tuple[ContactLaw | None, str]:
    """A law of contact that keeps objects in the scene, or why there is none."""
    try:
        found = interruptible(lambda: unless_it_leaks(find_contacts(tracks_of(train))), Event())
    except KeyboardInterrupt:
        return None, STOPPED
    return found.law, found.reason


class _Run:
    """What all trials share."""

    def __init__(
        self,
        train: Trajectories,
        held_out: Trajectories,
        origins: Origins,
        protocol: Protocol,
        effort: Effort,
        seed: int,
        say: Callable[[str], None],
    ):
        self.train, self.held_out, self.origins = train, held_out, origins
        self.protocol, self.effort, self.seed, self.say = protocol, effort, seed, say

    def trial(self, structure: Structure, before: Evaluation | None) -> Trial:
        """Ctrl-C is heard at any moment, also while forecasts are made and scored."""
        return interruptible(lambda: self._trial(structure, before), Event())

    def _trial(self, structure: Structure, before: Evaluation | None) -> Trial:
        self.say(f"trying: {structure.name} ({structure.claim})")
        parts = dict(structure.parts)
        if structure.system == MOTION:
            whole = system(MOTION, **structure.parts)
            parts["recipe"] = now(whole, self.protocol.horizon, STEPS[self.effort])
            parts["encoder_frames"] = self.protocol.seen
        model = fit(
            self.train,
            valid=self.held_out,
            system=structure.system,
            seed=self.seed,
            progress=False,
            on_interrupt="raise",
            **parts,
        )
        predicted = forecast_at(model, self.origins, draws=DRAWS, seed=self.seed + 1)
        references = REFERENCES if before is None else {}  # they are the same for all structures
        found = evaluate_at(
            structure.name, predicted, self.origins, self.train, self.protocol, references
        )
        if before is None:
            return Trial(structure, model, found, None)
        beside = {name: before.scores[name] for name in before.references}
        found = dataclasses.replace(found, scores=found.scores | beside)
        return Trial(structure, model, found, gain_over(found, before))


def _is_whole(trial: Trial) -> bool:
    """A law without noise of its own whose bands hold the truth leaves nothing to be found."""
    return trial.structure == BILLIARD and trial.evaluation["coverage_90"] > HOLDS


def protocol_for(
    train: Trajectories, held_out: Trajectories, seen: int, horizon: int | None
) -> Protocol:
    """As many frames ahead as the shorter of both parts allows, up to a limit."""
    frames = int(min(train.lengths.max(), held_out.lengths.max()))
    seen = max(2, min(seen, frames // 2))
    longest = frames - seen
    horizon = min(LONGEST if horizon is None else horizon, longest)
    return Protocol(seen, max(1, horizon), seen_share=0.5, most_origins=MOST_ORIGINS)
