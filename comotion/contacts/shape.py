"""How many numbers a contact law has: what a file must know before it can hold them."""

from dataclasses import dataclass

import numpy as np

from comotion.contacts.law import ContactLaw
from comotion.contacts.make import Parts, Plane, Restitution, Softness, Sphere, contact_law


@dataclass(frozen=True)
class ContactShape:
    spatial: int
    planes: int
    spheres: int
    radii: int
    masses: int
    pair_speeds: int
    wall_speeds: int
    pair_scatters: bool
    wall_scatters: bool
    endless: bool
    rims: bool
    only: bool
    soft_steps: int = 0
    """to a frame; none where contacts are hard"""


def contact_shape(law: ContactLaw) -> ContactShape:
    return ContactShape(
        spatial=law.spatial,
        planes=len(law.planes.anchors),
        spheres=len(law.spheres.sides),
        radii=len(law.radii.mean),
        masses=len(law.log_masses.mean),
        pair_speeds=len(law.pair.speeds),
        wall_speeds=len(law.wall.speeds),
        pair_scatters=law.pair.scatter is not None,
        wall_scatters=law.wall.scatter is not None,
        endless=law.planes.endless,
        rims=law.rims,
        only=law.only,
        soft_steps=0 if law.springs is None else law.springs.steps,
    )


def blank_law(shape: ContactShape) -> ContactLaw:
    """A law of this shape whose numbers mean nothing yet."""
    d = shape.spatial
    span = (-np.inf, np.inf) if shape.endless else (-1.0, 1.0)
    planes = [Plane(np.zeros(d), np.eye(d)[0], span=span) for _ in range(shape.planes)]
    spheres = [Sphere(np.zeros(d), 1.0) for _ in range(shape.spheres)]
    return contact_law(
        Parts(
            d,
            [*planes, *spheres],
            radii=np.ones(shape.radii),
            log_masses=np.zeros(shape.masses),
            pair=_blank_restitution(shape.pair_speeds, shape.pair_scatters),
            wall=_blank_restitution(shape.wall_speeds, shape.wall_scatters),
            rims=shape.rims,
            only=shape.only,
            softness=Softness(steps=shape.soft_steps) if shape.soft_steps else None,
        )
    )


def _blank_restitution(speeds: int, scatters: bool) -> Restitution:
    return Restitution(np.ones(speeds), np.arange(1.0, speeds + 1), scatter=float(scatters))
