"""A fitted model: what training leaves, and everything that can be asked of it."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from comotion.backend.devices import one_thread_each
from comotion.config import RunConfig
from comotion.config.parts import VIEWS
from comotion.contacts import ContactLaw, Outline, describe_contacts, outline
from comotion.data.reading import read
from comotion.data.scaling import Scaling
from comotion.data.summary import TrainingSummary
from comotion.data.trajectories import Trajectories
from comotion.data.units import UNKNOWN, with_unit
from comotion.data.windows import Excerpt, first, to_dataset
from comotion.dynamics import InteractingDynamics
from comotion.errors import BadInput
from comotion.model import Model
from comotion.predict.change import Change
from comotion.predict.findings import Findings
from comotion.predict.forecast import Forecast
from comotion.predict.seen import Origin
from comotion.predict.stretch import Stretch
from comotion.systems import DataShape

if TYPE_CHECKING:
    from comotion.predict.effect import Effect
    from comotion.predict.law import Law


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel:
    """What `fit` gives and a model file holds.

    Asked every day: `predict`, `law`, `what_if`, `report`; now and then: `simulate`, `properties`,
    `explore`, `save`. `findings` says how well it did on what was held back.

    >>> model
    FittedModel(I-GPODE-S: x, y, vx, vy of 3 objects, 0.5 apart)
    """

    model: Model
    scaling: Scaling
    summary: TrainingSummary
    shape: DataShape
    config: RunConfig
    findings: Findings = field(default_factory=Findings)
    stretch: Stretch = field(default_factory=Stretch)

    @one_thread_each()
    def predict(
        self,
        data: Any,
        *,
        horizon: float | None = None,
        origin: Origin | None = None,
        draws: int = 100,
        times: ArrayLike | float | None = None,
        seed: int = 0,
        interaction: bool = True,
        solver: Literal["fixed", "tsit5", "dopri5"] = "fixed",
        candidates: int | None = None,
        moves: int | None = None,
        on_draw: Callable[[int], None] | None = None,
        out: str | Path | None = None,
        like: Forecast | None = None,
        change: Change | None = None,
    ) -> Forecast:
        """A forecast of `horizon` from the last frames of each object in `data`.

        `origin` is the last moment that may be seen: "last", "first" (the first frames only, as
        the paper forecasts; so without `horizon`, and then over all times of the data) or a time.
        `draws` laws and states are drawn; each is followed through `times` (one row for all
        sequences or one per sequence), or a frame after the other up to the horizon. `trajectory`
        has the draws themselves, `observation` adds observation noise. Without `interaction` every
        object moves by f_s alone, as if it were the only one. Draws that memory cannot hold go to
        a file `out` (.nc), from which the forecast reads what it is asked.

        Rarely needed: `solver` "tsit5" or "dopri5" choose step sizes by error control; with one
        of `candidates` and no `moves` an initial state is drawn as encoded, with more candidates
        the one that leads through the first frames best is likelier, with moves a Markov chain
        goes on from there (by default where the law has hard contacts); `on_draw` is called with
        the number of finished draws;
        `like` is a forecast whose draws of law, start and noise are taken again for data without
        some of its objects, so that the difference of the two is the effect; `what_if` does more.

        >>> model.predict(data, horizon=3.0, draws=10)
        Forecast(10 draws of 2 sequences, 3 objects, 6 times from 6 to 8.5; I-GPODE-S)
        """
        from comotion.predict.forecasting import ForecastSettings, make_forecast

        data = self._as_trained(read(data))
        settings = ForecastSettings(
            horizon, origin, draws, times, seed, interaction, solver, candidates, moves
        )
        if like is not None:
            from comotion.predict.what_if import without_some_of

            change, data = without_some_of(self, like, data)
            settings = ForecastSettings(**like.settings)
        return make_forecast(self, data, settings, change=change, on_draw=on_draw, out=_netcdf(out))

    def what_if(self, data: Any, **changes: Any) -> "Effect":
        """What a change does: remove, cut, velocity, position, properties or add, see
        `predict.what_if`; the same draws of law, start and noise with and without it."""
        from comotion.predict.what_if import what_if

        return what_if(self, read(data), **changes)

    def simulate(self, states: ArrayLike, times: ArrayLike, **options: Any) -> Forecast:
        """Futures from given states: a row of features for each object, see `predict.what_if`."""
        from comotion.predict.what_if import simulate

        return simulate(self, np.asarray(states, float), np.asarray(times, float), **options)

    def adapt(self, past: Any, *, horizon: int) -> "FittedModel":
        """The same with bands as wide as the past of a recording asks for: what forecasts of
        `horizon` frames made along it would have needed. Means stay as they are."""
        return VIEWS["adapt"](self, read(past), horizon=horizon)

    def properties(self, data: Any, kind: str = "") -> Any:
        """What is inferred about each object (`fit(properties="inferred")`): a frame with a row of
        mean and sd for each sequence, object and property."""
        from comotion.predict.properties import inferred_properties

        return inferred_properties(self, read(data), kind)

    @cached_property
    def law(self) -> "Law":
        """What was learned: alone, interaction, contact, in numbers, sentences and pictures."""
        from comotion.predict.law import Law

        return Law(self)

    def explore(self, data: Trajectories, **extent: Any) -> Any:
        """A page in which this model runs on the objects of `data`: a notebook shows it, and
        `.save("scene.html")` writes it. Arguments are those of `comotion explore`."""
        return VIEWS["explore"](self, data, **extent)

    @property
    def contact_law(self) -> ContactLaw | None:
        """Where things touch, in the model's own units."""
        return contacts_of(self.model)

    @property
    def contacts(self) -> str:
        """The learned contacts in words and in the data's units; empty if there are none."""
        law = self.contact_law
        if law is None:
            return ""
        shift, scale = np.asarray(self.scaling.shift), np.asarray(self.scaling.scale)
        length, time = float(scale[0]), float(self.scaling.time)
        return describe_contacts(law, shift[: law.spatial], length, time, self.shape.units)

    @property
    def outline(self) -> Outline | None:
        """Learned walls and sizes as a picture shows them."""
        law, scaling = self.contact_law, self.scaling
        if law is None:
            return None
        return outline(law, np.asarray(scaling.shift)[: law.spatial], float(scaling.scale[0]))

    @property
    def system(self) -> str:
        """The name of the system whose parts these are."""
        return self.config.system.name

    def report(
        self, path: str | Path = "report.html", data: Any = None, *, title: str = ""
    ) -> Path:
        """One offline page: the answer in a sentence, the law, the skill on held-out frames, and
        with `data` a picture that moves."""
        return VIEWS["report"](self, path, None if data is None else read(data), title=title)

    def __repr__(self) -> str:
        shape, found = self.shape, self.findings
        told = f"; {found.sentence}" if found.skill.lead or found.learned else ""
        return (
            f"FittedModel({self.system}: {', '.join(shape.features)} of {shape.objects} objects, "
            f"{with_unit(f'{shape.step:.4g}', shape.units.time)} apart{told})"
        )

    def _repr_html_(self) -> str:
        found = self.findings
        table = f"<pre>{escape(found.skill.table)}</pre>" if found.skill.lead else ""
        return f"<b>{escape(repr(self))}</b>{table}<pre>{escape(str(self.law))}</pre>"

    def save(self, path: str | Path) -> None:
        """One file, which `comotion.load` reads back to the same numbers."""
        from comotion.predict import model_file

        model_file.save(self, Path(path))

    def excerpts(self, data: Trajectories) -> Excerpt:
        """The sequences as the encoders see them, a batch."""
        if self.config.system.properties != "observed":
            data = self._with_unused_properties(data)
        windows = to_dataset(data, self.scaling).windows
        opening = min(self.config.system.property_frames, windows.times.shape[1])
        return Excerpt(windows, first(windows, opening))

    def _as_trained(self, data: Trajectories) -> Trajectories:
        """Features the model does not know are left alone; known units need not be said."""
        known, units = self.shape.features, self.shape.units
        data = data.select(known) if set(known) < set(data.features) else data
        return data if data.units != UNKNOWN else dataclasses.replace(data, units=units)

    def _with_unused_properties(self, data: Trajectories) -> Trajectories:
        """Properties the model does not look at need not be the same as in training."""
        names = self.shape.properties
        unused = np.full((*data.static.shape[:2], len(names)), np.nan)
        return dataclasses.replace(data, static=unused, static_names=names)


def _netcdf(out: str | Path | None) -> Path | None:
    if out is not None and Path(out).suffix.lower() != ".nc":
        raise BadInput(f"out={str(out)!r}: only .nc files hold draws; give a name that ends in .nc")
    return None if out is None else Path(out)


def contacts_of(model: Model) -> ContactLaw | None:
    dynamics = model.dynamics
    return dynamics.contacts if isinstance(dynamics, InteractingDynamics) else None
