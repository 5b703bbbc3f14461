import dataclasses
import json

from comotion.cli import main
from comotion.config import SystemConfig, from_dict, to_dict
from comotion.systems import FORMS, SYSTEMS, system


def test_every_system_has_a_row_and_every_ending_is_named(capsys):
    assert main(["systems"]) == 0
    out = capsys.readouterr().out
    first_words = [line.split()[0] for line in out.splitlines() if line.strip()]
    for name in SYSTEMS:
        assert name in first_words
    for form in FORMS:
        assert f"/{form}" in out


def test_json_gives_the_parts_of_every_system(capsys):
    assert main(["systems", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert list(listed["systems"]) == list(SYSTEMS)
    for name, parts in listed["systems"].items():
        parts["radius"] = float(parts["radius"])
        assert from_dict(SystemConfig, parts) == system(name)
    assert listed["endings"] == FORMS


def test_every_part_is_explained_with_its_choices_and_default(capsys):
    assert main(["systems", "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    names = [field.name for field in dataclasses.fields(SystemConfig)]
    assert list(parts) == [name for name in names if name != "name"]
    assert parts["order"] == {
        "choices": "1 | 2",
        "default": 1,
        "meaning": "2: the rate of position is velocity, only accelerations are learned",
    }
    assert parts["hidden_velocity"]["choices"] == "true | false"
    defaults = to_dict(SystemConfig())
    assert all(str(part["default"]) == str(defaults[name]) for name, part in parts.items())
    assert main(["systems", "--parts"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in parts)
