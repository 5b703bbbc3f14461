"""The law that was learned: what an object does alone and what two do to each other, with bands."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from comotion.config.parts import VIEWS
from comotion.data.units import Units, with_unit
from comotion.errors import BadInput
from comotion.predict.fields import fields, typical_speed
from comotion.predict.fitted import FittedModel
from comotion.predict.formulas import DRAG, Formula, fit_formula, fit_formulas
from comotion.predict.quantiles import quantile

if TYPE_CHECKING:
    import xarray as xr

DRAWS, RESOLUTION = 100, 61
BAND = 0.9
SPEEDS = (0.25, 0.5, 1.0, 1.5)
NOTHING = "no interaction that the data make sure of"


@dataclass(frozen=True, eq=False, repr=False)
class Law:
    """f_s (`alone`) and f_b (`interaction`) in the data's units; printing it gives sentences.

    >>> list(model.law.interaction().data_vars)
    ['mean', 'sd', 'low', 'high']
    """

    fitted: FittedModel

    def interaction(self, speed: float | None = None) -> "xr.Dataset":
        """What one object does to another over their distance: mean, sd, low and high.

        Radial is positive where they push apart. They close in on each other at `speed`.
        """
        return self._banded("f_b_line", speed)

    def alone(self, speed: float | None = None) -> "xr.Dataset":
        """What an object does over position when it moves to the right at `speed`."""
        return self._banded("f_s", speed)

    @property
    def contact(self) -> str:
        """Hard contacts, if the model has learned any."""
        return self.fitted.contacts or "no hard contacts are part of this model"

    def formulas(self) -> list[Formula]:
        """Formulas that could be the radial force, the one the band likes best first."""
        line = self._typical["f_b_line"].sel(direction="radial")
        return fit_formulas(line["distance"].values, line.transpose("draw", "distance").values)

    def drag(self) -> Formula:
        """How f_s changes with speed: c - g v, g the share of its speed lost per unit of time."""
        speeds = np.array(SPEEDS) * typical_speed(self.fitted)
        along = [self._fields(speed)["f_s"].isel(component=self._along) for speed in speeds]
        pushes = np.stack([f.mean([d for d in f.dims if d != "draw"]).values for f in along])
        return fit_formula(DRAG, speeds, pushes.T)

    def plot(self) -> tuple[Any, Any]:
        """Pictures of f_s and of f_b."""
        figures = VIEWS["independent_field_figure"], VIEWS["interaction_field_figure"]
        alone, interaction = (figure(self._typical) for figure in figures)
        return alone, interaction

    @property
    def _along(self) -> int:
        names = [str(name) for name in self._typical["component"].values]
        return names.index("vx") if "vx" in names else names.index("x")

    def _banded(self, name: str, speed: float | None) -> "xr.Dataset":
        import xarray as xr

        drawn = self._fields(speed)[name]
        low, high = (quantile(drawn, (1 + sign * BAND) / 2) for sign in (-1, 1))
        return xr.Dataset(
            {"mean": drawn.mean("draw"), "sd": drawn.std("draw"), "low": low, "high": high},
            attrs={"band": BAND} | self.fitted.shape.units.attributes,
        )

    @property
    def _typical(self) -> "xr.Dataset":
        return self._fields(None)

    @cached_property
    def _asked(self) -> dict[float, "xr.Dataset"]:
        return {}

    def _fields(self, speed: float | None) -> "xr.Dataset":
        """Drawn once for each speed, as drag, bands, formulas and pictures ask for the same."""
        speed = typical_speed(self.fitted) if speed is None else speed
        if speed not in self._asked:
            drawn = fields(self.fitted, draws=DRAWS, resolution=RESOLUTION, speed=speed)
            self._asked[speed] = drawn
        return self._asked[speed]

    @property
    def headline(self) -> str:
        """What was learned in a line; empty where a law is no function of distance."""
        if self.fitted.contacts:
            return self.fitted.contacts
        try:
            return self._about_pairs()[0]
        except BadInput:
            return ""

    def __str__(self) -> str:
        law = self.fitted.contact_law
        if law is not None and law.only:
            return f"between contacts everything flies straight on\n{self.contact}"
        try:
            lines = [*self._about_pairs(), *self._about_drag()]
        except BadInput as error:
            return f"The law of this model cannot be told in sentences: {error}"
        return "\n".join([*lines, self.contact])

    __repr__ = __str__

    def _about_pairs(self) -> list[str]:
        parts, shape = self.fitted.config.system, self.fitted.shape
        if parts.who == "interacting" and parts.pair == "none":
            alone = "" if parts.alone != "none" else ", and goes on as it was but for noise"
            return [f"no interaction is part of this model: each object moves by itself{alone}"]
        band = self.interaction().sel(direction="radial")
        moving = parts.order == 2 or shape.velocities_observed
        lines = _sentences(band, shape.units, shape.units.rate(2 if moving else 1))
        if not lines[0].startswith(NOTHING):
            lines += [f"as a formula: {formula}" for formula in self.formulas()[:3]]
        return lines

    def _about_drag(self) -> list[str]:
        layout = self.fitted.model.dynamics.layout
        if not layout.has_velocity or self.fitted.config.system.alone == "none":
            return []
        drag = self.drag()
        slope, sd = drag.parameters["-g"]
        if abs(slope) < 2 * sd or slope == 0:
            return [
                f"alone, objects neither slow down nor speed up for sure ({-slope:.2g} ± {sd:.2g})"
            ]
        word, clock = "lose" if slope < 0 else "gain", self.fitted.shape.units.one_time
        lost = f"alone, objects {word} a share {abs(slope):.2g} ± {sd:.2g} of their speed"
        return [f"{lost} per {clock}", f"as a formula: {drag}"]


def _sentences(band: "xr.Dataset", units: Units, rate: str) -> list[str]:
    """Where two objects push apart or pull together for sure, how much, and how far it reaches."""
    r, mean = band["distance"].values, band["mean"].values
    pushes, pulls = band["low"].values > 0, band["high"].values < 0
    sure = pushes | pulls
    if not sure.any():
        return [f"{NOTHING} at any distance"]

    def far(distance: float) -> str:
        return with_unit(f"{distance:.3g}", units.length)

    lines = []
    for word, where in (("repel", pushes), ("attract", pulls)):
        for first, last in _runs(where):
            piece = slice(first, last + 1)
            peak = first + int(np.abs(mean[piece]).argmax())
            extent = f"below {far(r[last])}"
            if first > 0:
                extent = f"from {r[first]:.3g} to {far(r[last])}"
            size = f"{abs(mean[peak]):.3g} ± {band['sd'].values[peak]:.2g} {rate}"
            lines.append(f"two objects {word} {extent}, most at {far(r[peak])} ({size})")
    strongest = int(np.where(sure, np.abs(mean), 0.0).argmax())
    beyond = np.flatnonzero(np.abs(mean[strongest:]) < 0.5 * abs(mean[strongest]))
    if beyond.size:
        lines.append(f"it falls to half within {far(r[strongest + beyond[0]] - r[strongest])}")
    last = int(np.flatnonzero(sure)[-1])
    if last < len(r) - 1:
        lines.append(f"no interaction that is sure beyond {far(r[last])}")
    return lines


def _runs(where: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of every stretch of at least two."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2) if b - a > 1]
