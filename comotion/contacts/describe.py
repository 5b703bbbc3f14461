"""A contact law in words, in the units of the data."""

import numpy as np

from comotion.contacts.bounce import BounceLaw
from comotion.contacts.law import ContactLaw
from comotion.contacts.posterior import Gaussian


def describe_contacts(law: ContactLaw, shift: np.ndarray, length: float, time: float) -> str:
    """`shift` and `length` take positions of the law to those of the data, `time` its speeds."""
    parts = []
    if law.radii.mean.size:
        parts.append(_pairs(law, length, time))
    parts += _walls(law, np.asarray(shift, float), length)
    if len(law.planes.anchors) or len(law.spheres.sides):
        parts.append(f"walls: {_restitution(law.wall, length / time)}")
    return "; ".join(parts)


def _pairs(law: ContactLaw, length: float, time: float) -> str:
    radii = Gaussian(law.radii.mean * length, law.radii.factor * length)
    if law.radii.mean.size == 1:
        where = f"contact at {_number(2 * radii.mean[0], 2 * radii.sd[0])}"
    else:
        sizes = ", ".join(_number(m, s) for m, s in zip(radii.mean, radii.sd, strict=True))
        where = f"contact where radii meet ({sizes})"
    masses = np.exp(np.asarray(law.log_masses.mean, float))
    heavy = ", masses as " + " : ".join(f"{m:.2f}" for m in masses / masses.min())
    equal = law.log_masses.mean.size == 1
    return f"{where}, {_restitution(law.pair, length / time)}{'' if equal else heavy}"


def _restitution(bounce: BounceLaw, speed: float) -> str:
    values = bounce.restitution
    said = ", ".join(_number(m, s) for m, s in zip(values.mean, values.sd, strict=True))
    if len(bounce.speeds) > 1:
        said += " at closing speeds " + ", ".join(f"{speed * float(v):.3g}" for v in bounce.speeds)
    lost = float(bounce.loss.mean[0])
    return f"restitution {said}" + (f", sliding loses {lost:.0%}" if lost else "")


def _walls(law: ContactLaw, shift: np.ndarray, length: float) -> list[str]:
    said = []
    anchors = np.asarray(law.planes.anchors, float) * length + shift
    for anchor, normal, sd in zip(
        anchors, np.asarray(law.planes.normals, float), law.planes.moved.sd, strict=True
    ):
        offset = _number(float(anchor @ normal), float(sd[0]) * length)
        said.append(f"wall at {offset} towards ({', '.join(f'{n:.2f}' for n in normal + 0.0)})")
    shapes, sds = np.asarray(law.spheres.shapes.mean, float), law.spheres.shapes.sd
    for shape, sd, side in zip(shapes, sds, law.spheres.sides, strict=True):
        centre = ", ".join(f"{c:.3g}" for c in shape[:-1] * length + shift)
        kind = "round wall" if float(side) > 0 else "round obstacle"
        said.append(
            f"{kind} of radius {_number(shape[-1] * length, sd[-1] * length)} at ({centre})"
        )
    return said


def _number(value: object, sd: object) -> str:
    """As many digits as are known."""
    mean, spread = float(value), float(sd)  # type: ignore[arg-type]
    if spread == 0:
        return f"{mean:.3g}"
    digits = min(max(0, 1 - int(np.floor(np.log10(spread)))), 6)
    return f"{mean:.{digits}f} ± {spread:.{digits}f}"
