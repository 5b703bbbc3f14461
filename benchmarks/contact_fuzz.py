"""Random scenes with hard contacts: how many are forecast as well as the true law would.

    python benchmarks/contact_fuzz.py --first 0 --count 20

Walls, radii, number of discs, speeds, frame rates and restitution are drawn anew for each scene
(`contact_worlds.random_world`). A scene that crashes gets a row that says so.
"""

import argparse
from typing import Any

import rows
from contact_worlds import floor, parts_of, random_world
from contacts import scores

from comotion.train import fit

NOISE, DRAWS = "low", 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    chosen = parser.parse_args()
    for seed in range(chosen.first, chosen.first + chosen.count):
        try:
            found = measured(seed)
        except Exception as error:  # a crash is what is looked for
            found = {"crashed": f"{type(error).__name__}: {error}"}
        rows.append("contact_fuzz", {"world": seed, **found})


def measured(seed: int) -> dict[str, Any]:
    world = random_world(seed)
    parts = parts_of(world, NOISE, seed)
    fitted = fit(parts.train.seen, hold_out=0.0, seed=seed, contacts="auto")
    forecast = fitted.predict(parts.valid.seen, draws=DRAWS, seed=seed).dataset
    known = floor(world, fitted, parts.valid, DRAWS, seed)
    ours, true = (scores(drawn, parts.valid, parts.train)["skill"] for drawn in (forecast, known))
    return {"objects": world.objects, "skill": ours, "skill_true": true, "is": fitted.contacts}


if __name__ == "__main__":
    main()
