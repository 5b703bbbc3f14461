"""A contact law in words, in the units of the data."""

import numpy as np

from comotion.contacts.bounce import BounceLaw
from comotion.contacts.law import ContactLaw
from comotion.contacts.posterior import Gaussian
from comotion.data.units import UNKNOWN, Units, with_unit

ACROSS_AN_AXIS = 0.999


def describe_contacts(
    law: ContactLaw, shift: np.ndarray, length: float, time: float, units: Units = UNKNOWN
) -> str:
    """`shift` and `length` take positions of the law to those of the data, `time` its speeds."""
    parts = []
    if law.radii.mean.size:
        parts.append(_pairs(law, length, time, units))
    walls = _walls(law, np.asarray(shift, float), length, units.length)
    if walls:
        parts.append(f"{'; '.join(walls)}, {_does(law, length, time, units, pair=False)}")
    return "; ".join(parts)


def _pairs(law: ContactLaw, length: float, time: float, units: Units) -> str:
    radii = Gaussian(law.radii.mean * length, law.radii.factor * length)
    if law.radii.mean.size == 1:
        where = _number(2 * radii.mean[0], 2 * radii.sd[0])
        where = f"contact at {with_unit(where, units.length)}"
    else:
        sizes = ", ".join(_number(m, s) for m, s in zip(radii.mean, radii.sd, strict=True))
        where = f"contact where radii meet ({with_unit(sizes, units.length)})"
    masses = np.exp(np.asarray(law.log_masses.mean, float))
    heavy = ", masses as " + " : ".join(f"{m:.2f}" for m in masses / masses.min())
    equal = law.log_masses.mean.size == 1
    return f"{where}, {_does(law, length, time, units, pair=True)}{'' if equal else heavy}"


def _does(law: ContactLaw, length: float, time: float, units: Units, *, pair: bool) -> str:
    """What a contact does: how it parts, or how long it yields at a usual speed."""
    if law.springs is None:
        return _restitution(law.pair if pair else law.wall, length / time, units.speed)
    speed = float(law.speed) * (2**0.5 if pair else 1.0)
    lasts = f"{time * law.springs.lasting(speed, pair=pair):.3g}"
    return f"soft, a usual touch lasts {with_unit(lasts, units.time)}"


def _restitution(bounce: BounceLaw, speed: float, unit: str) -> str:
    values = bounce.restitution
    said = ", ".join(_number(m, s) for m, s in zip(values.mean, values.sd, strict=True))
    if len(bounce.speeds) > 1:
        closing = ", ".join(f"{speed * float(v):.3g}" for v in bounce.speeds)
        said += f" at closing speeds {with_unit(closing, unit)}"
    lost = float(bounce.loss.mean[0])
    return f"restitution {said}" + (f", sliding loses {lost:.0%}" if lost else "")


def _walls(law: ContactLaw, shift: np.ndarray, length: float, unit: str) -> list[str]:
    said = _planes(law, shift, length, unit)
    shapes, sds = np.asarray(law.spheres.shapes.mean, float), law.spheres.shapes.sd
    for shape, sd, side in zip(shapes, sds, law.spheres.sides, strict=True):
        centre = ", ".join(f"{c:.3g}" for c in shape[:-1] * length + shift)
        kind = "round wall" if float(side) > 0 else "round obstacle"
        radius = with_unit(_number(shape[-1] * length, sd[-1] * length), unit)
        said.append(f"{kind} of radius {radius} at ({centre})")
    return said


def _planes(law: ContactLaw, shift: np.ndarray, length: float, unit: str) -> list[str]:
    """Walls across an axis together, by where they cut it; the others by their normal."""
    across: dict[str, list[tuple[float, float]]] = {}
    leaning = []
    anchors, normals = np.asarray(law.planes.anchors, float), np.asarray(law.planes.normals, float)
    offsets = ((anchors * length + shift) * normals).sum(axis=1)
    sds = np.asarray(law.planes.moved.sd, float)[:, 0] * length
    for offset, normal, sd in zip(offsets, normals, sds, strict=True):
        axis = int(np.abs(normal).argmax())
        if abs(normal[axis]) > ACROSS_AN_AXIS:
            across.setdefault("xyz"[axis], []).append((offset * np.sign(normal[axis]), sd))
        else:
            towards = ", ".join(f"{n:.2f}" for n in normal + 0.0)
            place = with_unit(_number(offset, sd), unit)
            leaning.append(f"wall at {place} towards ({towards})")
    places = [
        f"{axis} = {with_unit(' and '.join(_number(*p) for p in sorted(across[axis])), unit)}"
        for axis in sorted(across)
    ]
    return [*([f"walls at {', '.join(places)}"] if places else []), *leaning]


def _number(value: object, sd: object) -> str:
    """As many digits as are known."""
    mean, spread = float(value), float(sd)  # type: ignore[arg-type]
    if spread < 1e-6 * max(abs(mean), 1e-30):
        return f"{mean:.6g}"
    digits = max(0, -int(np.floor(np.log10(spread))))
    return f"{mean:.{digits}f} ± {spread:.{digits}f}"
