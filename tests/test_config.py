import dataclasses
import importlib
import math
import typing

import pytest

from comotion.config import (
    Limits,
    Recipe,
    RunConfig,
    Stage,
    SystemConfig,
    from_dict,
    parts,
    read_toml,
    replace,
    to_dict,
    write_toml,
)
from comotion.errors import BadInput


def written(tmp_path, text):
    path = tmp_path / "run.toml"
    path.write_text(text)
    return path


def test_a_run_config_survives_toml(tmp_path):
    config = RunConfig(
        system=SystemConfig(name="mine", pair="radial", order=2, radius=1.5, nearest=2),
        recipe=Recipe(stages=(Stage(5, 10, 1e-2, "cosine"), Stage(16, 5, 1e-3)), clip=0.5),
        seed=7,
    )
    path = tmp_path / "config.toml"
    write_toml(config, path)
    assert read_toml(path) == config


def test_the_defaults_survive_toml_with_their_infinite_radius(tmp_path):
    path = tmp_path / "config.toml"
    write_toml(RunConfig(), path)
    assert math.isinf(read_toml(path).system.radius)
    assert read_toml(path) == RunConfig()


def test_what_a_file_leaves_out_has_its_default(tmp_path):
    config = read_toml(written(tmp_path, 'seed = 3\n[system]\npair = "radial"\n'))
    assert config == RunConfig(system=SystemConfig(pair="radial"), seed=3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("colour = 1", "unknown field 'colour'; the fields are recipe, seed, system"),
        ("[system]\nwho = 'everyone'", "system: who: 'everyone' is not one of interacting, joint"),
        ("[system]\npair = 'square'", "pair: 'square' is not one of raw, relative, galilean, "),
        ("[system]\nkernel = 3", "system: kernel: 3 is not one of se, matern12, "),
        ("[system]\norder = 3", "system: order: 3 is not one of 1, 2"),
        ("[system]\norder = true", "system: order: True is not one of 1, 2"),
        ("[system]\nlatent = 1.5", "system: latent: expected int, got 1.5"),
        ("[system]\nlatent = true", "system: latent: expected int, got True"),
        ("[system]\nradius = 'half'", "system: radius: expected float, got 'half'"),
        ("[system]\nhidden_axes = 4", "system: hidden_axes: expected at most 3, got 4"),
        ("[system]\nradius = nan", "system: radius: expected at least 0, got nan"),
        ("[system]\nsubsteps = 0", "system: substeps: expected at least 1, got 0"),
        ("[system]\nhidden_velocity = 1", "system: hidden_velocity: expected bool, got 1"),
        ("[recipe]\nwindows = 0", "recipe: windows: expected at least 1, got 0"),
        ("[recipe]\nstages = 3", "recipe: stages: expected a list, got 3"),
        ("[[recipe.stages]]\nhorizon = 5", "recipe: stages: 'iterations' is missing"),
        ("[recipe]\nstages = ['a']", "recipe: stages: expected a table of decay, horizon"),
        ("system = 5", "system: expected a table of accumulation"),
        ("seed = -1", "seed: expected at least 0, got -1"),
        ("seed = ", "not a readable TOML file"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path, text, sentence):
    path = written(tmp_path, text)
    with pytest.raises(BadInput) as error:
        read_toml(path)
    assert sentence in str(error.value)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="not a readable TOML file"):
        read_toml(tmp_path / "nothing.toml")


def test_every_literal_field_refuses_another_word():
    for part in dataclasses.fields(SystemConfig):
        if isinstance(part.default, str) and part.name != "name":
            with pytest.raises(BadInput, match=f"config: {part.name}: 'nonsense' is not one of"):
                from_dict(SystemConfig, {part.name: "nonsense"})


@pytest.mark.parametrize("kind", [SystemConfig, Stage, Recipe, RunConfig])
def test_every_number_has_a_range_that_is_kept_wherever_a_config_is_made(kind):
    some = {"horizon": 5, "iterations": 1, "learning_rate": 0.1} if kind is Stage else {}
    numbers = 0
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        assert hint not in (int, float), f"{name} has no range"
        limits = [note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Limits)]
        for limit in limits:
            number = typing.get_args(hint)[0]
            assert getattr(kind(**some | {name: number(limit.least)}), name) == limit.least
            with pytest.raises(BadInput, match=f"{name}: expected at least"):
                kind(**some | {name: number(limit.least) - 1})
            numbers += 1
    assert numbers


def test_fields_of_earlier_versions_are_read_by_their_new_names():
    old = {"warm_start": True, "matching": 7, "free_properties": True}
    recipe = from_dict(Recipe, old)
    assert (recipe.regression, recipe.pretrain, recipe.find_properties) == (True, 7, True)
    assert from_dict(SystemConfig, {"events": 0.5}) == SystemConfig()


def test_the_rooms_fill_every_row_of_the_tables_of_parts():
    importlib.import_module("comotion.systems")
    tables = {
        name: table for name, table in vars(parts).items() if isinstance(table, parts.PartTable)
    }
    assert len(tables) == 7
    for name, table in tables.items():
        assert None not in table.values(), name


def test_a_whole_number_will_do_for_a_real_one():
    config = from_dict(SystemConfig, {"radius": 2})
    assert config.radius == 2.0
    assert isinstance(config.radius, float)


def test_replace_checks_what_it_changes():
    assert replace(SystemConfig(), order=2) == SystemConfig(order=2)
    with pytest.raises(BadInput, match="system: unknown field 'ordr'"):
        replace(SystemConfig(), ordr=2)


def test_a_config_becomes_plain_values():
    assert to_dict(Stage(5, 10, 1e-2)) == {
        "horizon": 5,
        "iterations": 10,
        "learning_rate": 1e-2,
        "decay": "none",
        "objective": "bound",
    }
