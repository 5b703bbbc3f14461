"""Which recordings there are, where they come from, and how each is read."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from comotion.data import Trajectories, read
from comotion.datasets.fetch import File, fetch
from comotion.datasets.football import football
from comotion.datasets.planets import planets
from comotion.errors import BadInput

PEDESTRIAN_FPS = 25.0  # frame numbers are those of the video: ten of them are 0.4 s
NO_LICENCE = "no licence is given: for measuring only"


@dataclass(frozen=True)
class Recording:
    """One entry: who made it, under which terms, and how to get it."""

    about: str
    terms: str
    load: Callable[[], Trajectories]


def load(name: str) -> Trajectories:
    """A recording by name, as it was published; `names()` lists them.

    Files are looked for in the folder that the environment variable COMOTION_DATA names, or
    fetched from there if it is an address, and checked against their SHA-256.
    """
    if name not in CATALOGUE:
        close = difflib.get_close_matches(name.lower(), CATALOGUE, n=1)
        guess = f" (did you mean {close[0]!r}?)" if close else ""
        raise BadInput(f"There is no data set {name!r}{guess}: choose from {', '.join(CATALOGUE)}.")
    return CATALOGUE[name].load()


def names() -> tuple[str, ...]:
    """Of all recordings that can be loaded."""
    return tuple(CATALOGUE)


def describe(name: str) -> str:
    """Where a recording comes from and under which terms it may be used."""
    entry = CATALOGUE[name]
    return f"{name}: {entry.about} ({entry.terms})"


def _hexbugs() -> Trajectories:
    file = fetch(
        File("hexbugs.csv", "01e701356e6455fd2d67713b39d5ba5265df1cadac6cba8b063581da684ac72b")
    )
    return read(file, object="id", time="frame", fps=50, unit="cm", quiet=True, keep_jumps=True)


def _scene(*files: File) -> Callable[[], Trajectories]:
    def load_scene() -> Trajectories:
        paths = [fetch(file) for file in files]
        return read(
            paths[0] if len(paths) == 1 else paths,
            fps=PEDESTRIAN_FPS,
            unit="m",
            quiet=True,
            keep_jumps=True,
        )

    return load_scene


def _pedestrians(about: str, *files: tuple[str, str]) -> Recording:
    wanted = [File(name, sha256, folder="ethucy") for name, sha256 in files]
    return Recording(f"pedestrians, {about}, metres, 0.4 s apart", NO_LICENCE, _scene(*wanted))


CATALOGUE = {
    "hexbugs": Recording(
        "five robots in a round arena, centimetres, 50 frames a second; A. Albi, T. Walter and "
        "D. Carlesso, University of Konstanz and MPI of Animal Behavior",
        "CC BY 4.0",
        _hexbugs,
    ),
    "eth": _pedestrians(
        "BIWI ETH",
        ("biwi_eth.txt", "cf8d3fd342a15f409ebc2a1fc76b91a0f06390bd21f1e11410f3859331ab082b"),
    ),
    "hotel": _pedestrians(
        "BIWI Hotel",
        ("biwi_hotel.txt", "9caa771bb9153d6b809dd0916b6f86761b641e6bbb15e766c1de3133fbbb7fcf"),
    ),
    "univ": _pedestrians(
        "UCY students, two recordings",
        ("students001.txt", "a6d87f278d94136fe39b8be91555487a29ac77259ae403b9dba2d5c18caf7b5b"),
        ("students003.txt", "e25798b660634330aa89f8bb259425de720e84d0873902726c1d1f4ccff21d6c"),
    ),
    "zara1": _pedestrians(
        "UCY Zara 1",
        ("crowds_zara01.txt", "1147a1962a09abfb86f28c6cddcac862e095a0cf129b3016385b69eacdd09d85"),
    ),
    "zara2": _pedestrians(
        "UCY Zara 2",
        ("crowds_zara02.txt", "8a649d0f8c9ae75c87c4d23a85f892786b0aa30266e996c7be03e69dafff22ff"),
    ),
    "zara3": _pedestrians(
        "UCY Zara 3",
        ("crowds_zara03.txt", "16b3e899932c4baacd07f45013d5b921f90bc5a29eb2b0fe42f4d7c904ac3108"),
    ),
    "examples": _pedestrians(
        "UCY university examples",
        ("uni_examples.txt", "61f432c0ab3070ed0ef150fbeabcd7baf839cab5495a46e6105bd747f0a092a7"),
    ),
    "football": Recording(
        "the broadcast tracking of one match that comes with the kloppy package, metres, 10 frames "
        "a second, players who are in the picture, with swapped identities as they are",
        "SkillCorner's open data, by way of kloppy",
        football,
    ),
    "planets": Recording(
        "the Sun and eight planets every 5 days for 25 years from 2000 on, astronomical units and "
        "days, from the ephemeris DE421 of the skyfield-data package",
        "public domain, NASA/JPL",
        planets,
    ),
}
