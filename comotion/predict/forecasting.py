"""From data and a wish to a forecast: what is seen, which times, under which law, in data units."""

import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from comotion.backend.keys import key_for
from comotion.data.trajectories import Trajectories
from comotion.dynamics import InteractingDynamics, Nonlinear
from comotion.dynamics.graph import EmptyGraph
from comotion.encode import OriginFilter
from comotion.errors import BadInput
from comotion.integrate import AdaptiveSteps
from comotion.model import Model
from comotion.predict.blocks import blocks
from comotion.predict.change import Change
from comotion.predict.draws import draw_chunks, draws_together
from comotion.predict.fitted import FittedModel
from comotion.predict.forecast import Forecast, indexed
from comotion.predict.origin import CANDIDATES, FEW_MOVES, MOVES, Search
from comotion.predict.room import Arrays, filled
from comotion.predict.schema import Draws, without_draws
from comotion.predict.seen import Origin, origin_times, seen_until, times_after, times_ahead
from comotion.predict.stretch import Stretch
from comotion.predict.times import TimePlan, plan_forecast
from comotion.systems import check_data

HARMLESS = 1e-3
"""Share of steps in which contacts may be cut off without a word."""


@dataclass(frozen=True)
class ForecastSettings:
    """What `FittedModel.predict` can be asked; a forecast keeps it, so that it can be repeated."""

    horizon: float | None = None
    origin: Origin | None = None
    draws: int = 100
    times: ArrayLike | float | None = None
    seed: int = 0
    interaction: bool = True
    solver: Literal["fixed", "tsit5", "dopri5"] = "fixed"
    candidates: int | None = None
    moves: int | None = None

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise BadInput(f"a forecast needs at least one draw, got draws={self.draws}")
        if self.candidates is not None and self.candidates < 1:
            raise BadInput(f"an initial state needs a candidate, got candidates={self.candidates}")
        if self.moves is not None and self.moves < 0:
            raise BadInput(f"a chain of states makes 0 moves or more, got moves={self.moves}")


def make_forecast(
    fitted: FittedModel,
    data: Trajectories,
    settings: ForecastSettings,
    *,
    change: Change | None = None,
    on_draw: Callable[[int], None] | None = None,
    out: Path | None = None,
) -> Forecast:
    """`change` makes a scene different after its start was drawn; draws may go to a file `out`."""
    check_data(fitted.config.system, fitted.shape, data)
    model = _model_for(fitted, settings)
    seen, plan = _planned(fitted, data, settings)
    if change is not None:
        alive = plan.alive & np.asarray(change.present)[:, None]
        plan = dataclasses.replace(plan, alive=alive)
    frames = fitted.config.system.frames_seen
    empty = without_draws(
        data,
        fitted.summary,
        times=plan.times,
        alive=plan.alive,
        system=fitted.system if settings.interaction else f"f_s of {fitted.system}",
        seed=settings.seed,
        encoder_frames=fitted.config.system.encoder_frames,
        frames_seen=frames,
    )
    origins = origin_times(data, seen, frames)
    together = draws_together(model, plan.grids, settings.draws)
    dataset = filled(
        indexed(empty.assign_coords(origin=("sequence", origins))),
        (settings.draws, *plan.alive.shape, len(fitted.shape.features)),
        fitted.scaling.precision,
        partial(_fill, fitted, model, seen, plan, settings, change, on_draw),
        together=together * jax.local_device_count(),
        out=out,
    )
    return Forecast(dataset, data, vars(settings))


def _fill(
    fitted: FittedModel,
    model: Model,
    seen: Trajectories,
    plan: TimePlan,
    settings: ForecastSettings,
    change: Change | None,
    on_draw: Callable[[int], None] | None,
    arrays: Arrays,
) -> dict[str, int]:
    """Draws in the data's units, as they come; gives how many steps were cut off."""
    excerpts, search = fitted.excerpts(seen), _search(fitted, settings)
    before, missed, lost, key = 0, 0, 0, key_for("forecast", settings.seed)
    for done, drawn in draw_chunks(
        model, excerpts, plan.grids, settings.draws, search, change, key=key
    ):
        trajectories = _in_data_units(fitted, np.asarray(drawn.trajectory), plan)
        arrays["trajectory"][before:done] = trajectories
        observations = _in_data_units(fitted, np.asarray(drawn.observation), plan)
        arrays["observation"][before:done] = observations
        lost += _lost(trajectories, plan)
        before, missed = done, missed + int(np.sum(drawn.missed))
        if on_draw is not None:
            on_draw(done)
    _tell_missed(missed, settings.draws * plan.grids.active[..., 0].size)
    _tell_lost(lost, settings)
    last = seen.times[np.arange(len(seen)), seen.lengths - 1]
    _stretch(fitted.stretch, arrays, plan.times - last[:, None])
    return {"steps_missed": missed}


