"""PySINDy's sparse regression on candidate forces that the user writes down."""

import sys

import numpy as np
from pysindy import STLSQ
from scipy.integrate import solve_ivp
from start import last_state, smoothed

data = np.load(sys.argv[1])
step, horizon = float(data["step"]), int(data["horizon"])


def candidates(x, v):
    """Of every object: its velocity, speed times it, gaps times powers of their lengths."""
    gaps = x[..., None, :, :] - x[..., :, None, :]
    r = np.linalg.norm(gaps, axis=-1, keepdims=True) + np.eye(x.shape[-2])[:, :, None]
    speed = np.linalg.norm(v, axis=-1, keepdims=True)
    forces = [v, speed * v, speed**2 * v, x]
    forces += [(gaps * r**power).sum(axis=-2) for power in (-4, -3, -2, -1, 0, 1)]
    return np.stack(forces, axis=-1)


x, v, a = (smoothed(data["train"], step, order) for order in (0, 1, 2))
terms = candidates(x, v)
model = STLSQ(threshold=0.02, alpha=1e-6, normalize_columns=True)
model.fit(terms.reshape(-1, terms.shape[-1]), a.reshape(-1, 1))
weights = model.coef_[0]


def rates(_, state):
    x, v = state.reshape(2, *start[0].shape)
    return np.stack([v, candidates(x, v) @ weights]).ravel()


draws = np.full((1, len(data["seen"]), horizon, *data["seen"].shape[2:]), np.nan)
for w, start in enumerate(zip(*last_state(data["seen"], step), strict=True)):
    times = step * np.arange(1, horizon + 1)
    found = solve_ivp(rates, (0, times[-1]), np.ravel(start), t_eval=times, rtol=1e-6)
    if found.success:
        draws[0, w] = found.y.T.reshape(horizon, 2, *start[0].shape)[:, 0]
np.savez(sys.argv[2], draws=draws)
