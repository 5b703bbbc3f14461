import numpy as np
import pytest

from comotion.predict.formulas import fit_formulas
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
    first, second, half = _sentences(band, "length per time²")[:3]
    assert first.startswith("two objects repel below 0.88")
    assert second.startswith("two objects attract from 0.98")
    assert half.startswith("it falls to half within 0.29")
    nothing = band.assign(low=band["mean"] - 9, high=band["mean"] + 9)
    assert _sentences(nothing, "") == ["no interaction that the data make sure of at any distance"]


def test_the_law_of_a_model_has_bands_and_tells_itself(make_walks, make_fitted):
    law = make_fitted(make_walks(), "I-GPODE-S").law
    band = law.interaction()
    assert set(band.data_vars) == {"mean", "sd", "low", "high"}
    assert (band["low"] <= band["high"]).all()
    assert set(law.alone().dims) == {"x", "y", "component"}
    text = str(law)
    assert "alone, objects" in text
    assert text.endswith("no hard contacts are part of this model")
    assert len(law.plot()) == 2
