"""After training: how much the law leaves open, chosen by how well forecasts score.

One law, drawn and followed for long, is surer than it should be: the bound asks only how likely
the data are under each draw, and gets narrower draws for it. So the size of the process noise
(`integrate.process_noise`) is not learned with the rest but chosen afterwards, by the continuous
ranked probability score of whole forecasts, which is best where spread and error agree.
"""

import dataclasses
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scoringrules
from jaxtyping import Array, Float

from comotion._types import FAST, Key
from comotion.config import RunConfig
from comotion.data.windows import Dataset, Excerpt, sample_excerpts
from comotion.initialise import pace
from comotion.integrate import StateNoise
from comotion.model import Model
from comotion.predict.draws import draw_chunks
from comotion.predict.origin import CANDIDATES, Search

MOST_FRAMES = 100
"""Of a window: as long as the forecasts of the paper."""
DRAWS = 10
"""For a fair score, which needs few; the windows average its noise away."""
SHARES = (0.4, 0.8, 1.2, 1.6, 2.0)
"""Of each change of velocity: with 2 it may as well turn round."""
STEADY = (0.1, 0.2, 0.4, 0.8)
"""Of the spread of what the noise acts on, gathered over a whole forecast."""
SEEN = 0.999
"""Quantile of seen speeds that counts as the fastest: glitches lie above it."""


def calibrate(model: Model, config: RunConfig, dataset: Dataset, *, key: Key) -> Model:
    """The model with the process noise under which it forecasts windows of the data best.

    Either kind is tried alone, then the other kind beside the better one: both widen a forecast,
    so whichever came first would do the work of both.
    """
    trial = _trial(config, dataset, key=key)
    none = with_noise(model, most=largest_seen(model, dataset))
    unit = _unit(trial)
    rungs = {"share": SHARES, "steady": tuple(unit * step for step in STEADY)}
    start = (none, trial.score(none))
    alone = {kind: _climb(trial, *start, kind, rungs[kind]) for kind in rungs}
    first = min(alone, key=lambda kind: alone[kind][1])
    second = "steady" if first == "share" else "share"
    best, _ = _climb(trial, *alone[first], second, rungs[second])
    return best


@dataclass(frozen=True)
class CalibrationTrial:
    """Windows to forecast, always by the same chance, so that scores differ by what is tried."""

    excerpts: Excerpt
    spread: Float[np.ndarray, " O"]
    search: Search
    key: Key

    def score(self, model: Model) -> float:
        """Mean score of all values present, each in units of its feature's spread."""
        window = self.excerpts.window
        grids = jax.vmap(lambda window: window.grid)(window)
        chunks = draw_chunks(model, self.excerpts, grids, DRAWS, self.search, key=self.key)
        draws = np.concatenate([drawn.observation for _, drawn in chunks])
        present = np.asarray(window.present)
        features = np.nonzero(present)[-1]
        truth, draws = np.asarray(window.values)[present], draws[:, present]
        scores = scoringrules.crps_ensemble(truth, draws, m_axis=0, estimator="fair")
        mean = np.mean(np.asarray(scores) / self.spread[features])
        return float(mean) if np.isfinite(mean) else np.inf


def _trial(config: RunConfig, dataset: Dataset, *, key: Key) -> CalibrationTrial:
    frames = min(MOST_FRAMES, dataset.windows.times.shape[1])
    opening = min(config.system.property_frames, dataset.windows.times.shape[1])
    different = max(1, int(jnp.sum(dataset.lengths)) // frames)
    count = min(config.recipe.calibration, different)
    key_windows, key_draws = jax.random.split(key)
    excerpts = sample_excerpts(dataset, frames, opening, count, key=key_windows)
    values = np.asarray(dataset.windows.values, np.float64)
    seen = np.where(np.asarray(dataset.windows.present), values, np.nan)
    spread = np.nanstd(seen, axis=(0, 1, 2))
    search = Search(CANDIDATES, config.system.encoder_frames)
    return CalibrationTrial(excerpts, np.where(spread > 0, spread, 1.0), search, key_draws)


def _unit(trial: CalibrationTrial) -> float:
    """Steady noise that gathers one spread over the forecast."""
    seconds = float(jnp.max(trial.excerpts.window.times))
    return float(np.mean(trial.spread)) / max(seconds, 1e-30) ** 0.5


def largest_seen(model: Model, dataset: Dataset) -> Float[Array, ""]:
    """Of what the noise acts on, a few outliers left out; of velocities that are not observed, from
    frame to frame; endless where positions are not either."""
    noise, windows, layout = model.process_noise, dataset.windows, model.dynamics.layout
    assert isinstance(noise, StateNoise)
    if layout.hidden:
        return noise.most
    if windows.values.shape[-1] < noise.stop:
        return jnp.asarray(pace(windows, layout.spatial).fastest, FAST)
    entries = slice(noise.first, noise.stop)
    whole = np.all(np.asarray(windows.present)[..., entries], axis=-1)
    sizes = np.linalg.norm(np.asarray(windows.values)[..., entries][whole], axis=-1)
    return jnp.asarray(np.quantile(sizes, SEEN) if sizes.size else np.inf, FAST)


def _climb(
    trial: CalibrationTrial, best: Model, score: float, kind: str, rungs: tuple[float, ...]
) -> tuple[Model, float]:
    """From small amounts to large ones, until it gets worse."""
    for amount in rungs:
        candidate = with_noise(best, **{kind: jnp.asarray(amount, FAST)})
        found = trial.score(candidate)
        if found >= score:
            break
        best, score = candidate, found
    return best, score


def with_noise(model: Model, **amounts: Array) -> Model:
    noise = dataclasses.replace(model.process_noise, **amounts)
    return dataclasses.replace(model, process_noise=noise)
