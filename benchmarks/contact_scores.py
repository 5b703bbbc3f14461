"""How honest the error bars of learned contacts are: z-scores over noise seeds.

    python benchmarks/contact_scores.py --noise low --seeds 20

100 training sequences of three balls, the same motion with other noise for each seed. A z-score is
(found - true) / its posterior standard deviation; honest ones have a root mean square of about one.
"""

import argparse
import time

import numpy as np
import rows

from comotion.initialise.find_contacts import find_contacts
from comotion.initialise.tracks import tracks_of
from comotion.reproduce.scenes import PaperScene, parts_of

DISTANCE, WALL = 2.4, 3.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", default="low")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--hidden", action="store_true", help="velocities are not seen")
    chosen = parser.parse_args()
    scene = PaperScene(noise=chosen.noise, velocities=not chosen.hidden)
    begun = time.perf_counter()
    errors = [geometry(scene, seed) for seed in range(chosen.seeds)]
    distance, walls = (np.concatenate(part) for part in zip(*errors, strict=True))
    row = {"scene": scene.title, "seeds": chosen.seeds, "walls_found": len(walls) / chosen.seeds}
    for name, found in (("distance", distance), ("walls", walls)):
        row[f"{name}_rms"] = float(np.sqrt(np.mean(found[:, 0] ** 2)))
        row[f"{name}_z"] = float(np.sqrt(np.mean((found[:, 0] / found[:, 1]) ** 2)))
    rows.append("contact_scores", row | {"seconds": time.perf_counter() - begun})


def geometry(scene: PaperScene, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the pair distance and of the walls, each beside its standard deviation."""
    law = find_contacts(tracks_of(parts_of(scene, seed).train.seen)).law
    assert law is not None
    radii, planes = law.radii, law.planes
    distance = 2 * np.stack([np.asarray(radii.mean) - DISTANCE / 2, np.asarray(radii.sd)], axis=1)
    offsets = np.sum(np.asarray(planes.anchors) * np.asarray(planes.normals), axis=1)
    walls = np.stack([offsets - WALL, np.asarray(planes.moved.sd)[:, 0]], axis=1)
    return distance, walls


if __name__ == "__main__":
    main()
