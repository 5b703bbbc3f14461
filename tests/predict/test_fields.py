import jax
import jax.numpy as jnp
import numpy as np
import pytest

from comotion._types import FAST
from comotion.backend.keys import key_for
from comotion.config import Recipe, RunConfig, Stage
from comotion.coordinates import Actor
from comotion.data import Trajectories
from comotion.dynamics import InteractingDynamics
from comotion.errors import BadInput
from comotion.predict import FittedModel, fields
from comotion.predict.fields import typical_speed
from comotion.report import independent_field_figure, interaction_field_figure
from comotion.systems import system
from comotion.train.fit import prepare

RECIPE = Recipe(stages=(Stage(horizon=3, iterations=1, learning_rate=1e-3),))
GP = {"inducing_alone": 8, "inducing_pair": 8, "fourier_features": 8}
NETWORK = {"hidden_alone": 8, "hidden_pair": 8}  # small networks compile much faster than GPs


def orbits(spatial: int, velocities: bool = True, **more) -> Trajectories:
    """Three objects on circles of different size, far from the origin, in odd units."""
    rng = np.random.default_rng(0)
    phase = rng.uniform(0, 6, (4, 1, 3, 1)) + np.arange(spatial) * np.pi / 2
    times = np.arange(12.0)[:, None, None] / 4
    size = 10.0 * (1 + np.arange(3)[:, None])
    place, speed = size * np.sin(times + phase) + 100.0, size * np.cos(times + phase)
    names = ("x", "y", "z")[:spatial]
    features = names + tuple(f"v{name}" for name in names) if velocities else names
    values = np.concatenate([place, speed], axis=-1) if velocities else place
    return Trajectories.from_arrays(values, times[:, 0, 0], features=features, **more)


def untrained(data: Trajectories, name: str, **parts) -> FittedModel:
    config = RunConfig(system(name, **GP, **NETWORK, **parts), RECIPE)
    return prepare(data, config, key=jax.random.key(0))[0]


def first_draw(fitted: FittedModel, draws: int, seed: int):
    """The law that the first draw of a forecast follows, which is shown first."""
    key = jax.random.split(key_for("forecast", seed), draws)[0]
    dynamics = fitted.model.dynamics
    assert isinstance(dynamics, InteractingDynamics)
    return dynamics.draw(key=jax.random.split(key, 3)[0])


def actors(*states: list[float], properties: int = 0) -> Actor:
    count = len(states)
    return Actor(
        jnp.asarray(states, FAST), jnp.ones((count, properties), FAST), jnp.zeros((count, 0), FAST)
    )


def test_values_are_those_of_the_drawn_functions_at_the_places_of_the_grid():
    fitted = untrained(orbits(2), "I-GPODE-S")
    shown = fields(fitted, draws=3, seed=4, resolution=5, speed=6.0)
    field = first_draw(fitted, draws=3, seed=4)
    x, y = float(shown["x"][3]), float(shown["y"][1])
    alone = field.independent(actors([x, y, 6.0, 0.0]))[0]
    np.testing.assert_allclose(shown["f_s"].isel(draw=0, y=1, x=3), alone, rtol=1e-4, atol=1e-4)

    mx, my = fitted.summary.mean[:2].tolist()
    dx, dy = float(shown["dx"][4]), float(shown["dy"][1])
    ux, uy = 3.0 * np.array([dx, dy]) / np.hypot(dx, dy)
    pushed = field.interaction(actors([mx, my, ux, uy]), actors([mx + dx, my + dy, -ux, -uy]))[0]
    np.testing.assert_allclose(shown["f_b"].isel(draw=0, dy=1, dx=4), pushed, rtol=1e-4, atol=1e-4)


def test_the_line_is_what_a_neighbour_on_the_left_does_along_and_across():
    fitted = untrained(orbits(2), "I-NODE-S")
    shown = fields(fitted, draws=2, resolution=4, speed=2.0)
    mx, my = fitted.summary.mean[:2].tolist()
    far = float(shown["distance"][-1])
    own, other = actors([mx, my, -1.0, 0.0]), actors([mx - far, my, 1.0, 0.0])
    pushed = first_draw(fitted, draws=2, seed=0).interaction(own, other)[0]
    np.testing.assert_allclose(
        shown["f_b_line"].isel(draw=0, distance=-1), pushed, rtol=1e-4, atol=1e-4
    )
    assert shown["direction"].values.tolist() == ["radial", "tangential"]