def _stretch(stretch: Stretch, arrays: Arrays, leads: Float[np.ndarray, "P T"]) -> None:
    if not stretch.leads:
        return
    for kind in arrays:
        for p, n in blocks(arrays[kind].shape):
            draws = arrays[kind]
            draws[:, p, n] = stretch.apply(draws[:, p, n], leads[p, n])


def _tell_missed(missed: int, steps: int) -> None:
    """What rests on something bounces ever faster, so a few steps are cut off without harm."""
    if missed > HARMLESS * steps:
        warnings.warn(
            f"in {missed} of {steps} steps there were more contacts than are followed in one; "
            "what was left of them was stopped where things touch",
            stacklevel=7,
        )


def _lost(trajectories: Draws, plan: TimePlan) -> int:
    """How many draws have left all numbers."""
    return int((~np.isfinite(trajectories)[:, plan.alive]).any(axis=(1, 2)).sum())


def _tell_lost(lost: int, settings: ForecastSettings) -> None:
    if lost:
        way_out = "ask for a shorter time ahead"
        if settings.solver != "fixed":
            way_out = "use solver='fixed', or " + way_out
        warnings.warn(
            f"{lost} of {settings.draws} draws grew beyond all numbers: what is NaN in them "
            f"is no forecast; {way_out}",
            stacklevel=7,
        )


def _planned(
    fitted: FittedModel, data: Trajectories, settings: ForecastSettings
) -> tuple[Trajectories, TimePlan]:
    """The frames that may be seen, and the times to follow them to."""
    system, at_end = fitted.config.system, isinstance(fitted.model.encoder, OriginFilter)
    horizon, origin, times = settings.horizon, settings.origin, settings.times
    asked = None if times is None else np.atleast_1d(np.asarray(times, float))
    whole = system.time == "discrete"
    if origin is None:
        origin = "last" if horizon is not None or (at_end and asked is not None) else "first"
    if origin == "first" and horizon is None and not at_end:
        return data, plan_forecast(data, asked, fitted.scaling, fitted.shape, whole)
    frames = system.encoder_frames
    if system.properties == "inferred":
        frames = max(frames, system.property_frames)
    seen = seen_until(data, origin, frames)
    if horizon is not None:
        asked = times_ahead(seen, horizon, fitted.shape.step)
    elif asked is None:
        asked = times_after(data, seen)
    start = seen_until(seen, "last", 1) if at_end else seen
    return seen, plan_forecast(start, asked, fitted.scaling, fitted.shape, whole)


def _search(fitted: FittedModel, settings: ForecastSettings) -> Search:
    law = fitted.contact_law
    candidates, moves = CANDIDATES, 0
    if law is not None:  # moves are cheap where all fly straight from contact to contact
        candidates, moves = 1, MOVES if law.only and law.springs is None else FEW_MOVES
    return Search(
        candidates if settings.candidates is None else settings.candidates,
        fitted.config.system.encoder_frames,
        moves if settings.moves is None else settings.moves,
    )


def _model_for(fitted: FittedModel, settings: ForecastSettings) -> Model:
    """With the solver that is asked for, and without f_b where it is not."""
    model, solver = fitted.model, settings.solver
    if solver != "fixed" and fitted.contact_law is not None:
        raise BadInput(
            f"solver='{solver}' knows no hard contacts; use solver='fixed' for this model"
        )
    if not settings.interaction:
        model = _without_interaction(model, fitted.system)
    if solver != "fixed" and fitted.config.system.time == "continuous":
        model = eqx.tree_at(lambda m: m.integrator, model, AdaptiveSteps(solver))
    return model


def _without_interaction(model: Model, name: str) -> Model:
    dynamics = model.dynamics
    if not isinstance(dynamics, InteractingDynamics) or isinstance(
        dynamics.accumulation, Nonlinear
    ):
        raise BadInput(
            f"system '{name}' does not keep what an object does alone apart from what others do "
            "to it; use an interacting system (I-…) with accumulation='sum' or 'weighted'"
        )
    law = None if dynamics.contacts is None else dynamics.contacts.without_pairs()
    silent = dataclasses.replace(dynamics, graph=EmptyGraph(), contacts=law)
    return dataclasses.replace(model, dynamics=silent)


def _in_data_units(
    fitted: FittedModel, values: Float[np.ndarray, "L P K A O"], plan: TimePlan
) -> Draws:
    rows = np.arange(len(plan.wanted))[:, None]
    wanted = fitted.scaling.to_data(values[:, rows, plan.wanted])
    wanted[:, ~plan.alive] = np.nan
    return wanted
