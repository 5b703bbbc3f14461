"""Write docs/real-data.md from the rows: `python benchmarks/real_page.py`"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rows import read

PAGE = Path(__file__).parent.parent / "docs" / "real-data.md"
TASKS = ("hexbugs", "eth", "hotel", "univ", "zara1", "zara2", "football", "planets", "swarm")
HEADS = (
    "forecast",
    "CRPS",
    "over constant velocity",
    "energy",
    "NLL",
    "ADE / FDE",
    "50 % band",
    "90 % band, first / middle / last lead",
    "fit",
)
INTRODUCTION = Path(__file__).with_suffix(".md")
OURS = "comotion"
BESIDE = (
    "constant velocity",
    "constant velocity, along and across",
    "Kalman filter",
    "climatology",
)
GOALS = {"hexbugs": 0.42, "football": 0.90} | dict.fromkeys(
    ("eth", "hotel", "univ", "zara1", "zara2"), 0.98
)
"""Largest CRPS that was aimed at, as a share of constant velocity's."""


def main() -> None:
    rows = read("real")
    parts = [INTRODUCTION.read_text().strip(), *glance(rows)]
    for task in TASKS:
        of_task = latest([row for row in rows if row["task"] == task], ("forecast",))
        if of_task:
            parts += [f"## {task}", described(of_task[-1]), table(HEADS, map(cells, of_task))]
    parts += foresight() + kernels() + laws() + gravity() + kinds()
    PAGE.write_text("\n\n".join(parts) + "\n")


