"""Structures a system may have, in the order in which they are tried."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from comotion.systems import DEFAULT, MOTION

NEAREST = 8
"""Neighbours an object hears where there are many."""


@dataclass(frozen=True)
class Structure:
    """Parts of a system, and what they say about the world."""

    name: str
    claim: str
    parts: Mapping[str, Any]
    system: str = MOTION


NULL = Structure("no law", "objects go on as they were, with noise of their own", {})

BILLIARD = Structure(
    "contacts alone", "between contacts objects fly straight on, and nothing else acts", {}, DEFAULT
)
CONTACTS = Structure("contacts", "objects meet walls or each other", {"contacts": "auto"})
ALONE = (
    Structure("f_s of speed", "how fast an object is decides how it speeds up", {"alone": "speed"}),
    Structure("f_s of place", "where an object is decides how it moves", {"alone": "raw"}),
)
NEAR_WALLS = Structure(
    "f_s near walls",
    "where the nearest wall is decides how an object moves",
    {"alone": "wall", "contacts": "auto"},
)
PAIR = (
    Structure("f_b between pairs", "objects push each other alike", {"pair": "radial"}),
    Structure("f_b as seen", "objects react to others that they see", {"pair": "body"}),
)


def beside(base: Structure, addition: Structure, objects: int) -> Structure:
    """Both structures together; what knows no noise of its own is left behind."""
    base = base if base.system == addition.system else NULL
    parts = {**base.parts, **addition.parts}
    if objects > NEAREST + 1 and "pair" in addition.parts:
        parts["nearest"] = NEAREST
    name = addition.name if base is NULL else f"{base.name}, {addition.name}"
    return Structure(name, addition.claim, parts, addition.system)


def rounds(objects: int, *, contacts: bool, straight: bool) -> Iterator[tuple[Structure, ...]]:
    """What is tried beside the best structure so far, round by round.

    `contacts` says whether any were found, `straight` whether flights between them look straight.
    """
    if contacts and straight:
        yield (BILLIARD,)
    if contacts:
        yield (CONTACTS,)
    yield (*ALONE, NEAR_WALLS) if contacts else ALONE
    if objects > 1:
        yield PAIR
