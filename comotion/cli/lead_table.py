"""Scores at a few lead times, as a table."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from comotion.report import Table
    from comotion.reproduce.conventions import Scores

FRAMES_AHEAD = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def lead_table(scores: "Scores") -> "Table":
    """How error and skill of the model and of straight flight change with the lead time."""
    from comotion.report import Column, Table

    by_lead = scores.by_lead
    assert by_lead is not None
    ahead = [n for n in FRAMES_AHEAD if scores.encoder_frames - 1 + n < by_lead.sizes["frame"]]
    frames = np.array(ahead, int) + scores.encoder_frames - 1
    columns = {
        "lead time": by_lead["lead"].values[frames],
        "MSE": by_lead["mse_mean_table"].sel(row="model").values[frames],
        "skill": by_lead["skill_crps"].sel(row="model").values[frames],
        "skill of constant velocity": by_lead["skill_crps"]
        .sel(row="constant velocity")
        .values[frames],
        "90 % band holds": by_lead["coverage_90"].sel(row="model").values[frames],
    }
    digits = {"lead time": 2, "MSE": 3}
    return Table(
        f"{scores.system} by lead time",
        (Column("frames ahead", 0), *(Column(name, digits.get(name, 3)) for name in columns)),
        tuple(
            (float(n), *map(float, row))
            for n, row in zip(ahead, zip(*columns.values(), strict=True), strict=True)
        ),
        notes=(
            "skill: 1 − CRPS / CRPS of climatology (1 is perfect, 0 no better than climatology)",
            "MSE: of the mean of the draws, summed over objects and features",
        ),
    )