def glance(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Every model's row beside the references, in one table."""
    lines = []
    for task in TASKS:
        of_task = latest([row for row in rows if row["task"] == task], ("forecast",))
        scores = {row["forecast"]: row["crps"] for row in of_task}
        for row in of_task:
            if not row["forecast"].startswith(OURS):
                continue
            shares = [f"{row['crps'] / scores[other]:.2f}" for other in BESIDE]
            goal = f"{GOALS[task]:.2f}" if task in GOALS else "–"
            bands = " / ".join(map(percent, row["coverage_90 first, middle, last"]))
            name = row["forecast"].removeprefix(OURS).strip()
            lines.append([f"{task}: {name}", *shares, goal, bands])
    heads = ("model", *BESIDE, "goal beside constant velocity", "90 % band")
    about = (
        "CRPS of a model as a share of each reference's; what its 90 % band holds at the first, "
        "the middle and the last lead."
    )
    return ["## At a glance", about, table(heads, lines)]


def latest(rows: Sequence[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """The last row of each kind, in the order in which the kinds came first."""
    return list({tuple(row[name] for name in names): row for row in rows}.values())


def described(row: dict[str, Any]) -> str:
    about = row["about"][0].upper() + row["about"][1:]
    return f"{about}. {row['origins']} origins, {row['rows']} forecasts (commit {row['commit']})."


def cells(row: dict[str, Any]) -> list[str]:
    ratio = row.get("CRPS over constant velocity")
    return [
        row["forecast"],
        number(row["crps"]),
        "–" if ratio is None else _interval(ratio),
        number(row["energy"]),
        f"{row['nll']:.2f}",
        f"{number(row['ade'])} / {number(row['fde'])}",
        percent(row["coverage_50"]),
        " / ".join(map(percent, row["coverage_90 first, middle, last"])),
        f"{row['seconds to fit']:.0f} s",
    ]


def _interval(ratio: list[float | None]) -> str:
    estimate, low, high = ratio
    if low is None or high is None:
        return f"{estimate:.2f}"
    return f"{estimate:.2f} ({low:.2f} to {high:.2f})"


def foresight() -> list[str]:
    """How far errors of scenes differ whatever is seen, from `benchmarks/foresight.py`."""
    rows = latest(read("foresight"), ("known", "lead"))
    if not rows:
        return []
    scenes = list(rows[0]["mean left by scene"])
    lines = [
        [
            f"{row['known']}, lead {row['lead']}",
            *(f"{row['mean left by scene'][scene]:+.2f}" for scene in scenes),
            f"{row['sd between scenes']:.2f}",
        ]
        for row in rows
    ]
    about = (
        "`python benchmarks/foresight.py`: the log of how far a straight line is off, regressed on "
        "what is seen of an object and of those around it in all other scenes; the table shows the "
        "mean of what is left in each scene. By so much it is more restless, or calmer, than "
        "anything seen of it says. A band of 90 % of errors whose logs scatter by about one, as "
        "these do, holds between 87 and 93 % where that is within about 0.17."
    )
    return ["## What bands cannot know", about, table(("known", *scenes, "sd"), lines)]


def kernels() -> list[str]:
    rows = latest(read("kernels"), ("law", "kernel", "fit", "seed"))
    if not rows:
        return []
    lines = []
    for law, kernel, fit in {(row["law"], row["kernel"], row["fit"]): None for row in rows}:
        same = [
            row for row in rows if (row["law"], row["kernel"], row["fit"]) == (law, kernel, fit)
        ]
        errors = [
            span([row[name] for row in same])
            for name in ("L2 error", "L2 error of r φ", "Linf error")
        ]
        held = [row["95 % band holds"] for row in same if row.get("95 % band holds") is not None]
        band = " – ".join(map(percent, sorted({min(held), max(held)}))) if held else "–"
        lines.append([law, kernel, fit, *errors, band, str(len(same))])
    heads = ("law", "kernel", "fit", "L2(ρ)", "L2(ρ) of r φ", "L∞", "95 % band holds", "seeds")
    about = (
        "Simulated with the literature's numbers of trajectories, times and noise; derivatives are "
        "given except for continuous opinion. Relative error of φ, ρ being the distances between "
        "pairs over 200 other trajectories; lowest to highest over seeds. L∞ leaves out the "
        "nearest and the farthest hundredth; bands are judged over ρ. In `gap 01` kind 0 feels "
        "kind 1: prey and predator, or the others and the stubborn. The Gaussian process is solved "
        "in closed form from the same moments (`comotion/initialise/distance_kernels.py`); how "
        "smooth it is, and whether in the distance or in its logarithm, is chosen by evidence. Its "
        "bands take states as exact, and what was chosen as given: where states are noisy, or a "
        "kernel jumps, they are too narrow. Twelve moments of ten stubborn opinions are mostly "
        "noise, and so are slopes taken from differences of noisy opinions: there neither fit "
        "finds much, and least squares with three knots often more."
    )
    return ["## Interaction laws of the literature", about, table(heads, lines)]


def laws() -> list[str]:
    """What `benchmarks/laws.py` measured."""
    rows = read("laws")
    swarms = latest([row for row in rows if row["what"] == "swarm"], ("seed", "sequences"))
    parts = []
    if swarms:
        parts += ["## The law of a swarm, from noisy positions", ABOUT_SWARMS]
        parts.append(table(SWARM_HEADS, map(swarm_cells, swarms)))
    for row in [row for row in rows if row["what"] == "calibration"][-1:]:
        parts += ["## Calibration of f_b", described_ranks(row)]
    return parts


def gravity() -> list[str]:
    """What `benchmarks/planets.py` measured."""
    rows = read("planets")
    if not rows:
        return []
    row = rows[-1]
    masses = ", ".join(f"{name} {mass:.3g}" for name, mass in row["masses"].items())
    found = (
        f"Exponent of the law over the distances to the Sun: {row['exponent']:.3f}. Masses: "
        f"{masses}. Skill {row['days ahead']:.0f} days ahead, on the last ten years: "
        f"{row['skill']:.3f} (a straight line: {row['skill of a straight line']:.1f})."
    )
    return ["## Planets whose masses nobody told", ABOUT_GRAVITY, found]


ABOUT_GRAVITY = (
    "`python benchmarks/planets.py`: Sun and eight planets, positions every five days, the law and "
    "the masses learned from the first 54 % of 25 years. Masses are what keeps momentum, the law "
    "is solved for by least squares, and nothing is trained. **No system of the library does this "
    "yet**: a law of pairs there knows no masses of its own, so these figures say what positions "
    "tell, not what `fit` would learn."
)


def kinds() -> list[str]:
    """What `benchmarks/identify.py` measured."""
    rows = latest(read("identify"), ("what",))
    if not rows:
        return []
    lines = [
        [
            row["what"],
            row["true"],
            row["chosen"],
            "; ".join(f"{kind} {nats:+.0f}" for kind, nats in row["nats"].items()),
            number(row["seconds of processor"]),
        ]
        for row in rows
        if "nats" in row
    ]
    straight = [
        f"Of {row['seeds']} seeds of straight lines with noise, no law was favoured in "
        f"{row['chosen no law']}; the most that any law had over the likeliest motion without one "
        f"was {row['most nats of any law']:.1f} nats."
        for row in rows
        if "chosen no law" in row
    ]
    parts = ["## Is the law found that is there?", ABOUT_KINDS, *straight]
    heads = ("world", "its law", "favoured", "nats of the three likeliest", "seconds")
    return [*parts, table(heads, lines)] if lines else parts


ABOUT_KINDS = (
    "`python benchmarks/identify.py`: log evidence of kinds of laws, of positions measured with "
    "noise 0.01, as `cm.identify` weighs them before anything is trained. Seconds are of one "
    "processor; the first world of each shape pays for its compiled programs."
)
ABOUT_SWARMS = (
    "`python benchmarks/laws.py swarm`: ten agents, positions measured with noise 0.01, f_s of "
    "speed and f_b of distance by Gauss-Newton through the solver "
    "(`comotion/initialise/shooting.py`). Errors and bands are over the distances that occur; CRPS "
    "is of 75 frames forecast from 5, in brackets that of constant velocity and of a Kalman filter."
)
SWARM_HEADS = (
    "seed",
    "sequences",
    "noise found",
    "L2 of f_b",
    "95 % band holds",
    "CRPS",
    "90 % band",
)


def swarm_cells(row: dict[str, Any]) -> list[str]:
    scored = "CRPS, model" in row
    beside = f"({row['CRPS, constant velocity']:.3g}, {row['CRPS, Kalman']:.3g})" if scored else ""
    return [
        str(row["seed"]),
        str(row["sequences"]),
        ", ".join(f"{value:.4f}" for value in row["noise"]),
        f"{row['L2 error of f_b']:.3f}",
        percent(row["95 % band holds"]),
        f"{row['CRPS, model']:.3g} {beside}" if scored else "–",
        " / ".join(map(percent, row["coverage_90 first, middle, last"])) if scored else "–",
    ]


def described_ranks(row: dict[str, Any]) -> str:
    values = ", ".join(f"{p:.2g}" for p in row["p-value of uniform ranks, by distance"])
    places = ", ".join(f"{r:g}" for r in row["distances"])
    return (
        f"`python benchmarks/laws.py calibration`: {row['laws']} laws drawn from the prior, each "
        "fitted to six short recordings of four objects that obey it, as noisy positions. The rank "
        f"of the true f_b among {row['draws']} draws from its posterior, at distances {places}: "
        f"p-values of uniform ranks {values} (Kolmogorov-Smirnov); 90 % bands hold "
        f"{percent(row['90 % band holds'])} %."
    )


def span(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.2g}" if len(values) == 1 else f"{low:.2g} – {high:.2g}"


def table(heads: Sequence[str], lines) -> str:
    rows = [list(heads), ["---"] + ["---:"] * (len(heads) - 1), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f}"


if __name__ == "__main__":
    main()