def test_a_draw_is_the_law_of_the_same_draw_of_a_forecast():
    """What moves a single object over a very short time is the drawn law, and not another one."""
    data = orbits(2)
    lone = Trajectories.from_arrays(data.values[:1, :, :1], data.times[0], features=data.features)
    fitted = untrained(data, "I-GPODE-S", encoder="smoother")
    step, start = 1e-3, float(lone.times[0, 0])
    paths = fitted.predict(lone, draws=2, seed=5, times=[start, start + step])["trajectory"]
    states = paths.values[:, 0, :, 0]  # draw, time, feature
    moved = (states[:, 1, 2:] - states[:, 0, 2:]) / step
    alone = actors(*states[:, 0].tolist())
    rates = np.asarray(first_draw(fitted, draws=2, seed=5).independent(alone))
    np.testing.assert_allclose(moved[0], rates[0], rtol=0.02, atol=0.05)
    assert np.abs(moved[1] - rates[1]).max() > 0.5


@pytest.mark.parametrize("velocities", [True, False], ids=["observed", "hidden"])
@pytest.mark.parametrize("name", ["I-NODE-S", "I-NODE-L"])
def test_a_model_in_other_units_shows_the_same_functions_in_the_datas_units(name, velocities):
    """Scaled by the model, or scaled by hand and the answer scaled back: the same numbers."""
    data = orbits(2, velocities)
    scaled = untrained(data, name, scaling="units")
    shift, scale = np.asarray(scaled.scaling.shift), np.asarray(scaled.scaling.scale)
    length, time = scale[0], float(scaled.scaling.time)
    by_hand = Trajectories.from_arrays(
        (data.values - shift) / scale, data.times / time, features=data.features
    )
    plain = untrained(by_hand, name)
    speed = 7.0
    ours = fields(scaled, draws=3, resolution=4, speed=speed)
    theirs = fields(plain, draws=3, resolution=4, speed=speed * time / length)
    np.testing.assert_allclose(ours["x"], theirs["x"] * length + shift[0])
    np.testing.assert_allclose(ours["dy"], theirs["dy"] * length, atol=1e-9)
    np.testing.assert_allclose(ours["distance"], theirs["distance"] * length)
    acceleration, velocity = length / time**2, length / time
    units = [acceleration] * 2 if name == "I-NODE-S" else [velocity] * 2 + [acceleration] * 2
    for function in ("f_s", "f_b"):
        expected = theirs[function].values * np.array(units)
        tolerance = 1e-3 * np.abs(expected).max()
        np.testing.assert_allclose(ours[function].values, expected, atol=tolerance)
    tolerance = 1e-3 * np.abs(ours["f_b_line"].values).max()
    line = theirs["f_b_line"].values * acceleration
    np.testing.assert_allclose(ours["f_b_line"].values, line, atol=tolerance)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_one_two_and_three_dimensions_have_the_form_the_figures_want(spatial):
    shown = fields(untrained(orbits(spatial), "I-NODE"), draws=2, resolution=3)
    flat = spatial == 1
    assert shown["f_s"].dims == (("draw", "x") if flat else ("draw", "y", "x")) + ("component",)
    assert shown["f_b"].dims == (("draw", "dx") if flat else ("draw", "dy", "dx")) + ("component",)
    names = ["x", "y", "z"][:spatial]
    assert shown["component"].values.tolist() == names + [f"v{name}" for name in names]
    assert shown.sizes["direction"] == min(spatial, 2)
    assert np.isfinite(shown["f_s"]).all()
    assert np.isfinite(shown["f_b"]).all()
    independent_field_figure(shown)
    interaction_field_figure(shown)


def test_second_order_names_accelerations_by_their_axes():
    shown = fields(untrained(orbits(2, velocities=False), "I-NODE-S"), draws=2, resolution=3)
    assert shown["component"].values.tolist() == ["x", "y"]
    assert shown.attrs["velocity"].endswith(", 0)")


