"""A table of the paper made again: ours beside what was printed, and what needs no model."""

import math
from collections.abc import Callable, Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from comotion.report import style
from comotion.report.tables import Cell, Column, Table
from comotion.reproduce import Found, Line
from comotion.reproduce.runs import OURS, TRUE_DYNAMICS

NOTES = (
    "table convention: summed over objects and features, averaged over frames and sequences",
    "MSE: of noise-free draws; ELL: a Gaussian with the mean and variance + 0.01 of 20 draws",
    "skill: 1 − CRPS / CRPS of climatology, observation noise included; 0 is no skill at all",
    "climatology: one Gaussian for all times; true dynamics: the simulator from the same frames",
    "± standard deviation over seeds; ≠: another system wins here than in the paper",
    "steps: of training, with the scale if it is another one, and what a row has against it",
)
AHEAD = (1, 2, 5, 10, 20, 50)
CURVES = ("-", (0, (5, 1.5)))


def reproduction_table(found: Found, view: str) -> Table:
    """One view (train, test, single balls) of a table of the paper."""
    columns = _columns(view, found.scale)
    differing = found.differing(view)
    rows = tuple(
        (*(cell(line) for cell in columns.values()), differing.get(number, ""))
        for number, line in enumerate(found.lines)
    )
    apart = frozenset(number for number, line in enumerate(found.lines) if line.is_reference)
    title = f"{found.table.label}, {view}, at scale {found.scale}: {found.table.about}"
    heads = (*columns, Column("against the paper"))
    return Table(title, heads, rows, group="setting", notes=NOTES, apart=apart)


def _columns(view: str, scale: str) -> dict[Column, Callable[[Line], Cell]]:
    """What stands in a line; of training sequences there are no more draws than the paper's 20."""

    def ours(metric: str) -> Callable[[Line], Cell]:
        return lambda line: line.ours(view, metric)

    def printed(metric: str) -> Callable[[Line], Cell]:
        return lambda line: line.printed[view][metric] if view in line.printed else None

    more_draws = {Column("ELL, all draws", 1, "higher"): ours("ell_table_all_draws")}
    return {
        Column("setting"): lambda line: line.setting,
        Column("system"): lambda line: line.name,
        Column("MSE", 2, "lower"): ours("mse_draws_table"),
        Column("paper MSE", 2, "lower"): printed("mse_draws_table"),
        Column("MSE of mean", 2, "lower"): ours("mse_mean_table"),
        Column("ELL", 1, "higher"): ours("ell_table"),
        Column("paper ELL", 1, "higher"): printed("ell_table"),
        **({} if view == "train" else more_draws),
        Column("skill", 3, "higher"): ours("skill_crps"),
        Column("steps"): lambda line: _how(line, scale),
        Column("seeds"): lambda line: str(len(line.rows)),
    }


def _how(line: Line, scale: str) -> str:
    """A row of fewer steps, of an older recipe or with lost draws is not taken for another."""
    said = {
        f"scale {line.scale}": line.scale != scale,
        "older recipe": line.is_stale,
        f"{line.lost:.1%} of draws diverged": line.lost > 0,
    }
    return ", ".join(filter(None, [line.steps, *(name for name, true in said.items() if true)]))


def skill_table(found: Found, view: str) -> Table:
    """What skill over climatology is left so many frames after the last one seen."""
    lines = [line for line in found.lines if line.rows and line.name != "climatology"]
    rows = []
    for line in lines:
        lead, skill = line.by_lead(view, "skill_crps")
        seen = sum(time <= 0 for time in lead) - 1
        at = [seen + ahead for ahead in AHEAD]
        cells: list[Cell] = [skill[n] if n < len(skill) else None for n in at]
        rows.append((line.setting, line.name, *cells))
    columns = (Column("setting"), Column("system"), *(Column(f"{n}", 3) for n in AHEAD))
    title = f"{found.table.label}: skill so many frames ahead"
    return Table(title, columns, tuple(rows))


def skill_figure(found: Found, view: str) -> Figure:
    """Skill over climatology by lead time, one panel a scene and setting."""
    panels_of = _panels(found)
    count = len(panels_of)
    columns = min(count, 3)
    rows = math.ceil(count / columns)
    size = {"width": 1.0 + 3.6 * columns, "height": 1.0 + 2.4 * rows}
    figure, panels = style.new_figure(rows, columns, **size, sharey=True)
    names = list(dict.fromkeys(line.name for line in found.lines if not line.is_reference))
    looks = {name: _look(number) for number, name in enumerate(names)} | {
        "constant velocity": {"color": style.REFERENCES["constant velocity"], "linestyle": ":"},
        OURS: {"color": style.INK, "linestyle": "-"},
        TRUE_DYNAMICS: {"color": style.INK, "linestyle": (0, (1, 1))},
    }
    drawn: set[str] = set()
    for axes, (setting, lines) in zip(panels.flat, panels_of.items(), strict=False):
        for line in lines:
            lead, skill = line.by_lead(view, "skill_crps")
            if line.name in looks and lead:
                axes.plot(lead, skill, linewidth=1.4, **looks[line.name])
                drawn.add(line.name)
        axes.axhline(0.0, color=style.REFERENCES["climatology"], linewidth=1.0)
        axes.set_ylim(-0.5, 1.03)
        style.label(axes, x="time since the last frame seen", title=setting or "all")
    panels[0, 0].set_ylabel("skill over climatology (CRPS)", fontsize=9)
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    style.headline(figure, f"{found.table.label}: what skill is left (0: climatology)")
    handles = [Line2D([], [], label=name, **look) for name, look in looks.items() if name in drawn]
    style.legend_below(figure, handles, columns=5)
    return figure


def _panels(found: Found) -> dict[str, Sequence[Line]]:
    """Lines by setting; references that hold for all of them are in every panel.

    Settings of which nothing has been run are left out, unless there are no others.
    """
    systems = [line for line in found.lines if not line.is_reference]
    settings = dict.fromkeys(line.setting for line in systems if line.rows)
    settings = settings or dict.fromkeys(line.setting for line in systems)
    return {
        setting: [line for line in found.lines if line.setting in (setting, "any")]
        for setting in settings
    }


def _look(number: int) -> dict:
    colours = style.OBJECTS
    return {
        "color": colours[number % len(colours)],
        "linestyle": CURVES[number // len(colours) % len(CURVES)],
    }
