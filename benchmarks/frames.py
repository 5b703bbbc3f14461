"""Learning from pictures: `python benchmarks/frames.py` (a minute or two on one core).

Two balls are seen as 32 × 32 pixels each, in layers of their own. Positions and velocities are
hidden: an encoder finds them, f_s and f_b move them, a network decodes pictures. Judged are the
pictures of sequences that were not trained on, after the last frame that the encoder saw.
"""

import time
from pathlib import Path

import jax
import numpy as np
from rows import append

import comotion as cm
from comotion.config import Recipe, Stage
from comotion.predict import FittedModel
from comotion.report import figure_png, picture_figure
from comotion.train.fit import prepare, run_config

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "frames.png"
SEED = 0
TRAIN, CHOICE, TEST = 160, 40, 40  # between training and test, those the recipe was chosen on
TRAIN_FRAMES, TEST_FRAMES = 40, 20
DRAWS = 20
PARTS = {
    "scaling": "units",
    "decoder": "mlp",
    "hidden_decoder": 256,
    "inducing_alone": 40,
    "inducing_pair": 40,
    "fourier_features": 32,
}
RECIPE = Recipe(
    name="frames",
    stages=(Stage(3, 300, 5e-3), Stage(8, 300, 5e-3), Stage(15, 400, 5e-3, decay="cosine")),
    windows=32,
    clip=0.5,
    regression=True,
    kernel_rate=0.1,
    tolerance=0.1,
)


def pictures() -> tuple[cm.Trajectories, cm.Trajectories]:
    balls = cm.simulate.bouncing_balls(
        sequences=TRAIN + CHOICE + TEST, objects=2, frames=TRAIN_FRAMES, seed=SEED
    )
    train, _, test = cm.simulate.render_discs(balls).split(TRAIN, CHOICE, TEST)
    return train, test.first_frames(TEST_FRAMES)


def errors_ahead(forecast: np.ndarray, truth: np.ndarray, seen: int) -> dict[str, float]:
    """Mean squared error of a pixel over all frames ahead, and over the last fifth of them."""
    squared = np.broadcast_to((forecast - truth) ** 2, truth.shape).mean(axis=(0, 2, 3))[seen:]
    return {
        "pixel_mse": round(float(squared.mean()), 5),
        "pixel_mse_late": round(float(squared[-(len(squared) // 4) :].mean()), 5),
    }


def main() -> None:
    train, test = pictures()
    config = run_config("I-GPODE-S", RECIPE, SEED, PARTS)
    untrained, _ = prepare(train, config, key=jax.random.key(SEED))
    start = time.perf_counter()
    trained = cm.fit(train, system=config.system, recipe=RECIPE, hold_out=0.0, seed=SEED)
    seconds = time.perf_counter() - start

    def means(fitted: FittedModel) -> np.ndarray:
        return fitted.predict(test, draws=DRAWS)["trajectory"].mean("draw").values

    seen = config.system.encoder_frames
    forecasts = {
        "before training": means(untrained),
        "after training": means(trained),
        "last frame stays": test.values[:, seen - 1 : seen],
        "mean frame": train.values.mean(axis=(0, 1, 2)),
    }
    sizes = {"sequences": TRAIN, "test_sequences": TEST, "frames_ahead": TEST_FRAMES - seen}
    for name, forecast in forecasts.items():
        row = {"what": name} | errors_ahead(forecast, test.values, seen) | sizes
        append("frames", row | {"draws": DRAWS, "seed": SEED, "fit_seconds": round(seconds)})
    shown = trained.predict(test[:1], draws=DRAWS)
    PICTURE.write_bytes(figure_png(picture_figure(shown, test[:1])))


if __name__ == "__main__":
    main()
