"""What a fit will do with its data before it learns from them, in sentences and in deed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from comotion.config import SystemConfig
from comotion.data.describe import find_oddities
from comotion.data.jumps import find_jumps, leave_out
from comotion.data.recordings import at_once
from comotion.data.trajectories import Trajectories
from comotion.errors import BadInput
from comotion.systems import DEFAULT

CROWD = 20
"""Objects at once from which on hearing all of them costs more than it is worth."""
NEAREST = 10
"""Neighbours heard in a crowd."""
HELD_OUT = 0.2
"""Share of the data that judges the fit."""
FEWEST_SEQUENCES = 5
"""With fewer, the end of each is held out instead of whole ones."""
FEWEST_FRAMES = 50
"""Of a sequence whose end may be held out: a fifth of them still is a forecast."""


@dataclass(frozen=True)
class FitPlan:
    """Data to train on, data to watch, parts to change, and why.

    `held_out` is what was taken away from the data, as it was before it was packed: a `share`.
    """

    train: Trajectories
    valid: Trajectories | None
    held_out: Trajectories | None
    share: float
    parts: dict[str, Any]
    sentences: tuple[str, ...]


def plan(
    train: Trajectories,
    *,
    valid: Trajectories | None = None,
    hold_out: float = HELD_OUT,
    system: str | SystemConfig = DEFAULT,
    parts: dict[str, Any] | None = None,
) -> FitPlan:
    """Leave out steps too fast to be true, hold out the end unless data to watch are given, pack
    objects that come and go, and let objects of a crowd hear the nearest."""
    train, sentences = _without_jumps(train)
    sentences += [f"note: {oddity}" for oddity in find_oddities(train)]
    valid = None if valid is None else _without_jumps(valid)[0]
    chosen, held_out = dict(parts or {}), None
    if not 0 <= hold_out < 1:
        raise BadInput(
            f"hold_out={hold_out:g} leaves nothing to train on; give 0 or a share below 1"
        )
    share = hold_out if valid is None else 0.0
    if valid is None and hold_out:
        train, held_out, sentence = _held_out(train, hold_out)
        sentences.append(sentence)
        valid = held_out
    crowd = max(at_once(data) for data in (train, valid) if data is not None)
    if system == DEFAULT and crowd > CROWD and "nearest" not in chosen and train.graph is None:
        chosen["nearest"] = NEAREST
        sentences.append(
            f"up to {crowd} objects are there at once: each hears its {NEAREST} nearest "
            "(nearest=0 lets it hear all)"
        )
    packed = train.packed()
    if packed is not train:
        sentences.append(
            f"objects come and go: cut into {len(packed)} windows of up to "
            f"{packed.values.shape[1]} frames with {packed.values.shape[2]} slots instead of "
            f"{train.values.shape[2]}"
        )
    valid = None if valid is None else valid.packed()
    return FitPlan(packed, valid, held_out, share, chosen, tuple(sentences))


def _without_jumps(data: Trajectories) -> tuple[Trajectories, list[str]]:
    """Data that were read have none left; arrays may."""
    found = find_jumps(data)
    sentences = found.sentences("the data", "frame", lambda place: place[1])
    return leave_out(data, found), sentences


def _held_out(data: Trajectories, share: float) -> tuple[Trajectories, Trajectories | None, str]:
    """The last sequences, or the last frames where there are few sequences."""
    if len(data) >= FEWEST_SEQUENCES:
        train, rest = data.split(1 - share, share)
        return train, rest, f"held out: the last {len(rest)} of {len(data)} sequences"
    if int(data.lengths.min()) < FEWEST_FRAMES:
        few = f"{len(data)} sequences of {int(data.lengths.min())} frames"
        return data, None, f"nothing is held out of {few}: give more, or valid=… to watch"
    ends = np.rint((1 - share) * data.lengths).astype(int)
    start = data.times[np.arange(len(data)), ends]
    train, rest = data.split(1 - share, share, by="time")
    since = f"from {start[0]:.4g} on" if len(data) == 1 else "of each sequence"
    return train, rest, f"held out: the last {share:.0%} of the frames, {since}"
