"""Write the table of docs/contacts.md from the rows: `python benchmarks/contacts_page.py`"""

from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import rows

PAGE = Path(__file__).parent.parent / "docs" / "contacts.md"
NAMES = ("mse_draws", "mse_mean", "ell_20", "skill")
HEADS = ("scene (law learned from)", "seeds", "MSE of draws / true", "MSE of mean / true")
HEADS += ("ELL / true", "skill / true", "band", "seconds")
WITHIN = 0.015


def main() -> None:
    by_case: dict[tuple, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows.read("contacts"):
        if row["part"] == "test":
            case = (row["scene"], row.get("learned_from"))
            by_case[case][row["law"]].append(row)
    lines = [
        f"| {' | '.join(HEADS)} |",
        "|---" * len(HEADS) + "|",
    ]
    for case, laws in by_case.items():
        lines.append(_line(case, laws["learned"], laws["true"]))
    missed = [case for case, laws in by_case.items() if _skill_lost(laws) > WITHIN]
    said = "; ".join(f"{scene} (law from {learned} balls)" for scene, learned in missed)
    lines += ["", f"More than {WITHIN} of skill below the truth: {said or 'none'}."]
    rows.write_between(PAGE, "contacts", lines)


def _skill_lost(laws: dict[str, list[dict[str, Any]]]) -> float:
    learned, true = (mean(row["skill"] for row in laws[name]) for name in ("learned", "true"))
    return true - learned


def _line(case: tuple, learned: list[dict[str, Any]], true: list[dict[str, Any]]) -> str:
    scene, source = case
    cells = [f"{scene} ({source})", str(len(learned))]
    for name in NAMES:
        digits = 3 if name == "skill" else 2
        both = (mean(row[name] for row in side) for side in (learned, true))
        cells.append(" / ".join(f"{value:.{digits}f}" for value in both))
    low, high = min(r["held_least"] for r in learned), max(r["held_most"] for r in learned)
    seconds = (mean(row[name] for row in learned) for name in ("fit_seconds", "forecast_seconds"))
    cells += [f"{low:.2f}-{high:.2f}", " + ".join(f"{value:.0f}" for value in seconds)]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
