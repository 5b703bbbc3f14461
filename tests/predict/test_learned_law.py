import numpy as np
import pytest

from comotion.data.units import UNKNOWN, Units
from comotion.predict import load
from comotion.predict.formulas import DRAG, fit_formula, fit_formulas
from comotion.predict.law import _sentences

R = np.linspace(0.2, 6.0, 60)


def draws_of(curve: np.ndarray, noise: float = 0.01, count: int = 60) -> np.ndarray:
    """Draws that differ by a smooth random factor and a little of everything."""
    rng = np.random.default_rng(0)
    return curve * (1 + noise * rng.normal(size=(count, 1))) + noise * rng.normal(
        size=(count, 1)
    ) * np.cos(rng.uniform(0, 2, size=(count, 1)) * R)


@pytest.mark.parametrize(
    ("name", "curve", "expected"),
    [
        ("power law", 2.0 * R**-2.0, {"c": 2.0, "p": -2.0}),
        ("exponential", 3.0 * np.exp(-R / 0.8), {"c": 3.0, "l": 0.8}),
        ("spring", 4.0 - 1.5 * R, {"c": 4.0, "-k": -1.5}),
        ("contact", 5.0 * (R < 2.4), {"c": 5.0, "d": 2.4}),
        ("Morse", 4.0 * np.exp(-R / 0.5) - 1.0 * np.exp(-R / 2.0), {}),
    ],
)
def test_the_formula_that_made_a_force_is_found_among_the_best(name, curve, expected):
    found = fit_formulas(R, draws_of(curve))
    names = [formula.name for formula in found]
    assert name in names[:2], names  # a sum of two exponentials can look like one of them
    formula = found[names.index(name)]
    for key, value in expected.items():
        mean, sd = formula.parameters[key]
        assert mean == pytest.approx(value, abs=max(4 * sd, 0.06 * abs(value)))
    assert f"{name}: " in str(formula)


def test_formulas_that_cannot_be_are_excluded():
    found = {f.name: f for f in fit_formulas(R, draws_of(2.0 * R**-2.0))}
    assert not found["power law"].excluded
    assert found["spring"].excluded
    assert found["contact"].excluded


def test_sentences_say_where_objects_repel_and_attract_and_how_far_it_reaches():
    import xarray as xr

    mean = 4.0 * np.exp(-R / 0.5) - 1.0 * np.exp(-R / 2.0)
    sd = np.full_like(R, 0.02)
    band = xr.Dataset(
        {
            "mean": ("distance", mean),
            "sd": ("distance", sd),
            "low": ("distance", mean - 1.645 * sd),
            "high": ("distance", mean + 1.645 * sd),
        },
        coords={"distance": R},
    )
    first, second, half = _sentences(band, Units("cm", "s"), "cm/s²")[:3]
    assert first.startswith("two objects repel below 0.888 cm, most at 0.2 cm (")
    assert first.endswith(" cm/s²)")
    assert second.startswith("two objects attract from 0.98")
    assert half == "it falls to half within 0.295 cm"
    nothing = band.assign(low=band["mean"] - 9, high=band["mean"] + 9)
    assert _sentences(nothing, UNKNOWN, "") == [
        "no interaction that the data make sure of at any distance"
    ]


@pytest.fixture(scope="module")
def fitted_in_cm(make_walks, make_fitted):
    return make_fitted(make_walks(units=Units("cm", "s")), "I-GPODE-S")


def test_the_law_of_a_model_has_bands_and_tells_itself(fitted_in_cm):
    law = fitted_in_cm.law
    band = law.interaction()
    assert set(band.data_vars) == {"mean", "sd", "low", "high"}
    assert (band["low"] <= band["high"]).all()
    assert set(law.alone().dims) == {"x", "y", "component"}
    text = str(law)
    assert "alone, objects" in text
    assert text.endswith("no hard contacts are part of this model")
    alone, interaction = law.plot()
    assert alone.axes[0].get_xlabel() == "position x (cm)"
    assert interaction.axes[2].get_xlabel() == "distance (cm)"


def test_drag_is_told_from_friction_that_grows_faster_than_speed():
    speeds = np.array([0.25, 0.5, 1.0, 1.5])
    linear = fit_formula(DRAG, speeds, draws_at(0.3 - 0.8 * speeds))
    assert linear.parameters["-g"][0] == pytest.approx(-0.8, abs=4 * linear.parameters["-g"][1])
    assert not linear.excluded
    assert fit_formula(DRAG, speeds, draws_at(0.3 - 0.8 * speeds**2)).excluded


def draws_at(curve: np.ndarray, noise: float = 0.01, count: int = 60) -> np.ndarray:
    return curve + noise * np.random.default_rng(1).normal(size=(count, len(curve)))


def test_a_model_without_a_law_of_pairs_says_so(make_walks, make_fitted):
    walks = make_walks()
    alone = make_fitted(walks, "I-GPODE-S", pair="none").law
    assert alone.headline == "no interaction is part of this model: each object moves by itself"
    assert "alone, objects" in str(alone)
    neither = make_fitted(walks, "I-GPODE-S", pair="none", alone="none").law
    assert str(neither).splitlines() == [
        "no interaction is part of this model: each object moves by itself, and goes on as it was "
        "but for noise",
        "no hard contacts are part of this model",
    ]


def test_units_of_the_data_reach_the_law_and_model_files(fitted_in_cm, tmp_path):
    fitted_in_cm.save(tmp_path / "model.safetensors")
    again = load(tmp_path)
    assert again.shape.units == Units("cm", "s")
    assert "0.5 s apart" in repr(again)
    assert Units.among(fitted_in_cm.law.interaction().attrs) == Units("cm", "s")
