"""What mattered in a search: the result of every trial against the value of each field."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from comotion.report import style

Trials = Sequence[tuple[Mapping[str, Any], float]]
"""Values of the fields, and what came of them."""
MOST_GROUPS = 4


def search_figure(title: str, trials: Trials) -> Figure:
    """One panel a field, those that explain most of the differences first."""
    trials = _finite(trials)
    shares = explained(trials)
    figure, panels = style.new_figure(
        1, len(shares), width=0.8 + 2.8 * len(shares), height=3.2, sharey=True
    )
    for axes, (field, share) in zip(panels[0], shares.items(), strict=True):
        _draw_field(axes, [values[field] for values, _ in trials], [result for _, result in trials])
        style.label(axes, title=f"{field} ({share:.0%})")
    panels[0, 0].set_ylabel("log likelihood of data to choose on", fontsize=9, color=style.INK)
    style.headline(figure, f"{title}: what mattered (share of the differences)")
    return figure


def explained(trials: Trials) -> dict[str, float]:
    """Share of the variance of results that lies between the values of a field, largest first.

    Numbers that hardly ever recur are compared by quarters of their range: each by itself would
    explain everything.
    """
    fields = list(trials[0][0])
    trials = _finite(trials)
    results = np.array([result for _, result in trials])
    total = float(np.sum((results - results.mean()) ** 2)) if len(results) else 0.0
    shares = {}
    for field in fields:
        levels = _grouped([values[field] for values, _ in trials])
        groups = [results[[level == other for other in levels]] for level in set(levels)]
        between = sum(len(group) * (group.mean() - results.mean()) ** 2 for group in groups)
        shares[field] = float(between) / total if total > 0 else 0.0
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _draw_field(axes: Axes, values: Sequence[Any], results: Sequence[float]) -> None:
    if _is_spread(values):
        axes.plot(values, results, ".", color=style.MODEL, alpha=0.6)
        return
    levels = _levels(values)
    for place, level in enumerate(levels):
        reached = [result for value, result in zip(values, results, strict=True) if value == level]
        axes.plot([place] * len(reached), reached, ".", color=style.MODEL, alpha=0.6)
        axes.hlines(np.median(reached), place - 0.3, place + 0.3, color=style.INK, linewidth=2)
    axes.set_xticks(range(len(levels)), [_written(level) for level in levels], rotation=30)


def _finite(trials: Trials) -> Trials:
    return [(values, result) for values, result in trials if np.isfinite(result)]


def _is_spread(values: Sequence[Any]) -> bool:
    """Whether these are numbers with more different values than can be told apart as groups."""
    numbers = all(isinstance(value, int | float) for value in values)
    return numbers and len(set(values)) > MOST_GROUPS


def _grouped(values: Sequence[Any]) -> list[Any]:
    if not _is_spread(values):
        return list(values)
    edges = np.quantile(values, np.arange(1, MOST_GROUPS) / MOST_GROUPS)
    return np.searchsorted(edges, values).tolist()


def _levels(values: Sequence[Any]) -> list[Any]:
    return sorted(set(values), key=lambda value: (isinstance(value, str), value))


def _written(level: Any) -> str:
    return f"{level:.3g}" if isinstance(level, float) else str(level)
