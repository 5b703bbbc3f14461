import dataclasses
import json

from comotion.cli import main
from comotion.config import SystemConfig, from_dict, to_dict
from comotion.systems import FORMS, OURS, SYSTEMS, system


def test_ours_come_first_and_the_papers_on_request(capsys):
    assert main(["systems"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in OURS)
    assert "I-GPODE" not in out
    assert main(["systems", "--paper"]) == 0
    both = capsys.readouterr().out
    assert both.startswith(out.rstrip())
    assert both.index("comotion") < both.index("I-GPODE")


def test_every_part_says_what_it_means_to_a_user(capsys):
    assert main(["systems", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    parts = listed["parts"]
    for name in ("alone", "pair"):
        for choice in parts[name]["choices"].split(" | "):
            assert f"{choice}, " in parts[name]["meaning"], (name, choice)
    for part in (*parts.values(), *listed["recipe"].values()):
        assert len(part["meaning"]) > 15
        assert "\n" not in part["meaning"]


def test_every_system_has_a_row_and_every_ending_is_named(capsys):
    assert main(["systems", "--paper"]) == 0
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
