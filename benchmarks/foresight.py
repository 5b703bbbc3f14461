"""How far off a straight line will be, by the frames seen: `python benchmarks/foresight.py`

Before anything is trained: regressions of the log of a straight line's error on what is seen of an
object and of those around it, each scene left out in turn. What they leave is by how much a scene
is calmer or more restless than everything seen of it says; no band that was learned elsewhere can
know of that. Takes seconds; recordings are looked for in the folder that COMOTION_DATA names.
"""

import numpy as np
from jaxtyping import Float
from real_tasks import PEDESTRIANS, TRAINED_ON_ONLY
from rows import append

from comotion import datasets
from comotion.scoring import Origins, Protocol, roll

PROTOCOL = Protocol(8, 12, whole_future=True, unbroken=True, stride=1, most_origins=300)
LEADS = (1, 6, 12)
SOFT = 0.02
"""Metres below which an error is as good as none."""
NEAR = 2.0
"""Metres within which others crowd somebody."""
STEPS = {"speed": 2, "jitter and variation of speed": 4, "turning": 5, "crowding": 6, "nearest": 7}
"""Columns of what is seen that are used, one kind after the other."""


def main() -> None:
    scenes = {name: roll(datasets.load(name), PROTOCOL) for name in PEDESTRIANS + TRAINED_ON_ONLY}
    seen = {name: what_is_seen(origins) for name, origins in scenes.items()}
    errors = {name: log_errors(origins) for name, origins in scenes.items()}
    for kind, columns in STEPS.items():
        for number, lead in enumerate(LEADS):
            left = {name: left_over(name, seen, errors, columns, number) for name in scenes}
            means = {name: round(float(rest.mean()), 3) for name, rest in left.items()}
            row = {
                "known": f"up to {kind}",
                "lead": lead,
                "mean left by scene": means,
                "sd between scenes": round(float(np.std(list(means.values()))), 3),
                "sd within": round(float(np.mean([rest.std() for rest in left.values()])), 3),
            }
            append("foresight", row)


def what_is_seen(origins: Origins) -> Float[np.ndarray, "R I"]:
    """Logs of speed and its square, of how velocities and speeds change, of turning, of others."""
    past = origins.past[..., :2]
    velocity = (past[:, -1] - past[:, -4]) / 3
    steps = np.diff(past, axis=1)
    speed = np.log(length(velocity) + 0.05)
    jitter = np.log(np.sqrt(np.mean(np.diff(steps, axis=1) ** 2, axis=(1, 2))) + 0.01)
    variation = np.log(np.std(length(steps), axis=1) + 0.01)
    turning = np.log(length(past[:, -1] - 2 * past[:, -4] + past[:, -7]) + SOFT)
    apart = distances(origins)
    crowding = np.log1p(np.nansum(np.exp(-((apart / NEAR) ** 2)), axis=1))
    nearest = np.minimum(np.nan_to_num(apart, nan=np.inf).min(axis=1), 5.0)
    columns = (speed, speed**2, jitter, variation, turning, crowding, nearest)
    return np.stack(columns, axis=1)


def distances(origins: Origins) -> Float[np.ndarray, "R A"]:
    """From each counting object to all others at the origin; NaN where nobody is."""
    places = origins.windows.values[:, origins.seen - 1, :, :2]
    apart = length(places[origins.origin] - origins.past[:, -1:, :2])
    apart[np.arange(len(apart)), origins.slot] = np.nan
    return apart


def log_errors(origins: Origins) -> Float[np.ndarray, "R H"]:
    past, future = origins.past[..., :2], origins.future
    velocity = (past[:, -1] - past[:, -4]) / 3
    ahead = np.array(LEADS)[None, :, None]
    off = future[:, np.array(LEADS) - 1] - past[:, -1:] - ahead * velocity[:, None]
    return np.log(length(off) + SOFT)


def left_over(
    held_out: str,
    seen: dict[str, np.ndarray],
    errors: dict[str, np.ndarray],
    columns: int,
    lead: int,
) -> Float[np.ndarray, " R"]:
    """Of one scene, by the regression on all others; scenes weigh by the root of their size."""
    others = [name for name in seen if name != held_out]
    design = np.concatenate([with_one(seen[name][:, :columns]) for name in others])
    target = np.concatenate([errors[name][:, lead] for name in others])
    weights = np.concatenate([np.full(len(seen[n]), len(seen[n]) ** -0.25) for n in others])
    fitted = np.linalg.lstsq(design * weights[:, None], target * weights, rcond=None)[0]
    return errors[held_out][:, lead] - with_one(seen[held_out][:, :columns]) @ fitted


def with_one(columns: Float[np.ndarray, "R I"]) -> Float[np.ndarray, "R J"]:
    return np.column_stack([np.ones(len(columns)), columns])


def length(vectors: Float[np.ndarray, "*b d"]) -> Float[np.ndarray, "*b"]:
    return np.linalg.norm(vectors, axis=-1)


if __name__ == "__main__":
    main()
