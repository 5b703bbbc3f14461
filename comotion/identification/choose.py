"""Which structure? The evidence proposes, forecasts of held-out frames decide."""

import dataclasses
import time
from collections.abc import Callable
from threading import Event
from typing import Any, Literal

from comotion.contacts import ContactLaw
from comotion.data import Trajectories, read
from comotion.errors import BadInput
from comotion.identification.evidence import EvidenceOfLaws, evidence_of
from comotion.identification.structures import (
    BILLIARD,
    CONTACTS,
    NEAREST,
    NULL,
    Kind,
    Structure,
    beside,
    rounds,
)
from comotion.identification.verdict import (
    STOPPED,
    TIME_IS_OVER,
    Identification,
    Trial,
)
from comotion.initialise import unless_it_leaks
from comotion.initialise.find_contacts import find_contacts
from comotion.initialise.tracks import tracks_of
from comotion.scoring import AbstractReference, ConstantTurn, Evaluation
from comotion.scoring.at_origins import REFERENCES, evaluate_at, forecast_at
from comotion.scoring.rolling import Protocol, roll
from comotion.systems import MOTION, system
from comotion.train import fit
from comotion.train.interruptible import interruptible
from comotion.train.plan import plan
from comotion.train.recipe import now

Effort = Literal["quick", "best"]
STEPS = {"quick": 100, "best": 500}
"""Training steps of each structure."""
SEEN = 10
LONGEST = 50
MOST_ORIGINS = 200
DRAWS = 50
HOLDS = 0.8
"""Of the truth, in bands of 90 %: a law is whole if they hold so much."""


LAWS = "laws"
"""What of them all is said where none is weighed."""


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

    The log evidence of each kind of law, over the likeliest motion without one, is worked out in
    closed form. What it favours is fitted to the data but for their end (or `valid`), part by
    part, and judged by forecasts of `horizon` frames from the last of `seen` frames there, beside
    straight lines, steady turns, Kalman filters and climatology. A part is kept only if forecasts
    are better with it beyond chance; so without a law to be found the answer is none.

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
    until = float("inf") if time_limit is None else time.monotonic() + time_limit
    return _Search(train, held_out, protocol, effort, seed, say, until).result()


class _Search:
    """What all steps of it share, and what they have found so far."""

    def __init__(
        self,
        train: Trajectories,
        held_out: Trajectories,
        protocol: Protocol,
        effort: Effort,
        seed: int,
        say: Callable[[str], None],
        until: float,
    ):
        self.train, self.held_out, self.protocol = train, held_out, protocol
        self.effort, self.seed, self.say, self.until = effort, seed, say, until
        self.origins = roll(held_out, protocol)
        self.skipped: dict[str, str] = {}
        self.stopped = False

    @property
    def over(self) -> str:
        """Why nothing new is begun, if so."""
        if self.stopped:
            return STOPPED
        return TIME_IS_OVER if time.monotonic() > self.until else ""

    def result(self) -> Identification:
        best = self._trial(NULL, None)
        trials = [best]
        evidence = self._evidence()
        law = self._contacts()
        favourite = Kind() if evidence is None else evidence.favourite
        straight = law is not None and law.only
        # Without evidence everything is tried.
        speed = evidence is None or evidence.is_worth(Kind("speed"))
        for structures in rounds(
            favourite, contacts=law is not None, straight=straight, speed=speed
        ):
            objects = self.train.values.shape[2]
            tried = [
                self._unless(beside(best.structure, each, objects), best) for each in structures
            ]
            found = [trial for trial in tried if trial is not None]
            trials += found
            better = [trial for trial in found if trial.helps]
            best = min(better, key=lambda trial: trial.crps, default=best)
        return Identification(tuple(trials), best, self.skipped, evidence)

    def _evidence(self) -> EvidenceOfLaws | None:
        """How likely each kind of law is, or None if there is no time to ask."""
        if self.over:
            self.skipped[LAWS] = self.over
            return None
        self.say("weighing kinds of laws")
        try:
            return self._heard(lambda: evidence_of(self.train, self.protocol, NEAREST))
        except BadInput as error:
            self.skipped[LAWS] = str(error)
        except KeyboardInterrupt:
            self.stopped, self.skipped[LAWS] = True, STOPPED
        return None

    def _contacts(self) -> ContactLaw | None:
        """A law of contact that keeps objects in the scene."""
        try:
            found = self._heard(lambda: unless_it_leaks(find_contacts(tracks_of(self.train))))
        except KeyboardInterrupt:
            self.stopped, self.skipped[CONTACTS.name] = True, STOPPED
            return None
        if found.law is None:
            self.skipped[CONTACTS.name] = found.reason
        return found.law

    def _unless(self, structure: Structure, best: Trial) -> Trial | None:
        """The trial of a structure, unless there is a reason to leave it out."""
        reason = f"{best.structure.name} is enough" if _is_whole(best) else self.over
        if not reason:
            try:
                return self._trial(structure, best.evaluation)
            except (BadInput, ArithmeticError) as error:  # it cannot be had, or training diverged
                reason = str(error)
            except KeyboardInterrupt:  # what was found before is an answer, too
                self.stopped, reason = True, STOPPED
        self.skipped[structure.name] = reason
        return None

    @staticmethod
    def _heard(work: Callable[[], Any]) -> Any:
        """Ctrl-C is heard at any moment."""
        return interruptible(work, Event())

    def _trial(self, structure: Structure, before: Evaluation | None) -> Trial:
        """Also while forecasts are made and scored."""
        return self._heard(lambda: self._judged(structure, before))

    def _judged(self, structure: Structure, before: Evaluation | None) -> Trial:
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
        references = self._references() if before is None else {}  # the same for all structures
        found = evaluate_at(
            structure.name, predicted, self.origins, self.train, self.protocol, references
        )
        if before is None:
            return Trial(structure, model, found, None)
        beside = {name: before.scores[name] for name in before.references}
        found = dataclasses.replace(found, scores=found.scores | beside)
        return Trial(structure, model, found, before)

    def _references(self) -> dict[str, type[AbstractReference]]:
        """Steady turns are for the plane."""
        planar = self.train.spatial == 2
        return {**REFERENCES, **({"constant turn": ConstantTurn} if planar else {})}


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
