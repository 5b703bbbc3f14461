import importlib
import re
import shlex

import pytest

import comotion
from comotion.cli import COMMANDS, main
from comotion.cli.arguments import parse
from comotion.errors import BadInput

FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"


def examples(text: str) -> list[list[str]]:
    lines = re.findall(r"^ +comotion (\w+.*)$", text, flags=re.MULTILINE)
    return [shlex.split(line.split(">")[0]) for line in lines]


def test_help_lists_every_command_in_one_line(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name, what in COMMANDS.items():
        assert f"  {name:<10} {what}\n" in text
    assert max(map(len, text.splitlines())) <= 100


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 0
    without = capsys.readouterr().out
    main(["--help"])
    assert without == capsys.readouterr().out


def test_version_is_the_packages(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"comotion {comotion.__version__}\n"


def test_first_steps_in_the_help_are_commands_that_parse(capsys):
    main(["--help"])
    steps = examples(capsys.readouterr().out)
    assert len(steps) >= 5
    for name, *words in steps:
        assert parse(importlib.import_module(f"comotion.cli.{name}").Options, name, words)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_examples_that_parse(name, capsys):
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"usage: comotion {name}" in text
    assert max(map(len, text.splitlines())) <= 105
    assert "\n\n\n" not in text
    shown = examples(text)
    assert shown
    for command, *words in shown:
        assert command == name
        assert parse(importlib.import_module(f"comotion.cli.{name}").Options, name, words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fti"], r"there is no command 'fti' \(did you mean fit\?\); the commands are demo, "),
        (["xyz"], r"there is no command 'xyz'; the commands are demo, "),
        (["validate"], "Missing from comotion validate: DATA .*; see `comotion validate --help`"),
        (["predict", "m", "d", "--drawn", "3"], r"Unrecognized options: --drawn, 3 \(did you mean"),
        (["predict", "m", "d", "--draws", "1.5"], "--draws wants NUMBER, not '1.5'; see `comotion"),
        (["fit", "d", "--seed", "a"], "--seed wants NUMBER, not 'a'; see `comotion fit --help`"),
        (["simulate", "planets"], "there is no scene 'planets': choose one of bouncing-balls, "),
        (["systems", "--jsn"], r"Unrecognized options: --jsn \(did you mean --json\?\)"),
    ],
)
def test_a_wrong_command_line_is_told_in_one_sentence(words, sentence, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"comotion: {sentence}.*\n", err)


def test_a_parser_that_is_asked_for_nothing_wrong_returns_the_options():
    from comotion.cli.validate import Options

    assert parse(Options, "validate", ["--help"]) is None
    options = parse(Options, "validate", ["file.csv", "--json"])
    assert options is not None
    assert options.json
    with pytest.raises(BadInput, match="Unrecognized options: more"):
        parse(Options, "validate", ["file.csv", "more"])


def test_a_reader_that_stops_reading_is_no_error(comotion):
    quiet = "import os; r, w = os.pipe(); os.close(r); os.dup2(w, 1)"
    done = comotion("systems", "--json", python=quiet)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk_is_told_in_one_sentence_and_leaves_the_old_file_whole(
    ending, comotion, tmp_path
):
    file = tmp_path / f"balls.{ending}"
    file.write_text("precious")
    done = comotion("simulate", "bouncing-balls", "--sequences", 9, "--out", file, python=FULL)
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(r"comotion: .*[Ff]ile too large.*\n", done.stderr)
    assert done.stderr.endswith("(files written before are whole)\n")
    assert file.read_text() == "precious"
    assert list(tmp_path.glob(".*")) == []


def test_a_disk_that_is_full_when_a_forecast_is_written_keeps_the_old_one(comotion, demo, tmp_path):
    file = tmp_path / "forecast.nc"
    file.write_text("precious")
    words = ("predict", demo, demo / "test.csv", "--draws", 10, "--out", file)
    done = comotion(*words, python=FULL)
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(r"comotion: .*[Ff]ile too large.*\n", done.stderr)
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]
