"""Structures a system may have, in the order in which they are tried."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from comotion.systems import DEFAULT, MOTION

NEAREST = 8
"""Neighbours an object hears where there are many."""


@dataclass(frozen=True)
class Kind:
    """What a law may depend on: f_s, f_b, and whether it gives accelerations or velocities."""

    alone: str = "none"
    pair: str = "none"
    order: int = 2

    def __str__(self) -> str:
        words = [word for word in (ALONE_WORDS.get(self.alone), PAIR_WORDS.get(self.pair)) if word]
        return ", ".join(words + ["first order"] * (self.order == 1))


ALONE_WORDS = {"speed": "f_s of speed", "raw": "f_s of place"}
PAIR_WORDS = {
    "distance": "f_b of distance",
    "radial": "f_b between pairs",
    "body": "f_b as seen",
}


@dataclass(frozen=True)
class Structure:
    """Parts of a system, and what they say about the world."""

    name: str
    claim: str
    parts: Mapping[str, Any]
    system: str = MOTION

    @property
    def kind(self) -> Kind | None:
        """The law in it; contacts are beside."""
        if self.parts.get("contacts", "off") != "off" or self.name == BILLIARD.name:
            return None
        return Kind(**{name: self.parts[name] for name in KIND if name in self.parts})


KIND = ("alone", "pair", "order")
NULL = Structure("no law", "objects go on as they were, with noise of their own", {})

BILLIARD = Structure(
    "contacts alone", "between contacts objects fly straight on, and nothing else acts", {}, DEFAULT
)
CONTACTS = Structure("contacts", "objects meet walls or each other", {"contacts": "auto"})
NEAR_WALLS = Structure(
    "f_s near walls",
    "where the nearest wall is decides how an object moves",
    {"alone": "wall", "contacts": "auto"},
)
ALONE = {
    "speed": "how fast an object is decides how it speeds up",
    "raw": "where an object is decides how it moves",
}
PAIR = {
    "distance": "how far two objects are apart decides how they push each other",
    "radial": "objects push each other alike, by distance and how they move past each other",
    "body": "objects react to others that they see",
}
"""What each of them claims."""


def of_alone(name: str) -> Structure:
    return Structure(ALONE_WORDS[name], ALONE[name], {"alone": name})


def of_pairs(name: str) -> Structure:
    return Structure(PAIR_WORDS[name], PAIR[name], {"pair": name})


def of_first_order(kind: Kind) -> Structure:
    """All of the law at once."""
    parts = {"order": 1, "hidden_velocity": False, "encoder": "gru", "contacts": "off"}
    claim = "places decide velocities, and nothing goes on by itself"
    law = {"alone": kind.alone, "pair": kind.pair}
    return Structure(str(kind), claim, parts | law, DEFAULT)


def beside(base: Structure, addition: Structure, objects: int) -> Structure:
    """Both structures together; what knows no noise of its own is left behind."""
    if addition.system == DEFAULT:
        return _in_a_crowd(addition, objects)
    base = base if base.system == addition.system else NULL
    name = addition.name if base is NULL else f"{base.name}, {addition.name}"
    return _in_a_crowd(
        replace(addition, name=name, parts={**base.parts, **addition.parts}), objects
    )


def _in_a_crowd(structure: Structure, objects: int) -> Structure:
    """Each object hears the nearest."""
    if objects <= NEAREST + 1 or structure.parts.get("pair", "none") == "none":
        return structure
    return replace(structure, parts={**structure.parts, "nearest": NEAREST})


def rounds(
    kind: Kind, *, contacts: bool, straight: bool, speed: bool
) -> Iterator[tuple[Structure, ...]]:
    """What is tried beside the best structure so far, round by round.

    `kind` is what the evidence favours; `contacts` says whether any were found, `straight` whether
    flights between them look straight, `speed` whether the evidence is for f_s of speed. It knows
    of no contacts: where there are any, it takes a wall for a place, and every f_s of places is
    tried. Of speed it is not deceived.
    """
    if contacts and straight:
        yield (BILLIARD,)
    if contacts:
        yield (CONTACTS,)
    if contacts:
        yield (*([of_alone("speed")] if speed else []), of_alone("raw"), NEAR_WALLS)
    elif kind.alone != "none" and kind.order == 2:
        yield (of_alone(kind.alone),)
    if kind.pair != "none" and kind.order == 2:
        yield (of_pairs(kind.pair),)
    if kind.order == 1:
        yield (of_first_order(kind),)
