import dataclasses
import html
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from comotion import load
from comotion.cli import main
from comotion.cli.fit import parse_part
from comotion.config import read_toml, write_toml
from comotion.data import Trajectories, read, write
from comotion.errors import BadInput
from comotion.predict.checkpoint import read as read_checkpoint
from tests.straight import straight_walkers


def weights(run: Path) -> dict[str, np.ndarray]:
    return read_checkpoint(run / "model.safetensors")[0]


def trained_on(run: Path) -> list[dict[str, float]]:
    """The figures of all steps, bit for bit, but for what was only watched."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    watched = ("time", "valid_")
    return [{k: v for k, v in row.items() if not k.startswith(watched)} for row in rows]


def changed_recipe(demo: Path, file: Path, **changes) -> str:
    config = read_toml(demo / "config.toml")
    stage = dataclasses.replace(config.recipe.stages[0], **changes)
    recipe = dataclasses.replace(config.recipe, stages=(stage,))
    write_toml(dataclasses.replace(config, recipe=recipe), file)
    return str(file)


@pytest.fixture(scope="module")
def run(demo, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "first"
    words = ["--config", str(demo / "config.toml"), "--out", str(out), "--quiet", "--no-report"]
    assert main(["fit", str(demo / "test.csv"), *words, "--split", "1"]) == 0
    return out


@pytest.fixture(scope="module")
def twice(demo, tmp_path_factory) -> str:
    """A file with the demo's sequences and the same ones again."""
    data = read(demo / "test.csv")
    values = np.concatenate([data.values, data.values])
    file = tmp_path_factory.mktemp("data") / "twice.csv"
    write(Trajectories.from_arrays(values, data.times[0], features=data.features), file)
    return str(file)


def test_a_run_folder_has_all_its_parts_and_the_next_commands_are_told(
    demo, twice, tmp_path, capsys
):
    out = tmp_path / "run"
    words = ["--config", str(demo / "config.toml"), "--out", str(out)]
    assert main(["fit", twice, *words, "--split", "0.5"]) == 0
    names = {path.name for path in out.iterdir()}
    kept = {"config.toml", "metrics.jsonl", "checkpoint", "model.safetensors"}
    assert names == kept | {"plan.txt", "held_out.nc", "data.toml", "report.html"}
    stdout, stderr = capsys.readouterr()
    told = stdout.splitlines()
    assert told[0].startswith("skill on held-out frames: 1 is perfect")
    assert told[1].split("  ")[:3] == ["frames ahead", "lead time", "skill"]
    assert f"the model is {out / 'model.safetensors'}" in stdout
    assert f"open {out / 'report.html'}" in stdout
    assert f"comotion predict {out} DATA" in stdout
    assert stderr.splitlines()[0] == "held out: the last 6 of 12 sequences"
    fitted = load(out)
    assert str(fitted.findings) in stdout
    assert fitted.findings.sentence in repr(fitted)
    page = (out / "report.html").read_text()
    assert html.escape(fitted.findings.sentence) in page
    assert not re.search(r"https?://(?!www.w3.org)", page)
    assert main(["report", str(out), "--out", str(tmp_path / "again.html")]) == 0
    assert capsys.readouterr().out.startswith(fitted.findings.sentence)


def test_without_a_system_what_forecasts_best_is_identified_first(tmp_path, capsys):
    table, out = tmp_path / "flights.csv", tmp_path / "run"
    write(straight_walkers(), table)
    assert main(["fit", str(table), "--out", str(out), "--time-limit", "1", "--no-report"]) == 0
    stdout, stderr = capsys.readouterr()
    assert "trying: no law" in stderr
    assert "the time limit was reached" in stdout
    assert read_toml(out / "config.toml").system.name == "motion"


def test_running_a_config_again_gives_the_same_model(demo, run, tmp_path):
    words = ["--config", str(run / "config.toml"), "--out", str(tmp_path / "again"), "--no-report"]
    assert main(["fit", str(demo / "test.csv"), *words, "--split", "1"]) == 0
    assert read_toml(tmp_path / "again" / "config.toml") == read_toml(run / "config.toml")
    first, again = weights(run), weights(tmp_path / "again")
    assert first.keys() == again.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name], err_msg=name)


