"""Write the tables of docs/contacts.md from the rows: `python benchmarks/contacts_page.py`"""

from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import rows

PAGE = Path(__file__).parent.parent / "docs" / "contacts.md"
NAMES = ("mse_draws", "mse_mean", "ell_20", "skill")
HEADS = ("scene (objects learned from)", "seeds", "MSE of draws / true", "MSE of mean / true")
HEADS += ("ELL / true", "skill / true", "band / true", "seconds")
WITHIN = 0.015
SOFT = "touches last "
Rows = list[dict[str, Any]]


def main() -> None:
    for part, name in (("test", "contacts"), ("valid", "contacts on validation sequences")):
        rows.write_between(PAGE, name, table(part))
    rows.write_between(PAGE, "charges", charges())
    rows.write_between(PAGE, "soft contacts", soft())
    rows.write_between(PAGE, "geometry", geometry())


def latest() -> Rows:
    """Of each measurement the last row."""
    names = ("scene", "learned_from", "seed", "part", "law")
    return list({tuple(row.get(n) for n in names): row for row in rows.read("contacts")}.values())


def table(part: str) -> list[str]:
    by_case: dict[tuple, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    done = {_case(row) for row in latest() if row["part"] == "test"}
    for row in latest():
        # What was judged on test sequences needs no second opinion.
        if row["part"] == part and (part == "test" or _case(row) not in done):
            by_case[_case(row)][row["law"]].append(row)
    lines = [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    whole = {case: laws for case, laws in by_case.items() if laws["learned"] and laws["true"]}
    lines += [_line(case, laws["learned"], laws["true"]) for case, laws in whole.items()]
    missed = [case for case, laws in whole.items() if _skill_lost(laws) > WITHIN]
    said = "; ".join(f"{scene} (law from {learned})" for scene, learned in missed)
    return [*lines, "", f"More than {WITHIN} of skill below the truth: {said or 'none'}."]


def charges() -> list[str]:
    """Beside a straight line on from the first true state, which has no band."""
    heads = ("their signs", "part", "seeds", "MSE of draws", "MSE of mean", "ELL", "skill", "band")
    lines = [f"| {' | '.join((*heads, 'signs right', 'seconds'))} |", "|---" * 10 + "|"]
    cases: dict[tuple, Rows] = defaultdict(list)
    for row in latest():
        if "charges" in row["scene"]:
            cases[row["scene"].split(", ")[1], row["part"], row["law"]].append(row)
    for (signs, part, law), found in cases.items():
        name = signs if law == "learned" else f"({law} line)"
        cells = [name, part, str(len(found))]
        cells += [f"{mean(row[n] for row in found):.{3 if n == 'skill' else 1}f}" for n in NAMES]
        cells += [_held(found)] if law == "learned" else ["-"]
        right = [row["signs_right"] for row in found if "signs_right" in row]
        cells.append(f"{mean(right):.0%}" if right else "-")
        seconds = [row["fit_seconds"] + row["forecast_seconds"] for row in found if "is" in row]
        cells.append(f"{mean(seconds):.0f}" if seconds else "-")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def soft() -> list[str]:
    """Without noise the floor of true dynamics is nothing."""
    heads = ("a touch lasts", "part", "MSE of mean", "MSE of draws", "skill", "seconds", "found")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in latest():
        if row["scene"].startswith(SOFT):
            lasts = row["scene"].removeprefix(SOFT).split(",")[0]
            cells = [
                lasts,
                row["part"],
                *(f"{row[n]:.3f}" for n in ("mse_mean", "mse_draws", "skill")),
            ]
            cells += [f"{row['fit_seconds']:.0f} + {row['forecast_seconds']:.0f}", row["is"]]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def geometry() -> list[str]:
    lines = ["| scene | noise seeds | walls found | z of distance, rms | z of walls, rms |"]
    lines.append("|---" * 5 + "|")
    for row in rows.read("contact_scores"):
        figures = (f"{row[name]:.2f}" for name in ("walls_found", "distance_z", "walls_z"))
        lines.append(f"| {row['scene']} | {row['seeds']} | {' | '.join(figures)} |")
    return lines


def _case(row: dict[str, Any]) -> tuple:
    return row["scene"], row.get("learned_from")


def _skill_lost(laws: dict[str, Rows]) -> float:
    learned, true = (mean(row["skill"] for row in laws[name]) for name in ("learned", "true"))
    return true - learned


def _line(case: tuple, learned: Rows, true: Rows) -> str:
    scene, source = case
    cells = [f"{scene} ({source})", str(len(learned))]
    for name in NAMES:
        digits = 3 if name == "skill" else 2
        both = (mean(row[name] for row in side) for side in (learned, true))
        cells.append(" / ".join(f"{value:.{digits}f}" for value in both))
    cells.append(" / ".join(_held(side) for side in (learned, true)))
    seconds = (mean(row[name] for row in learned) for name in ("fit_seconds", "forecast_seconds"))
    cells.append(" + ".join(f"{value:.0f}" for value in seconds))
    return f"| {' | '.join(cells)} |"


def _held(side: Rows) -> str:
    """In all, and the least and the most of any frame; older rows have the latter alone."""
    low, high = min(row["held_least"] for row in side), max(row["held_most"] for row in side)
    known = [row["held"] for row in side if "held" in row]
    return f"{mean(known):.2f} ({low:.2f}-{high:.2f})" if known else f"{low:.2f}-{high:.2f}"


if __name__ == "__main__":
    main()
