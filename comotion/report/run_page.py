"""The report of a fitted model: the answer in a sentence, a picture that moves, the evidence."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from comotion import __version__
from comotion.config import to_dict
from comotion.data import Trajectories
from comotion.data.units import UNKNOWN, Units, labelled
from comotion.errors import BadInput
from comotion.predict import FittedModel
from comotion.predict.findings import AVERAGE, Skill
from comotion.report import style
from comotion.report.explorer import explore
from comotion.report.page import write_page
from comotion.report.tables import Column, Table
from comotion.systems import system

DRAWS = 30
MOST_FRAMES = 60
KALMAN = "#009E73"


def report(
    fitted: FittedModel,
    path: str | Path = "report.html",
    data: Trajectories | None = None,
    *,
    title: str = "",
) -> Path:
    """Writes one offline page; `data` are recordings to show the forecast in motion on."""
    skill = fitted.findings.skill
    figures: dict[str, Figure | str | Path] = {}
    explorer = None
    with tempfile.TemporaryDirectory() as folder:
        if data is not None:
            try:
                explorer = explore(fitted, data, title=title or fitted.system, draws=DRAWS)
            except BadInput:  # not every system runs in the page; a film shows any of them
                figures |= _film(fitted, data, Path(folder))
        if skill.lead:
            drawn = skill_by_lead(skill, fitted.shape.units)
            figures["Error and bands by lead time, on frames held out"] = drawn
        figures |= _law(fitted)
        return write_page(
            path,
            title=title or f"What {fitted.system} learned",
            summary=fitted.findings.sentence,
            tables=_tables(skill),
            figures=figures,
            details=_details(fitted),
            explorer=explorer,
            notes=_sentences(fitted),
        )


def skill_by_lead(skill: Skill, units: Units = UNKNOWN) -> Figure:
    """CRPS beside the references, and how much the bands hold."""
    figure, panels = style.new_figure(1, 2, width=9.6, height=3.6)
    error, bands = panels[0]
    colours = style.REFERENCES | {"Kalman filter": KALMAN}
    error.plot(skill.lead, skill.crps, color=style.MODEL, linewidth=2)
    for rival in skill.rivals:
        colour = colours.get(rival.name, style.MUTED)
        error.plot(skill.lead, rival.crps, color=colour, linewidth=1.3, linestyle=(0, (4, 2)))
    error.set_ylim(0, 1.6 * max(np.nanmax(skill.crps), _largest(skill, AVERAGE)))
    lead = labelled("lead time", units.time)
    size = f"error (CRPS), in {units.length or 'units of the data'}"
    style.label(error, x=lead, y=size, title="error: lower is better")
    for level, held in ((0.9, skill.coverage_90), (0.5, skill.coverage_50)):
        bands.axhline(level, color=style.MUTED, linewidth=1, linestyle=(0, (4, 3)))
        bands.plot(skill.lead, held, color=style.MODEL, linewidth=2)
    bands.set_ylim(0, 1.02)
    style.label(bands, x=lead, y="share of truth inside", title="50 % and 90 % bands")
    lines = [Line2D([], [], color=style.MODEL, linewidth=2, label="this model")]
    lines += [
        Line2D([], [], color=colours.get(r.name, style.MUTED), linestyle="--", label=r.words)
        for r in skill.rivals
    ]
    style.legend_below(figure, lines)
    return figure


def _largest(skill: Skill, name: str) -> float:
    return max((np.nanmax(r.crps) for r in skill.rivals if r.name == name), default=0.0)


def _film(fitted: FittedModel, data: Trajectories, folder: Path) -> dict[str, Figure | str | Path]:
    """A forecast from the middle of the first recording, over the truth."""
    first = data[0]
    step, frames = fitted.shape.step, int(first.lengths[0])
    seen = min(max(fitted.config.system.frames_seen, frames // 2), frames - 1)
    ahead = min(frames - seen, MOST_FRAMES)
    try:
        forecast = fitted.predict(
            first,
            origin=float(first.times[0, seen - 1]),
            horizon=(ahead + 0.5) * step,
            draws=DRAWS,
        )
        film = forecast.animate(folder / "forecast.gif")
    except BadInput:  # nobody is there, or there is no place to draw
        return {}
    return {"The forecast in motion: discs are the truth, faint dots are draws": film}


def _law(fitted: FittedModel) -> dict[str, Figure | str | Path]:
    try:
        alone, interaction = fitted.law.plot()
    except BadInput:  # the law of pictures or of a joint state is no field over places
        return {}
    parts = fitted.config.system
    figures: dict[str, Figure | str | Path] = {}
    if parts.alone != "none" or fitted.contact_law is not None:  # walls are in this picture
        figures["What an object does alone"] = alone
    if parts.pair != "none":
        figures["What another object does to it"] = interaction
    return figures


def _sentences(fitted: FittedModel) -> Sequence[str]:
    return [*fitted.findings.skill.warnings, *str(fitted.law).splitlines()]


def _tables(skill: Skill) -> list[Table]:
    if not skill.lead:
        return []
    head, *rows = skill.rows
    columns = tuple(Column(name) for name in head)
    title = f"Skill at {skill.origins} moments of the frames held out"
    return [Table(title, columns, tuple(map(tuple, rows)))]


def _details(fitted: FittedModel) -> dict[str, Any]:
    chosen, recipe = fitted.config.system, fitted.config.recipe
    usual = to_dict(system(chosen.name)) if chosen.name else {}
    changed = [f"{name} = {part}" for name, part in to_dict(chosen).items() if part != usual[name]]
    iterations = sum(stage.iterations for stage in recipe.stages)
    lines = dict(enumerate(fitted.findings.data))
    return {
        **{f"data {k + 1}" if len(lines) > 1 else "data": line for k, line in lines.items()},
        "system": chosen.name,
        "changed parts": ", ".join(changed) or "none",
        "recipe": f"{recipe.name}, {iterations} iterations, seed {fitted.config.seed}",
        "to make it again": "comotion fit DATA --config config.toml (the one of the run)",
        "comotion": __version__,
    }
