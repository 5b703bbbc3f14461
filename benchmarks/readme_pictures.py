"""The pictures of the README: the demo in motion, and robots that were filmed.

    comotion demo --out runs/demo
    COMOTION_DATA=folder python benchmarks/readme_pictures.py runs/demo

The folder holds hexbugs.csv (frame, id, x, y in cm, 50 frames a second). The robots are fitted with
seed 0 to all but the last fifth of the recording; the picture is a forecast of that fifth.
"""

import os
import shutil
import sys
from pathlib import Path

import matplotlib
import numpy as np

import comotion as cm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).parent.parent / "docs" / "images"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
FPS, AHEAD, BEFORE = 50, 1.0, 0.6
ORIGIN_SHARE = 0.9
"""Where in the recording the forecast begins: in the middle of what was held out."""


def robots(path: Path) -> None:
    data = cm.read(path / "hexbugs.csv", fps=FPS, quiet=True)
    model = cm.fit(data, system="motion", alone="raw", recipe="now", seed=0)
    origin = float(data.times[0, round(ORIGIN_SHARE * data.lengths[0])])
    forecast = model.predict(data, origin=origin, horizon=AHEAD, draws=200)
    figure, axes = plt.subplots(figsize=(6.4, 6.4), layout="constrained", dpi=130)
    draws = forecast["trajectory"].isel(sequence=0).transpose("draw", "time", "object", "feature")
    for a, name in enumerate(forecast.names[0]):
        slot = data.object_names[0].index(name)
        colour = COLOURS[a % len(COLOURS)]
        for share in (0.25, 0.5, 0.75, 1.0):
            n = round(share * draws.sizes["time"]) - 1
            place = draws.isel(object=a, time=n)
            axes.scatter(
                place.sel(feature="x"), place.sel(feature="y"), s=3, alpha=0.25, color=colour, lw=0
            )
        for low, high, style in ((-BEFORE, 0.0, "-"), (0.0, AHEAD, ":")):
            piece = data.between(origin + low, origin + high).values[0, :, slot]
            axes.plot(piece[:, 0], piece[:, 1], style, color=colour, linewidth=2)
        here = data.between(origin, origin).values[0, 0, slot]
        axes.plot(*here[:2], "o", color=colour, markersize=9)
    axes.set(aspect="equal", xlabel="x (cm)", ylabel="y (cm)")
    axes.set_title(
        "lines: seen; dotted: what happened in the next second;\n"
        "clouds: 200 possible futures after ¼, ½, ¾ and 1 s",
        fontsize=10,
        loc="left",
    )
    axes.margins(0.05)
    figure.savefig(IMAGES / "robots.png")
    print(model, np.round(origin, 2))


if __name__ == "__main__":
    shutil.copy(Path(sys.argv[1]) / "forecast.gif", IMAGES / "demo.gif")
    robots(Path(os.environ["COMOTION_DATA"]))
