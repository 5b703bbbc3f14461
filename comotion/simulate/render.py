"""Pictures instead of positions: each object in a layer of its own, as segmentation gives it."""

from dataclasses import replace

import numpy as np

from comotion.data import BadInput, Trajectories
from comotion.simulate.bouncing_balls import HALF_WIDTH, RADIUS
from comotion.simulate.recording import require_positive


def render_discs(
    data: Trajectories,
    *,
    pixels: int = 32,
    radius: float = RADIUS,
    half_width: float = HALF_WIDTH,
) -> Trajectories:
    """Replace planar positions by `pixels` × `pixels` pictures of a disc in the square arena.

    The features are pixels, row after row from the upper left corner: 1 inside the disc, 0
    outside, in between at its rim. An object without a position has no picture.
    """
    require_positive(pixels=pixels, radius=radius, half_width=half_width)
    if data.spatial != 2:
        raise BadInput(f"Discs are drawn in a plane; the data have {data.spatial} positions.")
    size = 2 * half_width / pixels
    centres = size * (np.arange(pixels) + 0.5) - half_width
    x, y = (data.values[..., axis, None, None] for axis in (0, 1))
    distance = np.hypot(centres - x, centres[::-1, None] - y)
    layers = np.clip((radius - distance) / size + 0.5, 0.0, 1.0)
    return replace(
        data,
        values=layers.reshape(*layers.shape[:-2], pixels**2),
        features=tuple(f"pixel_{row}_{column}" for row, column in np.ndindex(pixels, pixels)),
    )
