"""Do bands hold what they promise? `python benchmarks/promise.py [KIND …]`, then `--page`.

`coverage`: small worlds of five kinds, several seeds each, are fitted in few steps, told what acts
but not how, and forecast from five frames: the share inside the bands at some leads. `contacts`:
balls of a size drawn anew for each world; where in its posterior does the true distance stand, and
where the walls? `starts`: the same of places at the first and the last frame that was seen, in
forecasts of new scenes. What has a row is not done again.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from laws import PARTS, SHOOTING
from rows import append, read, write_between
from scipy.stats import kstest, norm, t

import comotion as cm
from comotion.data import Trajectories
from comotion.initialise.find_contacts import find_contacts
from comotion.initialise.tracks import tracks_of
from comotion.scoring import Protocol, evaluate
from comotion.train import fit

KINDS = ("coverage", "contacts", "starts")
NOISE, SEEDS = 0.01, 4
TRAIN, TEST = 20, 20
SEEN, LEADS = 5, (1, 3, 10, 20, 40)
LEVELS = (50, 90)
FRAMES = SEEN + LEADS[-1]
SIZES: dict[str, Any] = {"sequences": TRAIN + TEST, "frames": FRAMES, "velocities": False}
SMALLEST, LARGEST, HALF_WIDTH = 0.8, 1.4, 5.0
CONTACT_WORLDS = 40
START_SCENES, START_DRAWS = 200, 99
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "uncertainty.md"
PICTURE = PAGE.parent.parent / "images" / "promise.png"
Simulator = Callable[..., Trajectories]
BY_DISTANCE: dict[str, Any] = PARTS | {"recipe": SHOOTING}
WORLDS: dict[str, tuple[Simulator, dict[str, Any]]] = {
    "balls": (partial(cm.simulate.bouncing_balls, **SIZES, objects=3), {}),
    "swarm": (partial(cm.simulate.agents, "swarm", **SIZES, objects=5), BY_DISTANCE),
    "springs": (partial(cm.simulate.springs, **SIZES, objects=4), BY_DISTANCE),
    "flock": (
        partial(cm.simulate.agents, "cucker-smale", **SIZES, objects=5, step=0.1),
        BY_DISTANCE | {"pair": "aligning"},
    ),
    "walkers": (partial(cm.simulate.walkers, **SIZES, objects=3), {"system": "motion"}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--page", action="store_true", help="write the page and stop")
    chosen = parser.parse_args()
    work = {"coverage": coverage, "contacts": contacts, "starts": starts}
    if not chosen.page:
        for kind in chosen.kinds or KINDS:
            work[kind]()
    write_page()


def coverage() -> None:
    done = {(row["world"], row["seed"]) for row in read("promise") if row["what"] == "coverage"}
    for seed in range(SEEDS):
        for name in WORLDS:
            if (name, seed) not in done:
                append("promise", held_in(name, seed))


def held_in(name: str, seed: int) -> dict[str, Any]:
    simulate, parts = WORLDS[name]
    train, test = noisy(simulate(seed=seed), seed).split(TRAIN, TEST)
    begun = time.perf_counter()
    model = fit(train, seed=seed, progress=False, **parts)
    protocol = Protocol(SEEN, LEADS[-1])
    found = evaluate(model, test, train=train, protocol=protocol)
    own, at = found.scores[found.name], np.array(LEADS) - 1
    row: dict[str, Any] = {"what": "coverage", "world": name, "seed": seed, "leads": LEADS}
    for level in LEVELS:
        row[f"held_{level}"] = short(own.by_lead(f"coverage_{level}")[at])
    usual = found.scores["constant velocity"].by_lead("crps")[at]
    row["crps_ratio"] = short(own.by_lead("crps")[at] / usual)
    return row | {"seconds": round(time.perf_counter() - begun, 1)}


def contacts() -> None:
    """Each world has its own size of balls; noise is that of the other worlds."""
    if any(row["what"] == "contacts" for row in read("promise")):
        return
    begun, shares = time.perf_counter(), [share_of(seed) for seed in range(CONTACT_WORLDS)]
    distance, walls = (np.concatenate(part) for part in zip(*shares, strict=True))
    row: dict[str, Any] = {"what": "contacts", "worlds": CONTACT_WORLDS}
    row |= uniform("distance", distance) | uniform("walls", walls)
    append("promise", row | {"seconds": round(time.perf_counter() - begun, 1)})


def share_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How much of the posterior is below the true distance, and below each wall's true place."""
    radius = np.random.default_rng(seed).uniform(SMALLEST, LARGEST)
    sizes: dict[str, Any] = SIZES | {"sequences": TRAIN + TEST, "frames": 2 * FRAMES}
    balls = cm.simulate.bouncing_balls(**sizes, radius=radius, half_width=HALF_WIDTH, seed=seed)
    law = find_contacts(tracks_of(noisy(balls, seed))).law
    if law is None:
        return np.zeros(0), np.zeros(0)
    radii, planes = law.radii, law.planes
    offsets = np.sum(np.asarray(planes.anchors) * np.asarray(planes.normals), axis=1)
    walls = (HALF_WIDTH - radius - offsets) / np.asarray(planes.moved.sd)[:, 0]
    return norm.cdf((radius - np.asarray(radii.mean)) / np.asarray(radii.sd)), norm.cdf(walls)


