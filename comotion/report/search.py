"""What mattered in a search: the result of every trial against the value of each field."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from comotion.report import style

Trials = Sequence[tuple[Mapping[str, Any], float]]
"""Values of the fields, and what came of them."""


def search_figure(title: str, trials: Trials) -> Figure:
    """One panel a field, those that explain most of the differences first."""
    shares = explained(trials)
    figure, panels = style.new_figure(
        1, len(shares), width=0.8 + 2.8 * len(shares), height=3.2, sharey=True
    )
    for axes, (field, share) in zip(panels[0], shares.items(), strict=True):
        levels = _levels([values[field] for values, _ in trials])
        for place, level in enumerate(levels):
            reached = [result for values, result in trials if values[field] == level]
            axes.plot([place] * len(reached), reached, ".", color=style.MODEL, alpha=0.6)
            axes.hlines(np.median(reached), place - 0.3, place + 0.3, color=style.INK, linewidth=2)
        axes.set_xticks(range(len(levels)), [_written(level) for level in levels], rotation=30)
        style.label(axes, title=f"{field} ({share:.0%})")
    panels[0, 0].set_ylabel("bound on data to choose on", fontsize=9, color=style.INK)
    style.headline(figure, f"{title}: what mattered (share of the differences)")
    return figure


def explained(trials: Trials) -> dict[str, float]:
    """Share of the variance of results that lies between the values of a field, largest first."""
    fields = list(trials[0][0])
    results = np.array([result for _, result in trials])
    total = float(np.sum((results - results.mean()) ** 2))
    shares = {}
    for field in fields:
        levels = [values[field] for values, _ in trials]
        groups = [results[[level == other for other in levels]] for level in set(levels)]
        between = sum(len(group) * (group.mean() - results.mean()) ** 2 for group in groups)
        shares[field] = float(between) / total if total > 0 else 0.0
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _levels(values: Sequence[Any]) -> list[Any]:
    return sorted(set(values), key=lambda value: (isinstance(value, str), value))


def _written(level: Any) -> str:
    return f"{level:.3g}" if isinstance(level, float) else str(level)
