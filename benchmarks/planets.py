"""Masses and the law of gravity from positions alone. `python benchmarks/planets.py`

Nothing is trained and no mass is known. Accelerations are those of which Numerov's formula makes
the second differences. Masses are what keeps the sum of forces zero: the vector that the matrix of
accelerations, objects in its columns, takes to nothing. The law is piecewise linear in the
logarithm of the distance, by least squares in which every object counts the same. Forecasts follow
it from the state that its own path through the frames seen has at the last of them. This is what a
law of pairs that knows masses would have to find; systems of the library have no such law yet.
"""

import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from rows import append
from scipy.integrate import solve_ivp
from scipy.linalg import solve_banded
from scipy.optimize import least_squares

import comotion as cm

KNOTS = 24
EDGE = 8
"""Frames at both ends, where accelerations feel that the recording begins and ends."""
SEEN, AHEAD = 10, 100
ORIGINS = 10
PLACES = 400
TRAIN, CHOOSE = 0.54, 0.06


@dataclass(frozen=True, eq=False)
class Gravity:
    """Pull of a unit mass by the logarithm of the distance, and the mass of each object."""

    knots: Float[np.ndarray, " k"]
    pull: Float[np.ndarray, " k"]
    masses: Float[np.ndarray, " A"]

    def __call__(self, x: Float[np.ndarray, "A 3"]) -> Float[np.ndarray, "A 3"]:
        away, r = gaps(x)
        pull = np.interp(np.log(r), self.knots, self.pull) * self.masses[None]
        return np.einsum("ab,abd->ad", pull, away)


def main() -> None:
    started = time.process_time()
    data = cm.datasets.load("planets")
    x, step = data.values[0, ..., :3], float(np.diff(data.times[0])[0])
    train, first = x[: int(TRAIN * len(x))], int((TRAIN + CHOOSE) * len(x))
    rates = accelerations(train, step)
    law = fit(train[1 + EDGE : -1 - EDGE], rates[EDGE:-EDGE])
    r = np.linalg.norm(train[:, 1:] - train[:, :1], axis=-1)
    u = np.log(np.quantile(r, (np.arange(PLACES) + 0.5) / PLACES))
    exponent = np.polyfit(u, np.log(np.abs(np.interp(u, law.knots, law.pull))), 1)[0]
    row = {"what": "planets", "exponent": float(f"{exponent:.4f}")}
    row["masses"] = {
        name: float(f"{mass:.4g}")
        for name, mass in zip(data.object_names[0], law.masses, strict=True)
    }
    row |= skill(law, x[first:], step)
    append("planets", row | {"seconds of processor": round(time.process_time() - started, 1)})


def accelerations(x: Float[np.ndarray, "N A 3"], step: float) -> Float[np.ndarray, "n A 3"]:
    """(a₋ + 10 a + a₊) / 12 is the second difference, to fourth order."""
    second = (x[2:] - 2 * x[1:-1] + x[:-2]) / step**2
    bands = np.full((3, len(second)), 1 / 12)
    bands[1] = 10 / 12
    bands[1, [0, -1]] += 1 / 12  # beyond the ends accelerations stay as they are
    return solve_banded((1, 1), bands, second.reshape(len(second), -1)).reshape(second.shape)


def gaps(x: Float[np.ndarray, "*n A 3"]) -> tuple[np.ndarray, np.ndarray]:
    """The direction from each object to each other, and how far that is."""
    between = x[..., None, :, :] - x[..., :, None, :]
    r = np.linalg.norm(between, axis=-1)
    r = np.where(r > 0, r, 1.0)
    return between / r[..., None], r


def fit(x: Float[np.ndarray, "n A 3"], rates: Float[np.ndarray, "n A 3"]) -> Gravity:
    """Masses in units of the largest."""
    objects = x.shape[1]
    kept = np.linalg.svd(np.moveaxis(rates, 1, 2).reshape(-1, objects), full_matrices=False)[2][-1]
    masses = kept / kept[np.argmax(np.abs(kept))]
    away, r = gaps(x)
    apart = np.log(r[:, ~np.eye(objects, dtype=bool)])
    knots = np.linspace(apart.min(), apart.max(), KNOTS)
    hats = np.stack([np.interp(np.log(r), knots, hat) for hat in np.eye(KNOTS)], axis=-1)
    weight = 1 / np.sqrt((rates**2).mean(axis=(0, 2)))  # each object counts the same
    design = np.einsum("nabk,nabd,b,a->nadk", hats, away, masses, weight)
    pull = np.linalg.lstsq(
        design.reshape(-1, KNOTS), (rates * weight[:, None]).reshape(-1), rcond=None
    )[0]
    return Gravity(knots, pull, masses)


def skill(law: Gravity, x: Float[np.ndarray, "N A 3"], step: float) -> dict:
    """1 - MSE / MSE of the mean place, and of a straight line, at the last lead."""
    begins = np.linspace(0, len(x) - SEEN - AHEAD, ORIGINS).astype(int)
    ours, line, truth = [], [], []
    for begin in begins:
        seen, ahead = x[begin : begin + SEEN], x[begin + SEEN : begin + SEEN + AHEAD]
        ours.append(forecast(law, seen, step)[-1])
        line.append(seen[-1] + AHEAD * (seen[-1] - seen[-2]))
        truth.append(ahead[-1])
    truth = np.array(truth)
    spread = ((truth - x.mean(axis=0)) ** 2).mean()
    return {
        "days ahead": AHEAD * step,
        "skill": round(1 - float(((np.array(ours) - truth) ** 2).mean() / spread), 4),
        "skill of a straight line": round(
            1 - float(((np.array(line) - truth) ** 2).mean() / spread), 4
        ),
        "error by object": [
            float(f"{each:.2g}")
            for each in np.sqrt(((np.array(ours) - truth) ** 2).sum(axis=-1).mean(axis=0))
        ],
    }


def forecast(law: Gravity, seen: Float[np.ndarray, "S A 3"], step: float) -> np.ndarray:
    """From the state at the last frame seen whose past is nearest to the frames."""
    velocity = (seen[-1] - seen[-2]) / step + 0.5 * step * law(seen[-1])
    start = np.concatenate([seen[-1].ravel(), velocity.ravel()])
    back = -step * np.arange(len(seen))
    found = least_squares(
        lambda s: (follow(law, s, back) - seen[::-1]).ravel(), start, method="lm", max_nfev=300
    )
    return follow(law, found.x, step * np.arange(AHEAD + 1))[1:]


def follow(law: Gravity, start: np.ndarray, times: np.ndarray) -> Float[np.ndarray, "T A 3"]:
    half = start.size // 2

    def slope(_: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([state[half:], law(state[:half].reshape(-1, 3)).ravel()])

    path = solve_ivp(slope, (0, times[-1]), start, t_eval=times, rtol=1e-9, atol=1e-12)
    return path.y[:half].T.reshape(len(times), -1, 3)


if __name__ == "__main__":
    main()
