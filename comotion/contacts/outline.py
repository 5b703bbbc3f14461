"""What a law of contact looks like in a picture of the plane: walls and sizes, in data units."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from comotion.contacts.law import ContactLaw

FAR = 20.0
"""How far an endless wall is drawn where no other wall ends it, in units of the scene."""
Segment = Float[np.ndarray, "2 2"]


@dataclass(frozen=True)
class Outline:
    """Walls stand where the rims of objects touch them, if objects have one size for all."""

    segments: tuple[Segment, ...]
    circles: tuple[tuple[float, float, float], ...]
    """centre and radius"""
    radius: float | None
    """of the objects; None where sizes differ or are not known"""


def outline(law: ContactLaw, shift: Float[np.ndarray, " d"], length: float) -> Outline:
    """Of the mean law; `shift` and `length` take its positions to those of the data.

    In space, walls are seen from above: those that lean on the third axis are left out.
    """
    radii = np.asarray(law.radii.mean, float) * length
    radius = float(radii[0]) if radii.size == 1 else None
    room = 0.0 if radius is None or law.rims else radius
    anchors = (np.asarray(law.planes.anchors, float) * length + shift)[:, :2]
    normals = np.asarray(law.planes.normals, float)
    upright = np.linalg.norm(normals[:, :2], axis=1) > 0.999
    anchors, normals = anchors[upright], normals[upright, :2]
    spans = np.asarray(law.planes.spans, float)[upright] * length
    anchors = anchors + room * normals
    lines = [_segment(w, anchors, normals, spans, FAR * length) for w in range(len(anchors))]
    circles = []
    if law.spatial == 2:
        shapes = np.asarray(law.spheres.shapes.mean, float) * length
        for (x, y, reach), side in zip(shapes, np.asarray(law.spheres.sides, float), strict=True):
            circles.append((x + shift[0], y + shift[1], reach + side * room))
    return Outline(tuple(lines), tuple(circles), radius)


def _segment(
    wall: int,
    anchors: Float[np.ndarray, "W 2"],
    normals: Float[np.ndarray, "W 2"],
    spans: Float[np.ndarray, "W 2"],
    far: float,
) -> Segment:
    """From where one neighbouring wall forbids it to where the other does."""
    anchor, normal = anchors[wall], normals[wall]
    tangent = np.array([-normal[1], normal[0]])
    low, high = spans[wall]
    if np.isinf([low, high]).any():
        slopes = normals @ tangent
        rooms = ((anchors - anchor) * normals).sum(axis=1)
        crossing = np.abs(slopes) > 1e-3
        places = rooms[crossing] / slopes[crossing]
        ahead = slopes[crossing] > 0
        low = max(-far, places[~ahead].max(initial=-far))
        high = min(far, places[ahead].min(initial=far))
    return np.stack([anchor + low * tangent, anchor + high * tangent])
