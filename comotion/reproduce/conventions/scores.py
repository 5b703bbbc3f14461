"""Score a forecast beside climatology and constant velocity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from comotion.data import Trajectories
from comotion.predict.forecast import Forecast, dataset_of
from comotion.reproduce.conventions.agreement import check_agreement, draws_of
from comotion.reproduce.conventions.baselines import (
    climatology,
    climatology_sd,
    dressed_constant_velocity,
    lead_times,
)
from comotion.reproduce.conventions.metrics import CONVENTIONS, METRICS, score_frames
from comotion.reproduce.conventions.predictive import AbstractCells, Ensemble

MODEL, CLIMATOLOGY, CONSTANT_VELOCITY = "model", "climatology", "constant velocity"


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of a forecast and of its references; every name says its convention.

    `rows[row][metric]` with rows "model", "climatology" and "constant velocity"; the metrics are
    described in `METRICS`. `by_lead`, if asked for, has one variable per metric over (row, frame),
    with the coordinate `lead`: median time since the last frame the forecast saw, negative before.
    """

    rows: dict[str, dict[str, float]]
    system: str
    draws: int
    paper_draws: int
    sequences: int
    frames: int
    encoder_frames: int
    by_lead: xr.Dataset | None = None

    def __getitem__(self, metric: str) -> float:
        """The model's own score."""
        return self.rows[MODEL][metric]

    @property
    def titles(self) -> list[str]:
        """What the rows are called for people: the model goes by its system's name."""
        return [self.system if row == MODEL else row for row in self.rows]

    @property
    def made_from(self) -> str:
        """What the numbers were made from, in one sentence."""
        return (
            f"{self.draws} draws (the paper's ELL: the first {self.paper_draws}), "
            f"{self.sequences} sequences of up to {self.frames} frames, of which the forecast "
            f"saw {self.encoder_frames}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where a score does not exist."""
        plain: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "system",
                "draws",
                "paper_draws",
                "sequences",
                "frames",
                "encoder_frames",
            )
        }
        plain["conventions"] = {name: metric.convention for name, metric in METRICS.items()}
        plain["scores"] = {
            row: {name: _plain(value) for name, value in scores.items()}
            for row, scores in self.rows.items()
        }
        if self.by_lead is not None:
            plain["by_lead"] = _lead_to_dict(self.by_lead)
        return plain

    def __str__(self) -> str:
        lines = [["", *self.titles]] + [
            [metric.label, *(metric.format(scores[name]) for scores in self.rows.values())]
            for name, metric in METRICS.items()
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join([self.made_from, *(_align(line, widths) for line in lines), *CONVENTIONS])


def paper_scores(
    forecast: Forecast | xr.Dataset,
    data: Trajectories,
    *,
    by_lead: bool = False,
    paper_draws: int = 20,
) -> Scores:
    """Score a forecast on the data it was made for, beside climatology and constant velocity.

    Only present values of `data` count, and all frames do, those the encoder saw included, as in
    the paper's tables. References are scored in closed form; where a score needs draws of them
    (the energy score), as many as the forecast has are made with a fixed seed.

    - `by_lead`: also keep every score frame by frame;
    - `paper_draws`: how many draws the table's ELL may use.
    """
    forecast = dataset_of(forecast)
    check_agreement(forecast, data)
    trajectory, observation = draws_of(forecast, "trajectory"), draws_of(forecast, "observation")
    predictives: dict[str, Sequence[AbstractCells]] = {
        MODEL: [Ensemble(trajectory[:, p], observation[:, p]) for p in range(len(data))],
        CLIMATOLOGY: climatology(forecast, data),
        CONSTANT_VELOCITY: dressed_constant_velocity(forecast, data),
    }
    alive, scale = data.alive, climatology_sd(forecast)
    frames = {
        row: _all_frames(sequences, data, alive, scale=scale, paper_draws=paper_draws)
        for row, sequences in predictives.items()
    }
    return Scores(
        rows={
            row: {name: float(value) for name, value in scores.items()}
            for row, scores in _with_skill(frames, axis=None).items()
        },
        system=str(forecast.attrs.get("system", MODEL)),
        draws=len(trajectory),
        paper_draws=min(paper_draws, len(trajectory)),
        sequences=len(data),
        frames=data.values.shape[1],
        encoder_frames=int(forecast.attrs["frames_seen"]),
        by_lead=_by_lead(frames, forecast) if by_lead else None,
    )


FrameScores = dict[str, Float[np.ndarray, "P N"]]


def _all_frames(
    sequences: Sequence[AbstractCells],
    data: Trajectories,
    alive: Bool[np.ndarray, "P N A"],
    **settings: Any,
) -> FrameScores:
    # One sequence at a time: only its own draws are sorted and paired in memory.
    scored = [
        score_frames(predictive, values, living, **settings)
        for predictive, values, living in zip(sequences, data.values, alive, strict=True)
    ]
    return {name: np.stack([scores[name] for scores in scored]) for name in scored[0]}


def _with_skill(frames: dict[str, FrameScores], axis: int | None) -> dict[str, dict[str, Any]]:
    """Means over the frames that exist (along `axis`), and skill over climatology."""
    means = {
        row: {name: _mean_of_existing(value, axis) for name, value in scores.items()}
        for row, scores in frames.items()
    }
    climate = means[CLIMATOLOGY]
    return {
        row: scores
        | {
            "skill_mse_mean": 1 - scores["mse_mean_table"] / climate["mse_mean_table"],
            "skill_crps": 1 - scores["crps_table"] / climate["crps_table"],
            "gain_ell_table": scores["ell_table"] - climate["ell_table"],
            "gain_ell_table_all_draws": scores["ell_table_all_draws"]
            - climate["ell_table_all_draws"],
        }
        for row, scores in means.items()
    }


def _mean_of_existing(values: Float[np.ndarray, "P N"], axis: int | None) -> np.ndarray:
    exists = ~np.isnan(values)
    count = exists.sum(axis=axis)
    total = np.where(exists, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _by_lead(frames: dict[str, FrameScores], forecast: xr.Dataset) -> xr.Dataset:
    scores = _with_skill(frames, axis=0)
    lead = lead_times(forecast)
    existing = np.ma.masked_invalid(lead)
    return xr.Dataset(
        {
            name: (("row", "frame"), np.stack([scores[row][name] for row in scores]))
            for name in METRICS
        },
        coords={
            "row": list(scores),
            "frame": np.arange(lead.shape[1]),
            "lead": ("frame", np.ma.median(existing, axis=0).filled(np.nan)),
        },
    )


def _lead_to_dict(by_lead: xr.Dataset) -> dict[str, Any]:
    return {
        "lead": [_plain(value) for value in by_lead["lead"].values],
        **{
            row: {
                str(name): [_plain(value) for value in by_lead[name].sel(row=row).values]
                for name in by_lead.data_vars
            }
            for row in by_lead["row"].values.tolist()
        },
    }


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _align(line: list[str], widths: list[int]) -> str:
    numbers = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
    return "  ".join([line[0].ljust(widths[0]), *numbers])
