"""The pictures and the page of the demo."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from comotion import __version__, report
from comotion.cli.demo_sentence import sentence
from comotion.config import to_dict
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.reproduce.conventions import Scores, calibration_curve
from comotion.systems import system

CAPTIONS = {
    "forecast.gif": "The forecast in motion: discs are the truth, faint dots are draws",
    "forecast.png": "Truth and forecast of one sequence, with 50 % and 95 % bands",
    "lead.png": "Scores by lead time, beside climatology and constant velocity",
    "calibration.png": "How often the bands hold the truth",
    "alone.png": "The learned law of a ball by itself",
    "interaction.png": "What the learned law says a ball does to another",
}
EXPLORED = 30


def write_report(
    out: Path,
    fitted: FittedModel,
    forecast: xr.Dataset,
    test: Trajectories,
    scores: Scores,
    scene: Mapping[str, Any],
) -> None:
    """Pictures, an animation, and one page that shows them all."""
    draws = min(EXPLORED, forecast.sizes["draw"])
    alone, interaction = fitted.law.plot()
    pictures = {
        "forecast.png": report.forecast_figure(forecast, test),
        "lead.png": report.lead_figure(scores),
        "calibration.png": report.calibration_figure(calibration_curve(forecast, test)),
        "alone.png": alone,
        "interaction.png": interaction,
    }
    for name, figure in pictures.items():
        (out / name).write_bytes(report.figure_png(figure))
    report.animate(forecast, test, path=out / "forecast.gif", outline=fitted.outline)
    report.write_page(
        out / "report.html",
        title="Three bouncing balls",
        summary=sentence(fitted, scores),
        scores=scores,
        figures={caption: out / name for name, caption in CAPTIONS.items()},
        details=_details(fitted, forecast, scene),
        explorer=report.explore(fitted, test, title="Three bouncing balls", draws=draws),
    )


def _details(fitted: FittedModel, forecast: xr.Dataset, scene: Mapping[str, Any]) -> dict[str, Any]:
    chosen, recipe = fitted.config.system, fitted.config.recipe
    usual = to_dict(system(chosen.name))
    changed = {name: part for name, part in to_dict(chosen).items() if part != usual[name]}
    return {
        "system": chosen.name,
        "changed parts": _listed(changed),
        "recipe": f"{recipe.name}, {sum(stage.iterations for stage in recipe.stages)} iterations",
        "data": f"bouncing balls, {_listed(scene)}",
        "sequences": "a third each to train on, to calibrate on and to be judged on",
        "draws": forecast.sizes["draw"],
        "comotion": __version__,
    }


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