def starts() -> None:
    """One object and axis of each scene, so that all ranks are independent."""
    if any(row["what"] == "starts" for row in read("promise")):
        return
    begun = time.perf_counter()
    clean = WORLDS["balls"][0](seed=SEEDS, sequences=TRAIN + TEST + START_SCENES)
    seen = noisy(clean, SEEDS)
    train, new = seen.split(TRAIN + TEST, START_SCENES)
    truth = clean.split(TRAIN + TEST, START_SCENES)[1].values
    model = fit(train, progress=False)
    first = new.first_frames(SEEN)
    forecast = model.predict(first, origin="first", times=first.times, draws=START_DRAWS)
    drawn = forecast["trajectory"].transpose("draw", "sequence", "time", "object", "feature").values
    row: dict[str, Any] = {"what": "starts", "scenes": START_SCENES, "draws": START_DRAWS}
    for name, frame in (("first frame", 0), ("last frame seen", SEEN - 1)):
        below = (drawn[:, :, frame, 0, 0] < truth[None, :, frame, 0, 0]).sum(axis=0)
        row |= uniform(name, (below + 0.5) / (START_DRAWS + 1))
    append("promise", row | {"seconds": round(time.perf_counter() - begun, 1)})


def uniform(name: str, shares: np.ndarray) -> dict[str, Any]:
    return {
        f"{name}_count": len(shares),
        f"{name}_p": float(f"{kstest(shares, 'uniform').pvalue:.2g}"),
        f"{name}_held_90": round(float(np.mean(np.abs(shares - 0.5) < 0.45)), 3),
    }


def noisy(clean: Trajectories, seed: int) -> Trajectories:
    noise = NOISE * np.random.default_rng(seed).standard_normal(clean.values.shape)
    return replace(clean, values=clean.values + noise)


def short(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]


def write_page() -> None:
    rows = read("promise")
    found = [row for row in rows if row["what"] == "coverage"]
    draw(found)
    lines = [f"| frames ahead | {' | '.join(map(str, LEADS))} |"]
    lines += ["|:--|" + "--:|" * len(LEADS)]
    others = {row["world"]: None for row in found if row["world"] not in WORLDS}
    for name in ("all", *WORLDS, *others):
        mine = held(found, name, 90)
        if not len(mine):
            continue
        mean, half = interval(mine)
        cells = [f"{100 * m:.0f} ± {100 * h:.0f}" for m, h in zip(mean, half, strict=True)]
        lines.append(f"| {name} ({len(mine)}) | {' | '.join(cells).replace(' ± nan', '')} |")
    lines += ["", "| simulation-based calibration | true values | p-value | 90 % held |"]
    lines += ["|:--|--:|--:|--:|"]
    for row in rows:
        for key in row:
            if key.endswith("_p"):
                name = key[:-2]
                cells = f"{row[f'{name}_count']} | {row[key]} | {100 * row[f'{name}_held_90']:.0f}"
                lines.append(f"| {row['what']}: {name} | {cells} |")
    write_between(PAGE, "promise", lines)


def held(found: list[dict[str, Any]], name: str, level: int) -> np.ndarray:
    """Shares by world and lead; `all` are those of the worlds above, as they are fitted now."""
    rows = [
        row for row in found if row["world"] == name or (name == "all" and row["world"] in WORLDS)
    ]
    return np.array([row[f"held_{level}"] for row in rows])


def interval(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over worlds, and half of its 95 % interval by Student's t."""
    count, mean = len(shares), shares.mean(axis=0)
    if count == 1:
        return mean, np.full_like(mean, np.nan)
    return mean, t.ppf(0.975, count - 1) * shares.std(axis=0, ddof=1) / np.sqrt(count)


def draw(found: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(LEVELS), figsize=(9, 3.4), layout="constrained")
    for axis, level in zip(axes, LEVELS, strict=True):
        axis.axhline(level, color="black", linewidth=1)
        for number, name in enumerate((*WORLDS, "all")):
            mine = held(found, name, level)
            if not len(mine):
                continue
            mean, half = interval(mine)
            places = np.array(LEADS) * 1.05 ** (number - 2.5)
            style = {"color": "black", "linewidth": 2} if name == "all" else {"alpha": 0.8}
            axis.errorbar(
                places, 100 * mean, 100 * half, fmt="o-", ms=3, capsize=2, label=name, **style
            )
        axis.set(xscale="log", xlabel="frames ahead", ylim=(max(0, level - 50), 100))
        axis.minorticks_off()
        axis.set_xticks(LEADS, [str(lead) for lead in LEADS])
        axis.set_title(f"inside the {level} % band, %", fontsize=10)
    axes[0].legend(fontsize=8)
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    main()