def test_another_seed_gives_another_model(demo, run, tmp_path):
    words = ["--config", str(run / "config.toml"), "--seed", "7", "--no-report"]
    words += ["--out", str(tmp_path / "7"), "--split", "1"]
    assert main(["fit", str(demo / "test.csv"), *words]) == 0
    assert read_toml(tmp_path / "7" / "config.toml").seed == 7
    first, other = weights(run), weights(tmp_path / "7")
    assert any(not np.array_equal(first[name], other[name]) for name in first)


def test_the_same_command_twice_keeps_the_run_of_before_beside_the_new_one(demo, run, tmp_path):
    place = tmp_path / "twice"
    shutil.copytree(run, place)
    (place / "mine.txt").write_text("a note")
    words = ["fit", str(demo / "test.csv"), "--config", str(run / "config.toml"), "--quiet"]
    words += ["--no-report", "--split", "1", "--out", str(place), "--seed"]
    assert main([*words, "1"]) == 0
    assert (tmp_path / "twice-1" / "mine.txt").read_text() == "a note"
    assert read_toml(tmp_path / "twice-1" / "config.toml").seed == 0
    assert read_toml(place / "config.toml").seed == 1
    (place / "mine.txt").write_text("another")
    assert main([*words, "2", "--overwrite"]) == 0
    assert read_toml(place / "config.toml").seed == 2
    assert (place / "mine.txt").read_text() == "another"
    assert not (tmp_path / "twice-2").exists()


def test_a_run_that_is_resumed_knows_what_it_held_out(demo, twice, tmp_path):
    data, out = str(demo / "test.csv"), tmp_path / "run"
    words = ["--config", str(demo / "config.toml"), "--out", str(out), "--quiet", "--no-report"]
    runs = ((twice, ["--split", "0.5"]), (data, ["--split", "1"]), (data, ["--valid", data]))
    for given, held_out in runs:
        assert main(["fit", given, *words, *held_out, "--overwrite"]) == 0
        before = weights(out)
        assert main(["fit", given, "--out", str(out), "--resume", "--no-report"]) == 0
        for name, array in weights(out).items():
            np.testing.assert_array_equal(array, before[name])


@pytest.mark.usefixtures("run")  # has compiled the steps
def test_ctrl_c_keeps_the_model_so_far(demo, environment, tmp_path):
    out = tmp_path / "long"
    config = changed_recipe(demo, tmp_path / "long.toml", iterations=1_000_000)
    program = "import sys; from comotion.cli import main; sys.exit(main())"
    words = ["fit", str(demo / "test.csv"), "--config", config, "--out", str(out), "--split", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not (out / "metrics.jsonl").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, stdout) == (130, "")
    assert f"comotion: stopped early; the model so far is {out / 'model.safetensors'}" in stderr
    assert "--resume goes on" in stderr
    assert "Traceback" not in stderr
    assert int(read_checkpoint(out / "checkpoint" / "state.safetensors")[0]["iteration"]) >= 1
    assert load(out / "model.safetensors").config == read_toml(out / "config.toml")


@pytest.mark.parametrize("moment", ["finding a start", "compiling for windows"])
def test_ctrl_c_is_answered_at_once_while_programs_are_compiled(
    moment, demo, environment, tmp_path
):
    out = tmp_path / "run"
    program = "import sys; from comotion.cli import main; sys.exit(main())"
    words = ["fit", str(demo / "test.csv"), "--config", str(demo / "config.toml")]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words, "--out", str(out), "--set", "fourier_features=9"],
        env=environment | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "empty")},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if moment in line:
                break
        time.sleep(1.0)  # into the middle of it
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        stderr = process.communicate(timeout=60)[1]
        waited = time.monotonic() - asked
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    if moment == "finding a start":
        assert "comotion: stopped before anything was learned" in stderr
        assert waited < 3
    else:
        assert "comotion: stopped early; the model so far is" in stderr
        assert load(out).system == "comotion"


