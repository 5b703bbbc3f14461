import dataclasses
import json

import numpy as np
import pytest
import xarray as xr

from comotion.data import BadInput, Trajectories
from comotion.predict.findings import longest_run
from comotion.scoring import (
    REFERENCES,
    ConstantVelocity,
    OUAcceleration,
    Protocol,
    WhiteAcceleration,
    evaluate,
)

PROTOCOL = Protocol(seen=5, horizon=8)


def pushed(seed: int, sequences: int = 30, frames: int = 40) -> Trajectories:
    """Velocities changed by independent pushes, positions measured with noise."""
    rng = np.random.default_rng(seed)
    shape = (sequences, frames, 2, 2)
    velocity = rng.normal(size=(sequences, 1, 2, 2)) + 0.1 * rng.normal(size=shape).cumsum(axis=1)
    path = velocity.cumsum(axis=1) + 0.1 * rng.normal(size=shape)
    return Trajectories.from_arrays(path, features=("x", "y"))


@pytest.fixture(scope="module")
def found():
    train, test = pushed(0), pushed(1)
    return evaluate(WhiteAcceleration.fit(train, PROTOCOL), test, train=train, protocol=PROTOCOL)


def test_every_reference_stands_beside_the_forecast_on_the_same_rows(found):
    assert found.references == list(REFERENCES)
    rows = {scores.cells["crps"].shape for scores in found.scores.values()}
    assert rows == {(len(found.origins.origin), 8)}


def test_the_law_that_made_the_data_beats_straight_lines_for_certain(found):
    skill = found.skill("constant velocity")
    assert skill.low > 0
    assert found.difference("constant velocity").high < 0
    assert found.useful("constant velocity") == (1.0, 8.0)
    assert abs(found["coverage_90"] - 0.9) < 0.03


def test_a_reference_has_no_skill_over_itself():
    data = pushed(2, sequences=8)
    fitted = OUAcceleration.fit(data, PROTOCOL)
    again = evaluate(fitted, data, train=data, protocol=PROTOCOL)
    assert again.skill("Kalman filter").estimate == pytest.approx(0, abs=1e-9)
    assert again.useful("Kalman filter") is None


def test_five_lines_say_skill_error_bands_use_and_origin(found):
    lines = str(found).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "skill",
        "error",
        "bands",
        "useful",
        "from",
    ]
    assert f"{found.skill('Kalman filter').estimate:.2f} (" in lines[0]
    assert f"{found.scores[found.name].by_lead('ade')[-1]:.3g} at lead 8" in lines[1]
    assert "the 90 % band holds" in lines[2]
    assert "never better than" in lines[3] or "from lead" in lines[3]
    assert "5 frames seen, 8 forecast" in lines[4]


def test_everything_is_there_on_request(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["scores"]["climatology"]["fde"] == found.scores["climatology"].last("ade")
    assert len(plain["by_lead"]["Kalman filter"]["nll"]) == 8
    assert float(found.by_lead["crps"].sel(row=found.name).mean()) == pytest.approx(found["crps"])
    assert "energy" in found.table.splitlines()[0]


def test_the_longest_stretch_is_found():
    assert longest_run(np.array([True, False, True, True, False])) == (2, 3)
    assert longest_run(np.array([False, False])) is None


def forecast_of(data: Trajectories, draws: np.ndarray, seen: int) -> xr.Dataset:
    dims = ("draw", "sequence", "time", "object", "feature")
    coordinates = {
        "sequence": list(data.sequence_names),
        "feature": list(data.features),
        "object_name": (("sequence", "object"), np.array(data.object_names, dtype=object)),
        "t": (("sequence", "time"), data.times[:, : draws.shape[2]]),
    }
    return xr.Dataset({"observation": (dims, draws)}, coordinates, attrs={"frames_seen": seen})


def test_a_finished_forecast_is_scored_after_the_frames_it_saw():
    data = pushed(3, sequences=10)
    rng = np.random.default_rng(0)
    draws = data.values + rng.normal(size=(50, *data.values.shape))
    spoiled = draws.copy()
    spoiled[:, :, :5] = 1e6
    scores = [evaluate(forecast_of(data, values, 5), data) for values in (draws, spoiled)]
    assert scores[0]["crps"] == scores[1]["crps"] < 0.4
    assert scores[0].origins.horizon == 35


def test_the_frames_and_objects_of_a_forecast_are_found_by_their_times_and_names():
    data = pushed(3, sequences=6)
    draws = data.values + np.random.default_rng(0).normal(size=(50, *data.values.shape))
    whole = forecast_of(data, draws, 5)
    expected = evaluate(whole, data)["crps"]
    turned = whole.isel(sequence=slice(None, None, -1), object=slice(None, None, -1))
    assert evaluate(turned, data)["crps"] == pytest.approx(expected)
    short = evaluate(whole.isel(time=slice(0, 9)), data)
    assert short.origins.horizon == 4
    assert short["crps"] == pytest.approx(evaluate(whole, data.first_frames(9))["crps"])
    others = dataclasses.replace(data, sequence_names=tuple("abcdef"))
    with pytest.raises(BadInput, match="The data have no sequence '0' of the forecast"):
        evaluate(whole, others)
    strangers = dataclasses.replace(data, object_names=(("a", "b"),) * 6)
    with pytest.raises(BadInput, match="No object of the forecast is in the data; check"):
        evaluate(whole, strangers)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda draws: draws[:1], "The forecast has one draw"),
        (lambda draws: draws[:, :, :5], "The forecast has no time after the frames it saw"),
        (lambda draws: np.where(draws == draws.max(), np.inf, draws), "draws that are not finite"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_sentence(spoil, sentence):
    data = pushed(3, sequences=3)
    draws = data.values + np.arange(4.0)[:, None, None, None, None]
    with pytest.raises(BadInput, match=sentence):
        evaluate(forecast_of(data, spoil(draws), 5), data)


def test_references_fitted_to_other_data_do_not_see_the_data_scored():
    train, test = pushed(0, sequences=6), pushed(1, sequences=6)
    wild = Trajectories.from_arrays(3 * train.values, features=("x", "y"))
    fitted = ConstantVelocity.fit(train, PROTOCOL)
    calm = evaluate(fitted, test, train=train, protocol=PROTOCOL)
    other = evaluate(fitted, test, train=wild, protocol=PROTOCOL)
    ratio = [e.scores["constant velocity"].mean("coverage_90") for e in (calm, other)]
    assert ratio[1] > ratio[0]
