"""The difference of two forecasts draw by draw: what a change does, and how sure that is."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comotion.data.frames import as_frame
from comotion.data.units import counted, with_unit
from comotion.errors import BadInput
from comotion.predict.files import summary_table, write_dataset
from comotion.predict.forecast import Forecast, Summary
from comotion.predict.quantiles import quantile

if TYPE_CHECKING:
    import xarray as xr

MOST_TOLD = 6
DIFFERENCE = "effect"
ROUNDING = 1e-6
"""Of the largest number of a forecast: what 32 bits cannot tell from no effect."""


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """`changed` minus `base` under the same draws, without observation noise.

    >>> effect = model.predict(data.without("1"), like=future) - future
    >>> effect.mean().to_frame()["object"].unique().tolist()
    ['0', '2']
    """

    changed: Forecast
    base: Forecast

    @property
    def draws(self) -> Any:
        """The differences as an xarray: draw, sequence, time, object, feature."""
        return self.changed["trajectory"] - self.base["trajectory"]

    def mean(self) -> Summary:
        """Of the differences, for each sequence, time, object and feature."""
        return self._summary("mean", self.draws.mean("draw"))

    def interval(self, level: float = 0.9) -> tuple[Summary, Summary]:
        """The central band that holds a share `level` of the differences."""
        if not 0 < level < 1:
            raise BadInput(f"{level:g} is no share of the draws: give a number between 0 and 1.")
        low, high = (quantile(self.draws, (1 + sign * level) / 2) for sign in (-1, 1))
        return self._summary("low", low), self._summary("high", high)

    def sd(self) -> Summary:
        """The spread of the differences: what the posterior leaves open about the effect."""
        return self._summary("sd", self.draws.std("draw"))

    def to_frame(self, kind: str | None = None) -> Any:
        """One row for each value: mean, sd and quantiles of its differences.

        `effect.mean().to_frame()` has a column for each feature instead.
        """
        return as_frame(summary_table(self._dataset, DIFFERENCE), kind or self.base.frame_kind)

    def save(self, path: str | Path) -> tuple[Path, Path, Path]:
        """Three files: `path` with the changed world, beside it NAME-base and NAME-effect.

        The first two are forecasts. The ending chooses the format: .nc keeps every draw, .csv and
        .parquet sum them up.
        """
        files = paired_files(Path(path))
        datasets = (self.changed.dataset, self.base.dataset, self._dataset)
        draws = ("observation", "observation", DIFFERENCE)
        for file, dataset, name in zip(files, datasets, draws, strict=True):
            write_dataset(dataset, file, name)
        return files

    @property
    def _dataset(self) -> "xr.Dataset":
        """Alive are those who are in both worlds."""
        alive = self.base["alive"] & self.changed["alive"]
        there = self.draws.notnull().any(("draw", "feature"))
        bare = self.base.dataset.drop_vars(list(self.base.dataset.data_vars))
        return bare.assign({DIFFERENCE: self.draws, "alive": alive & there})

    def _summary(self, name: str, array: Any) -> Summary:
        array = array.transpose("sequence", "time", "object", "feature").rename(name)
        return Summary(array, self.base.frame_kind)

    def __repr__(self) -> str:
        rows = sorted(self._last_effects(), key=lambda row: row[0], reverse=True)
        felt = [line for (_, size), line in rows if size > 0]
        lines = felt[:MOST_TOLD]
        if len(felt) > MOST_TOLD:
            lines.append(f"  … and {len(felt) - MOST_TOLD} more")
        if len(felt) < len(rows):
            lines.append(f"  not moved: {counted(len(rows) - len(felt), 'object')}")
        count = self.base.sizes["draw"]
        return "\n".join([f"Effect over {count} paired draws, mean and 90 % interval", *lines])

    def _last_effects(self) -> list[tuple[tuple[float, float], str]]:
        """At the last moment of every object: how much for sure, how much at all, in words."""
        summaries = (self.mean(), *self.interval())
        least = ROUNDING * np.nanmax(np.abs(self.base["trajectory"].values))
        mean, low, high = (
            np.where(np.abs(one.values) <= least, 0.0, one.values) for one in summaries
        )
        features = [str(name) for name in summaries[0].array["feature"].values]
        rows, units = [], self.base.units
        for p, a in np.argwhere(np.isfinite(mean).any(axis=(1, 3))).tolist():
            n = int(np.flatnonzero(np.isfinite(mean[p, :, a]).any(axis=-1))[-1])
            middle, ends = mean[p, n, a], (low[p, n, a], high[p, n, a])
            sure = np.where(ends[0] * ends[1] > 0, np.minimum(*np.abs(ends)), 0.0)
            told = ", ".join(
                f"{feature} {with_unit(f'{m:+.3g}', units.of(feature))} [{lo:.3g}, {hi:.3g}]"
                for feature, m, lo, hi in zip(features, middle, *ends, strict=True)
            )
            who = self.base.names[p, a]
            if len(mean) > 1:
                who += f" of sequence {self.base['sequence'].values[p]}"
            time = with_unit(f"{self.base.times[p, n]:.4g}", units.time)
            most = float(np.nanmax(np.abs([middle, *ends])))
            rows.append(((float(np.nanmax(sure)), most), f"  {who} at {time}: {told}"))
        return rows


def paired_files(path: Path) -> tuple[Path, Path, Path]:
    """The changed world, the world as it is, and what the change does."""
    base, difference = (path.with_stem(f"{path.stem}-{end}") for end in ("base", DIFFERENCE))
    return path, base, difference


def effect(changed: Forecast, base: Forecast) -> Effect:
    """Refuses forecasts that do not share their draws."""
    same = (
        changed.sizes == base.sizes
        and changed.attrs.get("seed") == base.attrs.get("seed")
        and np.array_equal(changed.names, base.names)
        and np.array_equal(changed.times, base.times, equal_nan=True)
    )
    if not same:
        raise BadInput(
            "These forecasts do not share their draws: make the second with like=the first, or "
            "both with what_if."
        )
    return Effect(changed, base)