def test_training_that_diverges_is_told_in_one_sentence(demo, tmp_path, capsys):
    config = changed_recipe(demo, tmp_path / "wild.toml", iterations=40, learning_rate=1e30)
    words = ["--config", config, "--out", str(tmp_path / "wild"), "--split", "1"]
    assert main(["fit", str(demo / "test.csv"), *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("comotion: ")
    assert "Traceback" not in err


def test_the_share_trains_on_the_first_sequences_and_watches_the_rest(run, twice, tmp_path):
    words = ["--config", str(run / "config.toml"), "--out", str(tmp_path / "half"), "--no-report"]
    assert main(["fit", twice, *words, "--split", "0.5"]) == 0
    assert trained_on(tmp_path / "half") == trained_on(run)
    assert "valid_log_likelihood" in (tmp_path / "half" / "metrics.jsonl").read_text()
    assert "valid_log_likelihood" not in (run / "metrics.jsonl").read_text()


def test_a_valid_file_is_watched_and_never_trained_on(demo, run, tmp_path):
    data = str(demo / "test.csv")
    words = ["--config", str(run / "config.toml"), "--no-report"]
    words += ["--out", str(tmp_path / "watched")]
    assert main(["fit", data, *words, "--valid", data]) == 0
    assert trained_on(tmp_path / "watched") == trained_on(run)
    assert "valid_log_likelihood" in (tmp_path / "watched" / "metrics.jsonl").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--system", "GPT"], "there is no system 'GPT': choose one of comotion, motion, NODE"),
        (["--recipe", "long"], "there is no recipe 'long': choose one of paper, short"),
        (["--set", "size=3"], "--set size=3: write PART=VALUE, where PART is one of name, "),
        (["--set", "order"], "--set order: write PART=VALUE"),
        (["--set", "kernal=se"], "write PART=VALUE (did you mean kernel?), where PART is one of"),
        (["--set", "order=3"], "system: order: 3 is not one of 1, 2"),
        (["--set", "inducing_pair=ten"], "system: inducing_pair: expected int, got 'ten'"),
        (["--split", "0"], "--split 0 leaves nothing to train on; give a share above 0, up to 1"),
        (["--split", "1.5"], "--split 1.5 leaves nothing to train on"),
        (["--split", "0.5", "--valid", "v.csv"], "--valid and --split both say what to hold out"),
        (["--valid", "v.csv"], "v.csv does not exist: check the path."),
        (["--config", "none.toml"], "none.toml: not a readable TOML file"),
        (["--resume"], "there is no run to resume in this folder; leave --resume out"),
        (["--system", "I-GPODE", "--config", "c.toml"], "--system and c.toml both name a system"),
    ],
)
def test_impossible_wishes_are_refused_in_one_sentence(words, sentence, demo, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(["fit", str(demo / "test.csv"), "--out", str(out), *words]) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith("comotion: ")
    assert sentence in stderr
    assert stderr.count("\n") == 1
    assert not out.exists()


def test_a_folder_that_cannot_be_made_is_told_in_one_sentence(demo, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    words = ["--config", str(demo / "config.toml"), "--out", str(tmp_path / "file" / "run")]
    assert main(["fit", str(demo / "test.csv"), *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"comotion: {tmp_path / 'file'}")
    assert "Not a directory; check the path and its permissions" in err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("order=2", 2),
        ("radius=2.5", 2.5),
        ("radius=inf", float("inf")),
        ("kernel=matern52", "matern52"),
        ("kernel='se'", "se"),
        ("hidden_velocity=true", True),
        ("hidden_velocity = False", False),
    ],
)
def test_values_of_parts_are_numbers_truths_or_words(text, value):
    name, parsed = parse_part(text)
    assert name == text.split("=")[0].strip()
    assert parsed == value
    assert type(parsed) is type(value)


def test_a_part_must_be_one_there_is():
    with pytest.raises(BadInput, match="where PART is one of name, function, who"):
        parse_part("colour=blue")
