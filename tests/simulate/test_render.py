import numpy as np
import pytest

from comotion.data import BadInput, Trajectories
from comotion.simulate import bouncing_balls, render_discs


@pytest.fixture(scope="module")
def balls() -> Trajectories:
    return bouncing_balls(sequences=3, objects=2, frames=10, step=3.0, seed=0)


def test_pictures_show_discs_of_the_right_size_in_the_right_place(balls):
    pictures = render_discs(balls).values.reshape(3, 10, 2, 32, 32)
    pixel = 10.0 / 32
    np.testing.assert_allclose(pictures.sum(axis=(-2, -1)) * pixel**2, np.pi * 1.2**2, rtol=0.02)
    along = pixel * (np.arange(32) + 0.5) - 5.0
    total = pictures.sum(axis=(-2, -1))
    x = (pictures * along).sum(axis=(-2, -1)) / total
    y = (pictures * along[::-1, None]).sum(axis=(-2, -1)) / total  # the first row is the upper one
    np.testing.assert_allclose(np.stack([x, y], axis=-1), balls.values[..., :2], atol=0.02)


def test_pixels_are_dark_or_bright_and_grey_only_at_the_rim(balls):
    values = render_discs(balls).values
    assert values.min() == 0.0
    assert values.max() == 1.0
    assert 0.005 < np.mean((values > 0) & (values < 1)) < 0.05


def test_only_the_features_change(balls):
    rendered = render_discs(balls, pixels=8)
    assert rendered.features[:9] == (*(f"pixel_0_{k}" for k in range(8)), "pixel_1_0")
    assert rendered.spatial == 0
    assert not rendered.velocities_observed
    np.testing.assert_array_equal(rendered.times, balls.times)
    np.testing.assert_array_equal(rendered.neighbours, balls.neighbours)


def test_an_object_without_a_position_has_no_picture(balls):
    values = balls.values.copy()
    values[0, 4, 1, 0] = np.nan
    rendered = render_discs(Trajectories.from_arrays(values, balls.times))
    missing = np.isnan(rendered.values)
    assert missing[0, 4, 1].all()
    assert missing.sum() == 32 * 32


def test_what_is_not_in_a_plane_is_refused():
    line = Trajectories.from_arrays(np.zeros((1, 3, 1, 1)), features=["x"])
    with pytest.raises(BadInput, match="Discs are drawn in a plane; the data have 1 positions"):
        render_discs(line)
