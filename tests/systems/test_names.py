import inspect

import pytest

from comotion.config import SystemConfig
from comotion.errors import BadInput
from comotion.systems import DEFAULT, FORMS, MOTION, SYSTEMS, system
from comotion.train import fit

PAPER = [
    *("NODE", "NODE-L", "NODE-8", "NODE-16", "BNODE", "BNODE-L", "GPODE", "GPODE-L"),
    *("I-NODE", "I-NODE-L", "I-NODE-8", "I-NODE-16", "I-NODE-S", "I-BNODE"),
    *("I-GPODE", "I-GPODE-L", "I-GPODE-S", "I-GPODE-L-S", "I-GPSSM"),
]


def test_every_name_of_the_paper_is_there():
    assert list(SYSTEMS) == [DEFAULT, MOTION, *PAPER]


def test_what_fit_takes_by_itself_is_for_data_in_any_unit_and_from_any_side():
    config = system(DEFAULT)
    assert (config.scaling, config.pair, config.alone) == ("units", "radial", "raw")
    assert inspect.signature(fit).parameters["system"].default == DEFAULT


@pytest.mark.parametrize("name", PAPER)
def test_a_name_says_what_it_is_made_of(name):
    config = system(name)
    assert config.name == name
    assert config.who == ("interacting" if name.startswith("I-") else "joint")
    kind = "bnn" if "BNODE" in name else "gp" if "GP" in name else "mlp"
    assert config.function == kind
    assert config.time == ("discrete" if "SSM" in name else "continuous")
    assert config.order == (2 if name.endswith("-S") else 1)
    endings = name.split("-")
    assert config.latent == next((int(part) for part in endings if part.isdigit()), 0)
    assert config.hidden_velocity == ("L" in endings or "S" in endings)


def test_i_gpode_is_made_of_the_papers_parts():
    assert system("I-GPODE") == SystemConfig()
    assert SystemConfig().alone == "raw"
    assert SystemConfig().pair == "relative"
    assert (SystemConfig().inducing_alone, SystemConfig().inducing_pair) == (250, 250)
    assert (SystemConfig().hidden_alone, SystemConfig().hidden_pair) == (256, 512)
    assert SystemConfig().activation == "softplus"
    assert SystemConfig().covariance == "diagonal"


@pytest.mark.parametrize(
    ("form", "properties"),
    [
        ("", "observed"),
        ("/globals-observed", "observed"),
        ("/with-globals", "inferred"),
        ("/without-globals", "none"),
    ],
)
def test_an_ending_says_what_happens_to_static_properties(form, properties):
    config = system("I-GPODE-S" + form)
    assert config.properties == properties
    assert config.name == "I-GPODE-S" + form
    assert set(FORMS) == {"without-globals", "with-globals", "globals-observed"}


def test_any_part_of_a_named_system_can_be_changed():
    config = system("I-GPODE-S/with-globals", order=1, properties="none", pair="radial")
    assert (config.order, config.properties, config.pair) == (1, "none", "radial")
    assert config.hidden_velocity


@pytest.mark.parametrize("name", ["GP-ODE", "I-GPODE/globals", "", "/with-globals"])
def test_a_name_that_is_not_there_is_refused_with_all_that_are(name):
    with pytest.raises(BadInput) as error:
        system(name)
    assert str(error.value).startswith(f"there is no system '{name}'")
    assert ": choose one of comotion, motion, NODE" in str(error.value)
    assert "optionally followed by /without-globals, /with-globals" in str(error.value)


def test_an_impossible_part_is_refused():
    with pytest.raises(BadInput, match="system: pair: 'square' is not one of raw, relative"):
        system("I-GPODE", pair="square")


def test_names_are_matched_without_case_and_with_a_guess():
    assert system("i-gpode-s").name == "I-GPODE-S"
    assert system("Comotion").name == "comotion"
    with pytest.raises(BadInput, match=r"no system 'I-GPODES' \(did you mean I-GPODE-S\?\)"):
        system("I-GPODES")
