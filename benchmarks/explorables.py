"""The pages of docs/explorables: balls with contacts, charges, and robots that were filmed.

    COMOTION_DATA=folder python benchmarks/explorables.py [balls charges hexbugs]

Each is fitted with seed 0 (kept in runs/explorables and taken from there the next time) and shown
on recordings it was not trained on. The folder of data holds hexbugs.csv (frame, id, x, y in cm, 50
frames a second).
"""

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import comotion as cm
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.simulate import bouncing_balls, charged_particles

ROOT = Path(__file__).parent.parent
PAGES, RUNS = ROOT / "docs" / "explorables", ROOT / "runs" / "explorables"
EXTENT = {"sequences": 3, "draws": 24, "origins": 8}
Learned = tuple[FittedModel, Trajectories]


def kept(name: str, learn: Callable[[], FittedModel]) -> FittedModel:
    file = RUNS / f"{name}.safetensors"
    if file.is_file():
        return cm.load(file)
    fitted = learn()
    RUNS.mkdir(parents=True, exist_ok=True)
    fitted.save(file)
    return fitted


def balls() -> Learned:
    train, unseen = bouncing_balls(sequences=110, noise="low", seed=0).split(100, 10)
    parts = {"system": "comotion", "alone": "mirror", "hold_out": 0.0}
    return kept("balls", partial(cm.fit, train, seed=0, **parts)), unseen


def charges() -> Learned:
    train, unseen = charged_particles(sequences=210, noise="none", seed=0).split(200, 10)
    return kept("charges", partial(cm.fit, train, system="comotion", seed=0)), unseen


def hexbugs() -> Learned:
    file = Path(os.environ["COMOTION_DATA"]) / "hexbugs.csv"
    data = cm.read(file, fps=50, quiet=True)
    end = float(data.times[0, data.lengths[0] - 1])
    unseen = data.between(0.8 * end, end)
    # The parts that the search finds best (docs/real-data.md); its 150 steps are left out.
    parts = {"system": "motion", "alone": "speed", "contacts": "hard", "recipe": "now"}
    return kept("hexbugs", partial(cm.fit, data, seed=0, **parts)), unseen


TITLES = {
    "balls": "Three balls in a box",
    "charges": "Five charges: flip a sign",
    "hexbugs": "Five toy robots, recorded by A. Albi, T. Walter and D. Carlesso (CC BY 4.0)",
}


def main(names: list[str]) -> None:
    for name in names:
        fitted, unseen = {"balls": balls, "charges": charges, "hexbugs": hexbugs}[name]()
        page = fitted.explore(unseen, title=TITLES[name], **EXTENT).save(PAGES / f"{name}.html")
        print(f"{page.relative_to(ROOT)}: {page.stat().st_size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(TITLES))
