"""What every peer needs before it can begin: states at the last frame seen, and rates."""

import numpy as np
from scipy.signal import savgol_filter

WINDOW, DEGREE = 9, 3


def smoothed(paths, step, order):
    """Positions (order 0), velocities (1) or accelerations (2) of noisy positions over time."""
    return savgol_filter(paths, WINDOW, DEGREE, deriv=order, delta=step, axis=1)


def last_state(seen, step):
    """Positions and velocities at the last frame, by a parabola through those seen."""
    times = step * np.arange(1 - seen.shape[1], 1)
    flat = seen.swapaxes(0, 1).reshape(seen.shape[1], -1)
    _, velocity, position = np.polyfit(times, flat, 2)
    return position.reshape(seen[:, 0].shape), velocity.reshape(seen[:, 0].shape)
