"""A system learns from pictures in which no position is given."""

import numpy as np
import pytest

import comotion as cm
from comotion.config import Recipe, Stage
from comotion.report import picture_figure

SEEN = 3


@pytest.fixture(scope="module")
def pictures() -> tuple[cm.Trajectories, cm.Trajectories]:
    """A ball that flies straight through an empty room."""
    rng = np.random.default_rng(0)
    times = np.arange(8.0)
    start, speed = rng.uniform(-2, 2, (220, 1, 1, 2)), rng.uniform(-0.5, 0.5, (220, 1, 1, 2))
    balls = cm.Trajectories.from_arrays(start + speed * times[:, None, None], times)
    train, test = cm.simulate.render_discs(balls, pixels=8).split(200, 20)
    return train, test


@pytest.fixture(scope="module")
def fitted(pictures) -> cm.FittedModel:
    return cm.fit(
        pictures[0],
        system="I-NODE-S",
        recipe=Recipe(stages=(Stage(8, 300, 1e-2, decay="cosine"),), windows=40, tolerance=0.05),
        progress=False,
        scaling="units",
        decoder="mlp",
        hidden_decoder=64,
        encoder_frames=SEEN,
        hidden_alone=8,
        hidden_pair=8,
    )


def pixel_error(forecast, test) -> float:
    return float(((forecast - test.values)[:, SEEN:] ** 2).mean())


def test_forecasts_beat_the_last_frame_and_the_mean_frame(fitted, pictures):
    train, test = pictures
    forecast = fitted.predict(test, draws=5)["trajectory"].mean("draw").values
    ours = pixel_error(forecast, test)
    assert ours < 0.6 * pixel_error(test.values[:, SEEN - 1 : SEEN], test)
    assert ours < 0.5 * pixel_error(train.values.mean(axis=(0, 1, 2)), test)


def test_a_model_of_pictures_comes_back_from_its_file(fitted, pictures, tmp_path):
    fitted.save(tmp_path / "model.safetensors")
    again = cm.load(tmp_path / "model.safetensors")
    one, other = (model.predict(pictures[1], draws=2) for model in (fitted, again))
    assert one.identical(other)


def test_the_figure_shows_truth_mean_and_spread_frame_by_frame(fitted, pictures):
    test = pictures[1]
    forecast = fitted.predict(test, draws=3)
    images = [axes.get_images()[0] for axes in picture_figure(forecast, test, 1).axes]
    assert len(images) == 3 * 8
    draws = forecast["trajectory"].values[:, 1, :, 0].reshape(3, 8, 8, 8)
    for row, pictures_of_row in enumerate(
        (test.values[1, :, 0].reshape(8, 8, 8), draws.mean(axis=0), draws.std(axis=0))
    ):
        shown = np.asarray(images[8 * row + 6].get_array())
        np.testing.assert_allclose(shown, pictures_of_row[6], atol=1e-6)
