import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image, ImageSequence

from comotion.report import animate
from comotion.report.style import OBJECTS


def test_a_gif_has_every_frame_and_loops(any_dimension, tmp_path):
    forecast, data = any_dimension
    path = animate(forecast, data, path=tmp_path / "deep" / "motion.gif", frames_per_second=10.0)
    with Image.open(path) as film:
        assert film.format == "GIF"
        assert len(list(ImageSequence.Iterator(film))) == 40
        assert film.info["duration"] == 100
        assert film.info["loop"] == 0
    assert path.stat().st_size < 1_000_000
    assert [file.name for file in path.parent.iterdir()] == ["motion.gif"]


def test_the_truth_moves_as_a_disc_of_its_colour(planar, tmp_path):
    forecast, data = planar
    path = animate(forecast, data, sequence=2, path=tmp_path / "motion.gif")
    centres = []
    with Image.open(path) as film:
        for n in (8, 20):
            film.seek(n)
            pixels = np.asarray(film.convert("RGB")).astype(int)
            colour = (255 * np.array(to_rgb(OBJECTS[2]))).round()
            rows, columns = np.nonzero(np.abs(pixels - colour).max(axis=-1) <= 2)
            centres.append((np.median(columns), np.median(rows)))
    (right, down) = np.subtract(centres[1], centres[0])
    dx, dy = data.values[2, 20, 2, :2] - data.values[2, 8, 2, :2]
    assert np.sign(right) == np.sign(dx)
    assert np.sign(down) == -np.sign(dy)
    assert abs(right / down) == pytest.approx(abs(dx / dy), rel=0.1)
