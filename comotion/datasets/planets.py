"""The Sun and its planets, from an ephemeris: the one law everybody knows, with masses hidden."""

import warnings
from pathlib import Path

import numpy as np

from comotion.data import Trajectories
from comotion.data.units import Units
from comotion.errors import BadInput

BODIES = (
    ("sun", 10),
    ("mercury", 1),
    ("venus", 2),
    ("earth", 3),
    ("mars", 4),
    ("jupiter", 5),
    ("saturn", 6),
    ("uranus", 7),
    ("neptune", 8),
)
"""Each planet with its moons as one body, by the ephemeris's number of their barycentre."""
YEAR_2000 = 2451544.5
STEP = 5.0
DAYS = 25 * 365.25


def planets() -> Trajectories:
    """Positions about the barycentre of the solar system."""
    try:
        import skyfield_data
        from jplephem.spk import SPK
    except ModuleNotFoundError:
        raise BadInput("planets need skyfield-data: pip install 'comotion[data]'.") from None
    with warnings.catch_warnings():
        # About a file of the Earth's rotation, which plays no part here.
        warnings.simplefilter("ignore", RuntimeWarning)
        folder = Path(skyfield_data.get_skyfield_data_path())
    days = np.arange(0.0, DAYS, STEP)
    kilometres = 149_597_870.7
    with SPK.open(str(folder / "de421.bsp")) as ephemeris:
        paths = [ephemeris[0, number].compute(YEAR_2000 + days).T for _, number in BODIES]
    return Trajectories.from_arrays(
        np.stack(paths, axis=1)[None] / kilometres,
        days,
        features=("x", "y", "z"),
        sequence_names=["2000"],
        object_names=[[name for name, _ in BODIES]],
        units=Units("au", "days"),
    )
