"""The law that was learned: what an object does alone and what two do to each other, with bands."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from comotion.errors import BadInput
from comotion.predict.fields import fields, typical_speed
from comotion.predict.fitted import FittedModel
from comotion.predict.formulas import Formula, fit_formulas
from comotion.views import VIEWS

if TYPE_CHECKING:
    import xarray as xr

DRAWS, RESOLUTION = 100, 61
BAND = 0.9
SPEEDS = (0.25, 0.5, 1.0, 1.5)


@dataclass(frozen=True, eq=False, repr=False)
class Law:
    """f_s (`alone`) and f_b (`interaction`) in the data's units; printing it gives sentences."""

    fitted: FittedModel

    def interaction(self, speed: float | None = None) -> "xr.Dataset":
        """What one object does to another over their distance: mean, sd, low and high.

        Radial is positive where they push apart. They close in on each other at `speed`.
        """
        return _banded(self._fields(speed)["f_b_line"])

    def alone(self, speed: float | None = None) -> "xr.Dataset":
        """What an object does over position when it moves to the right at `speed`."""
        return _banded(self._fields(speed)["f_s"])

    @property
    def contact(self) -> str:
        """Hard contacts, if the model has learned any."""
        return self.fitted.contacts or "no hard contacts are part of this model"

    def formulas(self) -> list[Formula]:
        """Formulas that could be the radial force, the one the band likes best first."""
        line = self._typical["f_b_line"].sel(direction="radial")
        return fit_formulas(line["distance"].values, line.transpose("draw", "distance").values)

    def drag(self) -> tuple[float, float]:
        """How much of its velocity an object loses per unit of time, and the sd of that."""
        slopes = []
        speeds = np.array(SPEEDS) * typical_speed(self.fitted)
        along = [self._fields(speed)["f_s"].isel(component=self._along) for speed in speeds]
        pushes = np.stack([f.mean([d for d in f.dims if d != "draw"]).values for f in along])
        for push in pushes.T:
            slopes.append(-np.polyfit(speeds, push, 1)[0])
        return float(np.mean(slopes)), float(np.std(slopes))

    def plot(self) -> tuple[Any, Any]:
        """Pictures of f_s and of f_b."""
        figures = VIEWS["independent_field_figure"], VIEWS["interaction_field_figure"]
        alone, interaction = (figure(self._typical) for figure in figures)
        return alone, interaction

    @property
    def _along(self) -> int:
        names = [str(name) for name in self._typical["component"].values]
        return names.index("vx") if "vx" in names else names.index("x")

    @cached_property
    def _typical(self) -> "xr.Dataset":
        return self._fields(None)

    def _fields(self, speed: float | None) -> "xr.Dataset":
        return fields(self.fitted, draws=DRAWS, resolution=RESOLUTION, speed=speed)

    @property
    def headline(self) -> str:
        """What was learned in a line; empty where a law is no function of distance."""
        if self.fitted.contacts:
            return self.fitted.contacts
        try:
            band = self.interaction().sel(direction="radial")
        except BadInput:
            return ""
        return _sentences(band, self._unit)[0]

    def __str__(self) -> str:
        law = self.fitted.contact_law
        if law is not None and law.only:
            return f"between contacts everything flies straight on\n{self.contact}"
        try:
            band = self.interaction().sel(direction="radial")
        except BadInput as error:
            return f"The law of this model cannot be told in sentences: {error}"
        lines = [*_sentences(band, self._unit), *self._about_drag()]
        if len(lines) and "no interaction" not in lines[0]:
            lines += [f"as a formula: {formula}" for formula in self.formulas()[:3]]
        return "\n".join([*lines, self.contact])

    __repr__ = __str__

    @property
    def _unit(self) -> str:
        first_order = self.fitted.config.system.order == 1 and not any(
            name.startswith("v") for name in self.fitted.shape.features
        )
        return "length per time" if first_order else "length per time²"

    def _about_drag(self) -> list[str]:
        layout = self.fitted.model.dynamics.layout
        if not layout.has_velocity:
            return []
        rate, sd = self.drag()
        if abs(rate) < 2 * sd or rate == 0:
            return [
                f"alone, objects neither slow down nor speed up for sure ({rate:.2g} ± {sd:.2g})"
            ]
        word = "lose" if rate > 0 else "gain"
        return [f"alone, objects {word} a share {abs(rate):.2g} ± {sd:.2g} of their speed per time"]


def _banded(drawn: "xr.DataArray") -> "xr.Dataset":
    import xarray as xr

    low, high = (
        drawn.quantile((1 + s * BAND) / 2, dim="draw").drop_vars("quantile") for s in (-1, 1)
    )
    return xr.Dataset(
        {"mean": drawn.mean("draw"), "sd": drawn.std("draw"), "low": low, "high": high},
        attrs={"band": BAND},
    )


def _sentences(band: "xr.Dataset", unit: str) -> list[str]:
    """Where two objects push apart or pull together for sure, how much, and how far it reaches."""
    r, mean = band["distance"].values, band["mean"].values
    pushes, pulls = band["low"].values > 0, band["high"].values < 0
    sure = pushes | pulls
    if not sure.any():
        return ["no interaction that the data make sure of at any distance"]
    lines = []
    for word, where in (("repel", pushes), ("attract", pulls)):
        for first, last in _runs(where):
            piece = slice(first, last + 1)
            peak = first + int(np.abs(mean[piece]).argmax())
            extent = (
                f"below {r[last]:.3g}" if first == 0 else f"from {r[first]:.3g} to {r[last]:.3g}"
            )
            size = f"{abs(mean[peak]):.3g} ± {band['sd'].values[peak]:.2g} {unit}"
            lines.append(f"two objects {word} {extent}, most at {r[peak]:.3g} ({size})")
    strongest = int(np.where(sure, np.abs(mean), 0.0).argmax())
    beyond = np.flatnonzero(np.abs(mean[strongest:]) < 0.5 * abs(mean[strongest]))
    if beyond.size:
        lines.append(f"it falls to half within {r[strongest + beyond[0]] - r[strongest]:.3g}")
    last = int(np.flatnonzero(sure)[-1])
    if last < len(r) - 1:
        lines.append(f"no interaction that is sure beyond {r[last]:.3g}")
    return lines


def _runs(where: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of every stretch of at least two."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2) if b - a > 1]
