"""Write docs/results.md from the rows: `python benchmarks/tables.py`

The rows are made by `comotion reproduce TABLE --rows benchmarks/results/reproduce.jsonl`. Tables of
which less than half has been run are left out.
"""

from dataclasses import replace
from pathlib import Path

from rows import RESULTS

from comotion.jobs.rows import Row, RunRows
from comotion.report import figure_png, reproduction_table, skill_figure, skill_table
from comotion.reproduce import Found, found, labels, results, table
from comotion.reproduce.scales import SCALES

DOCS = Path(__file__).parent.parent / "docs"
FILE = "benchmarks/results/reproduce.jsonl"
INTRODUCTION = Path(__file__).with_suffix(".md")
FIGURES = {
    "overview": "One test sequence on its way through I-GPODE",
    "bands-train": "Bands of I-GPODE and I-NODE on a training sequence, three balls without noise",
    "bands-test": "The same on a test sequence",
    "single-ball": "One ball moved by f_s alone, mean forecasts; f_s was learned from three balls",
}


def section(shown: Found) -> str:
    label, scale = shown.table.label, shown.scale
    picture = f"images/results-{label.replace(':', '-')}-{scale}.png"
    last = shown.table.views[-1]
    (DOCS / picture).write_bytes(figure_png(skill_figure(shown, last)))
    about = f"{shown.table.about}. {SCALES[scale].about.capitalize()}."
    parts = [f"## {label}, scale {scale}", about, made_by(shown)]
    for view in shown.table.views:
        made = reproduction_table(shown, view)
        parts += [f"**{view}**", replace(made, notes=()).to_markdown()]
    parts += [
        "Skill so many frames after the last frame seen:",
        skill_table(shown, last).to_markdown(),
    ]
    return "\n\n".join([*parts, f"![Skill by lead time, table {label}]({picture})"])


def made_by(shown: Found) -> str:
    rows = shown.rows
    hours = sum(sum(row["seconds"].values()) for row in rows) / 3600
    seeds = max(len(line.rows) for line in shown.lines)
    commits = ", ".join(sorted({str(row["commit"]) for row in rows}))
    lost = sum(any(row["diverged"].values()) for row in rows)
    systems = [line for line in shown.lines if not line.is_reference]
    to_do = sum(not line.rows for line in systems)
    command = f"comotion reproduce {shown.table.label} --scale {shown.scale} --seeds {seeds}"
    text = f"    {command} --rows {FILE}\n\n{len(rows)} runs, together {hours:.1f} h on two cores"
    text += f" shared with other work (commit {commits})."
    if lost:
        text += f" In {lost} of them draws diverged; they count as 1000 standard deviations off."
    if to_do:
        text += f" {to_do} of {len(systems)} systems have not been run yet; ≠ is marked only where "
        text += "all systems of a setting have."
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
    there = [name for name, picture in pictures.items() if (DOCS / picture).exists()]
    if not there:
        return []
    command = f"    comotion reproduce figures --scale {scale} --rows {FILE}"
    copy = f"    cp runs/reproduce/figure-*-{scale}.png docs/images"
    shown = [f"![{FIGURES[name]}]({pictures[name]})\n\n*{FIGURES[name]}.*" for name in there]
    return ["\n\n".join([f"## Figures, scale {scale}", f"{command}\n{copy}", *shown])]


def main() -> None:
    rows: list[Row] = RunRows(RESULTS / "reproduce.jsonl").read()
    text = [INTRODUCTION.read_text().format(file=FILE, citation=results()["citation"])]
    left_out: list[str] = []
    for scale in ("paper", "fast"):
        for label in labels():
            shown = found(table(label), rows, scale)
            systems = [line for line in shown.lines if not line.is_reference]
            made = sum(bool(line.rows) for line in systems)
            if 2 * made >= len(systems):
                text.append(section(shown))
            elif scale == "fast":
                left_out.append(f"{label} ({made} of {len(systems)} systems)")
        text += figures(scale)
    if left_out:
        text.append(f"Tables with less than half of their runs made: {', '.join(left_out)}.")
    if len(text) == 1:
        text.append("No run has been made yet.\n")
    (DOCS / "results.md").write_text("\n\n".join(text).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
