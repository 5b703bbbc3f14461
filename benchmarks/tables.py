"""Write docs/results.md from the rows: `python benchmarks/tables.py`

The rows are made by `comotion reproduce TABLE --rows benchmarks/results/reproduce.jsonl`.
"""

from dataclasses import replace
from pathlib import Path

from claims import claims_table
from rows import RESULTS

from comotion.jobs.rows import Row, RunRows
from comotion.report import figure_png, reproduction_table, skill_figure, skill_table
from comotion.reproduce import Found, Line, found, labels, results, select, table
from comotion.reproduce.goals import SMALLER, check
from comotion.reproduce.runs import TRUE_DYNAMICS
from comotion.reproduce.scales import SCALES

DOCS = Path(__file__).parent.parent / "docs"
FILE = "benchmarks/results/reproduce.jsonl"
INTRODUCTION = Path(__file__).with_suffix(".md")
SCALE = "fast"
MAIN, LEVELS = "bb3", ("none", "low", "high")
PICTURES = {"main": "three balls", "missing-vel": "hidden velocities", "charges": "charges"}
"""One of each kind of data; the other tables would show the same curves again."""
FIGURES = {
    "overview": "One test sequence on its way through I-GPODE",
    "bands-train": "Bands of I-GPODE and I-NODE on a training sequence, three balls without noise",
    "bands-test": "The same on a test sequence",
    "single-ball": "One ball moved by f_s alone, mean forecasts; f_s was learned from three balls",
}


def page(rows: list[Row]) -> str:
    """The whole page, in Markdown."""
    tables = {label: found(table(label), rows, SCALE, SMALLER) for label in labels()}
    values = {
        "file": FILE,
        "citation": results()["citation"],
        "coverage": coverage(list(tables.values())),
        "claims": claims_table(tables).to_markdown(),
        "goals": "\n".join(f"- {line}" for line in _goals(rows)),
        "ahead": f"{ahead_of_floor(list(tables.values())):.3f}",
        "scales": "\n".join(f"- *{name}*: {SCALES[name].about}" for name in (SCALE, *SMALLER)),
    }
    text = [INTRODUCTION.read_text().format(**values)]
    text += [section(shown) for shown in tables.values()]
    return "\n\n".join([*text, *figures(SCALE)]).rstrip("\n") + "\n"


def coverage(tables: list[Found]) -> str:
    """How many cells are there, and how."""
    lines = {(line.name, line.scene): line for shown in tables for line in systems(shown)}.values()
    made = [line for line in lines if line.rows]
    quick = sum(line.scale != SCALE for line in made)
    stale = sum(line.is_stale for line in made)
    seeds = max(len(line.rows) for line in made)
    text = f"{len(made)} of {len(lines)} systems on their data have been run, "
    text += f"with {'one seed' if seeds == 1 else f'up to {seeds} seeds'}: "
    text += f"{len(made) - quick - stale} at scale {SCALE}, {quick} at scale {SMALLER[0]}, "
    text += f"{stale} by an older recipe"
    lost = sum(line.lost > 0 for line in made)
    return text + (f"; draws of {lost} diverged." if lost else "; no draw diverged.")


def ahead_of_floor(tables: list[Found]) -> float:
    """The most skill that anything forecasts with above true dynamics, at any lead time."""
    lines = [line for shown in tables for line in shown.lines]
    floors = {line.scene: _skill(line) for line in lines if line.name == TRUE_DYNAMICS}
    differences = [
        own - least
        for line in lines
        if line.rows
        for own, least in zip(_skill(line), floors[line.scene], strict=True)
    ]
    return max(0.0, *differences)


def _skill(line: Line) -> list[float]:
    """From the first frame on that nobody has seen."""
    return [
        skill for lead, skill in zip(*line.by_lead("test", "skill_crps"), strict=True) if lead > 0
    ]


def systems(shown: Found) -> list[Line]:
    return [line for line in shown.lines if not line.is_reference]


def _goals(rows: list[Row]) -> tuple[str, ...]:
    return check([table(label) for label in labels()], rows, SCALE).summary


def section(shown: Found) -> str:
    label = shown.table.label
    parts = [f"## {label}", f"{shown.table.about}.", made_by(shown)]
    for view in shown.table.views:
        made = reproduction_table(shown, view)
        parts += [f"**{view}**", replace(made, notes=()).to_markdown()]
    last = shown.table.views[-1]
    parts += [
        "Skill so many frames after the last frame seen:",
        skill_table(shown, last).to_markdown(),
    ]
    if label in PICTURES:
        parts.append(f"![Skill by lead time, {PICTURES[label]}]({picture(label)})")
    return "\n\n".join(parts)


def made_by(shown: Found) -> str:
    rows = shown.rows
    hours = sum(sum(row["seconds"].values()) for row in rows) / 3600
    commits = ", ".join(sorted({str(row["commit"]) for row in rows}))
    to_do = sum(not line.rows for line in systems(shown))
    command = f"comotion reproduce {shown.table.label} --scale {shown.scale} --seeds 1"
    text = f"    {command} --rows {FILE}\n\n{len(rows)} runs, together {hours:.1f} h on two cores"
    text += f" shared with other work (commit {commits})."
    if to_do:
        text += f" {to_do} of {len(systems(shown))} systems have not been run yet; ≠ is marked "
        text += "only where all systems of a setting have."
    frames = {_property_frames(row) for row in rows} - {0}
    if frames:
        text += f" Systems that infer properties have read {max(frames)} frames, all others 5: "
        text += "what they score at earlier frames is no forecast."
    return text


def _property_frames(row: Row) -> int:
    """How many frames the run's system has read to infer properties; 0 if it infers none."""
    config = row["run"]["source"].get("system", {})
    return config["property_frames"] if config.get("properties") == "inferred" else 0


def figures(scale: str) -> list[str]:
    """Those that have been copied beside the page."""
    pictures = {name: f"images/figure-{name}-{scale}.png" for name in FIGURES}
    there = [name for name, path in pictures.items() if (DOCS / path).exists()]
    if not there:
        return []
    command = f"    comotion reproduce figures --scale {scale} --rows {FILE}"
    copy = f"    cp runs/reproduce/figure-*-{scale}.png docs/images"
    shown = [f"![{FIGURES[name]}]({pictures[name]})\n\n*{FIGURES[name]}.*" for name in there]
    return ["\n\n".join([f"## Figures, scale {scale}", f"{command}\n{copy}", *shown])]


def picture(name: str) -> str:
    return f"images/results-{name}.png"


def draw(rows: list[Row]) -> None:
    for name in PICTURES:
        chosen = select(table(MAIN), noise=LEVELS) if name == "main" else table(name)
        shown = found(chosen, rows, SCALE, SMALLER)
        figure = skill_figure(shown, shown.table.views[-1])
        (DOCS / picture(name)).write_bytes(figure_png(figure))


def main() -> None:
    rows = RunRows(RESULTS / "reproduce.jsonl").read()
    draw(rows)
    (DOCS / "results.md").write_text(page(rows))


if __name__ == "__main__":
    main()