def test_positions_alone_have_no_velocity_and_the_grid_spans_the_data():
    data = orbits(2, velocities=False)
    shown = fields(untrained(data, "I-NODE"), draws=2, resolution=3)
    assert "velocity" not in shown.attrs
    assert shown["component"].values.tolist() == ["x", "y"]
    places = data.values[..., 0]
    centre, reach = places.mean(), 2 * places.std()
    np.testing.assert_allclose(shown["x"], [centre - reach, centre, centre + reach])


@pytest.mark.parametrize("properties", ["observed", "inferred", "none"])
def test_properties_are_one_unit(properties):
    charge = np.tile([[2.0], [-2.0], [2.0]], (4, 1, 1))
    data = orbits(2, static=charge, static_names=("charge",))
    fitted = untrained(data, "I-NODE", properties=properties, scaling="units")
    shown = fields(fitted, draws=2, resolution=3)
    told = {"observed": "charge = 2", "inferred": "each inferred property = 1", "none": None}
    assert shown.attrs.get("properties") == told[properties]
    field = first_draw(fitted, draws=2, seed=0)
    place, velocity = fitted.scaling.scale[0], fitted.scaling.scale[2]
    middle = (fitted.summary.mean[:2] - np.asarray(fitted.scaling.shift[:2])) / float(place)
    state = [*middle, typical_speed(fitted) / float(velocity), 0.0]
    own = actors(state, properties=0 if properties == "none" else 1)
    rates = np.asarray(field.independent(own)[0])[2:] * float(velocity / fitted.scaling.time)
    centre = shown["f_s"].isel(draw=0, x=1, y=1).sel(component=["vx", "vy"])
    np.testing.assert_allclose(centre, rates, rtol=1e-3, atol=1e-3)


def test_discrete_time_shows_changes_per_frame():
    data = orbits(2)
    fitted = untrained(data, "I-GPSSM", function="mlp", scaling="units")
    shown = fields(fitted, draws=2, resolution=3, speed=0.0)
    scale, shift = np.asarray(fitted.scaling.scale), np.asarray(fitted.scaling.shift)
    centre = [*((fitted.summary.mean[:2] - shift[:2]) / scale[:2]), 0.0, 0.0]
    jump = np.asarray(first_draw(fitted, draws=2, seed=0).independent(actors(centre))[0]) * scale
    np.testing.assert_allclose(shown["f_s"].isel(draw=0, x=1, y=1), jump, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("velocities", [True, False], ids=["observed", "hidden"])
def test_the_typical_speed_is_that_of_the_data(velocities):
    data = orbits(2, velocities)
    speeds = 10.0 * np.sqrt(np.mean([1.0, 4.0, 9.0]))
    expected = np.sqrt((orbits(2).values[..., 2:] ** 2).sum(axis=-1).mean())
    assert expected == pytest.approx(speeds, rel=0.2)
    guess = typical_speed(untrained(data, "I-NODE-L"))
    assert guess == pytest.approx(expected, rel=1e-6 if velocities else 0.7)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("NODE", "'NODE' is one function of all objects, so there is no f_s"),
        ("I-NODE-8", "decodes observations from a hidden"),
    ],
)
def test_systems_without_functions_of_positions_are_refused(name, sentence):
    with pytest.raises(BadInput, match=sentence):
        fields(untrained(orbits(2), name))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"draws": 0}, "draws=0 and resolution=21 make no picture"),
        ({"resolution": 1}, "draws=50 and resolution=1 make no picture"),
        ({"speed": -1.0}, "speed=-1 is no speed"),
        ({"speed": float("nan")}, "speed=nan is no speed"),
    ],
)
def test_impossible_wishes_are_refused(arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        fields(untrained(orbits(2), "I-NODE"), **arguments)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("function", ["gp", "mlp", "bnn"])
def test_every_kind_of_function_shows_both_laws_and_how_unsure_it_is(function, order):
    fitted = untrained(orbits(2), "I-GPODE", function=function, order=order)
    shown = fields(fitted, draws=3, resolution=3)
    components = ["x", "y"] if order == 2 else ["x", "y", "vx", "vy"]
    assert shown["component"].values.tolist() == components
    for name, figure in (("f_s", independent_field_figure), ("f_b", interaction_field_figure)):
        assert np.isfinite(shown[name]).all()
        spread = shown[name].std("draw").values
        assert (spread > 0).all() if function != "mlp" else (spread == 0).all()
        figure(shown)
