import numpy as np
import pytest

from comotion.errors import BadInput
from comotion.reproduce.conventions import paper_scores
from comotion.reproduce.floor import floor_forecast
from comotion.reproduce.scenes import PaperScene, parts_of
from comotion.simulate.bouncing_balls import advance

SEED = 3


def floor(draws: int, **scene):
    chosen = PaperScene(train=20, valid=1, test=40, frames=40, **scene)
    parts = parts_of(chosen, SEED)
    made = floor_forecast(chosen, parts.test, parts.train.seen, frames=5, draws=draws, seed=SEED)
    return paper_scores(made, parts.test.seen), made, parts.test


def test_without_noise_the_floor_is_the_simulator_itself():
    scores, forecast, part = floor(3, velocities=False)
    assert scores["mse_draws_table"] < 1e-20
    assert forecast.sizes["feature"] == 2
    states, since = part.true.values[:, 0], part.true.times - part.true.times[:, :1]
    places, _ = advance(states[..., :2], states[..., 2:], since)
    assert np.allclose(forecast["trajectory"].values[2], places, rtol=0, atol=1e-6)


@pytest.mark.parametrize("velocities", [True, False])
def test_bands_of_the_floor_hold_what_they_promise_though_balls_collide_early(velocities):
    scores, _, _ = floor(60, noise="low", velocities=velocities)
    # Cells of a sequence stand and fall together: 40 sequences, not 19 000 cells, are independent.
    for level, name in ((0.5, "coverage_50"), (0.9, "coverage_90")):
        bar = 4 * np.sqrt(level * (1 - level) / 40) / 2
        assert abs(scores[name] - level) < bar, f"seed {SEED}: {name} is {scores[name]:.3f}"
    assert scores["skill_crps"] > scores.rows["constant velocity"]["skill_crps"]
    assert scores["ell_table"] > scores.rows["climatology"]["ell_table"]


def test_straight_flight_is_never_ahead_of_the_floor_though_velocities_are_hidden():
    """How fast balls are is known from other sequences, and noise hides it in five frames."""
    _, forecast, part = floor(60, noise="high", velocities=False)
    by_lead = paper_scores(forecast, part.seen, by_lead=True).by_lead
    assert by_lead is not None
    skill = by_lead["skill_crps"]
    ahead = (skill.sel(row="model") - skill.sel(row="constant velocity")).values
    future = by_lead["lead"].values > 0
    assert ahead[future].min() > 0, f"seed {SEED}: {ahead.round(3)}"


def test_states_explain_the_frames_as_well_as_the_noise_allows():
    _, forecast, part = floor(60, noise="low")
    error = forecast["trajectory"].values[:, :, :5] - part.seen.values[:, :5]
    chi = (error / part.sd) ** 2
    # 60 numbers are seen and 12 fitted, with as much spread again: 60 - 12 + 12 on average.
    assert chi.sum(axis=(2, 3, 4)).mean() == pytest.approx(60, abs=4 * np.sqrt(2 * 60 / 40))


def test_noisy_charges_have_no_floor_yet():
    scene = PaperScene("charges", 2, noise="low", train=1, valid=1, test=1, frames=3)
    parts = parts_of(scene, 0)
    with pytest.raises(BadInput, match="choose noise 'none'"):
        floor_forecast(scene, parts.test, parts.train.seen, frames=2, draws=2, seed=0)
