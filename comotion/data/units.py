"""What lengths and times are measured in, where a table or its reader says so."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

BRACKETS = re.compile(r"[(\[]\s*([^)\]]+?)\s*[)\]]\s*$")
ENDING = re.compile(r"_([a-zµ]+)$")
USUAL = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("pixel", "pixels"), "px"),
    **{unit: unit for unit in ("m", "cm", "mm", "km", "px", "ms", "min", "h")},
}
FRAMES = "frames"
LENGTH, TIME = "length_unit", "time_unit"


@dataclass(frozen=True)
class Units:
    """As people write them; empty where nobody knows, and then they are left out."""

    length: str = ""
    time: str = ""

    @classmethod
    def among(cls, attributes: Mapping[str, Any]) -> "Units":
        """Those of an xarray, where files and forecasts keep them."""
        return cls(str(attributes.get(LENGTH, "")), str(attributes.get(TIME, "")))

    @property
    def attributes(self) -> dict[str, str]:
        return {name: u for name, u in ((LENGTH, self.length), (TIME, self.time)) if u}

    @property
    def speed(self) -> str:
        return f"{self.length}/{_one(self.time)}" if self.length and self.time else ""

    @property
    def one_time(self) -> str:
        """For what happens per second, per frame, per day."""
        return _one(self.time) or "time"

    def rate(self, order: int) -> str:
        """Of a velocity that a law gives (order 1), or of an acceleration."""
        if self.speed:
            return self.speed + ("²" if order == 2 else "")
        return f"{self.length or 'length'} per {self.one_time}" + "²" * (order == 2)

    def __str__(self) -> str:
        return f"{self.length or 'unknown lengths'} and {self.time or 'unknown times'}"

    def of(self, feature: str) -> str:
        """The unit of a column, if it is a position, a velocity or the time."""
        if feature in ("x", "y", "z"):
            return self.length
        if feature in ("vx", "vy", "vz"):
            return self.speed
        return self.time if feature in ("time", "lead time") else ""


def labelled(name: str, unit: str) -> str:
    """For axes: "x (cm)"."""
    return f"{name} ({unit})" if unit else name


def with_unit(number: str, unit: str) -> str:
    """For sentences: "2.4 cm"."""
    return f"{number} {unit}" if unit else number


def counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def common_unit(names: Iterable[str]) -> str:
    """The unit that all these headings name: "x (cm)", "pos_x [cm]" or "x_cm"."""
    found = {_of_heading(name) for name in names}
    return found.pop() if len(found) == 1 else ""


def common_ending(names: Iterable[str]) -> str:
    """The unit that all these headings end with, as x_m and y_m do: it may mean something else."""
    return "" if any(BRACKETS.search(name) for name in names) else common_unit(names)


def _of_heading(name: str) -> str:
    if found := BRACKETS.search(name):
        return USUAL.get(found[1].lower(), found[1])
    found = ENDING.search(name.strip().lower())
    return USUAL.get(found[1] if found else name.strip().lower(), "")


def _one(time: str) -> str:
    """A single one: per frame, per day."""
    return time[:-1] if len(time) > 3 and time.endswith("s") else time


UNKNOWN = Units()
