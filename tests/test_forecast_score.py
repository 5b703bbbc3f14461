"""The score training follows, and a model whose forecasts start at the last frame seen."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scoringrules

import comotion as cm
from comotion._types import FAST
from comotion.config import Recipe, RunConfig, Stage
from comotion.model.score import fair_crps
from comotion.train.fit import prepare

STEP, DRAWS = 0.5, 50
RECIPE = Recipe(
    name="now",
    stages=(Stage(4, 20, 2e-2, decay="cosine", objective="score"),),
    windows=8,
    draws=4,
    regression=True,
    clip=1.0,
)


def walkers(sequences=8, frames=16, noise=0.01, seed=0) -> cm.Trajectories:
    """Three walkers on straight lines, measured with noise."""
    rng = np.random.default_rng(seed)
    start, velocity = 5 * rng.normal(size=(2, sequences, 1, 3, 2))
    times = STEP * np.arange(frames)
    values = start + 0.2 * velocity * times[None, :, None, None]
    return cm.Trajectories.from_arrays(values + noise * rng.normal(size=values.shape), times)


@pytest.fixture(scope="module")
def fitted():
    return cm.fit(walkers(), valid=walkers(seed=1), system="motion", recipe=RECIPE, progress=False)


def test_the_fair_score_is_that_of_another_library():
    rng = np.random.default_rng(0)
    draws, truth = rng.normal(size=(7, 5, 3)), rng.normal(size=(5, 3))
    expected = scoringrules.crps_ensemble(truth, draws, m_axis=0, estimator="fair")
    assert expected is not None
    found = fair_crps(jnp.asarray(draws, FAST), jnp.asarray(truth, FAST))
    np.testing.assert_allclose(found, np.asarray(expected), atol=1e-5)


def test_a_forecast_begins_at_the_last_frame_and_goes_straight_on(fitted):
    """Within a few times what the noise of the frames seen leaves open."""
    data = walkers(frames=14, noise=0.0, seed=2)
    forecast = fitted.predict(data.first_frames(10), horizon=2.0, draws=DRAWS)
    assert forecast.sizes["time"] == 4
    np.testing.assert_allclose(forecast.t, data.times[:, 10:])
    mean = forecast.observation.mean("draw").values
    np.testing.assert_allclose(mean, data.values[:, 10:], atol=0.15)


def test_an_origin_hides_what_comes_after_it(fitted):
    data = walkers(frames=16, seed=3)
    seen = fitted.predict(data.first_frames(12), horizon=2.0, draws=DRAWS)
    hidden = fitted.predict(data, origin=float(data.times[0, 11]), horizon=2.0, draws=DRAWS)
    np.testing.assert_array_equal(seen.observation, hidden.observation)


def test_first_and_last_are_origins_and_other_words_are_not(fitted):
    data = walkers(frames=16, seed=3)
    first = fitted.predict(data, origin="first", draws=2)
    np.testing.assert_allclose(first.t, data.times[:, 10:])
    with pytest.raises(cm.BadInput, match="origin='middle' is no origin"):
        fitted.predict(data, origin="middle", horizon=1.0, draws=2)
    with pytest.raises(cm.BadInput, match="before the first frame"):
        fitted.predict(data, origin=-3.0, horizon=1.0, draws=2)
    with pytest.raises(cm.BadInput, match="less than a step"):
        fitted.predict(data, horizon=0.1, draws=2)
    with pytest.raises(cm.BadInput, match="how far to forecast"):
        fitted.predict(data, origin="last", draws=2)


def test_one_program_takes_steps_on_any_number_of_sequences_and_scores_what_is_held_out(
    fitted, compiled
):
    """What the fit before compiled is enough."""
    assert fitted.config.recipe == RECIPE
    few = {"recipe": RECIPE, "iterations": 2, "progress": False}
    held_out = walkers(sequences=3, frames=20, seed=1)
    cm.fit(walkers(sequences=5), valid=held_out, system="motion", **few)
    assert "jit(draw_batch)" in compiled
    assert {"jit(_step)", "jit(_held_out_figure)"}.isdisjoint(compiled)


def test_a_saved_model_forecasts_the_same_numbers(fitted, tmp_path):
    fitted.save(tmp_path / "model.safetensors")
    data = walkers(frames=12, seed=4)
    again = cm.load(tmp_path / "model.safetensors").predict(data, horizon=2.0, draws=DRAWS)
    np.testing.assert_array_equal(
        again.observation, fitted.predict(data, horizon=2.0, draws=DRAWS).observation
    )


def test_noise_is_learned_in_the_data_s_own_units(fitted):
    """Twice the error that 8 x 16 x 6 values leave, and what few steps of training add."""
    sd = np.exp(0.5 * np.asarray(fitted.model.observation.log_noise_variance))
    np.testing.assert_allclose(sd * np.asarray(fitted.scaling.scale), 0.01, rtol=0.5)


def test_an_encoder_of_first_frames_may_forecast_from_the_last_ones(balls_model):
    fitted, data = balls_model
    forecast = fitted.predict(data, horizon=2.0, draws=2)
    last = data.times[:, -1]
    np.testing.assert_allclose(forecast.t.values[:, 0] - last, fitted.shape.step, rtol=1e-6)
    assert np.isfinite(forecast.observation.values).all()


@pytest.fixture(scope="module")
def balls_model():
    data = cm.simulate.bouncing_balls(sequences=4, frames=12, seed=0)
    small: dict[str, Any] = {"inducing_alone": 4, "inducing_pair": 4, "fourier_features": 4}
    small |= {"contacts": "off"}
    config = RunConfig(cm.system("comotion", **small), Recipe())
    return prepare(data, config, key=jax.random.key(0))[0], data
