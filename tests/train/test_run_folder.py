"""The folder of a run: new, resumable, finished, or refused with what to do; nothing is lost."""

import errno
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from comotion.backend import disk
from comotion.config import RunConfig, read_toml
from comotion.data import Trajectories
from comotion.errors import BadInput
from comotion.train.folder import RunFolder
from comotion.train.plan import plan

CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def planned():
    data = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(5, 8, 2, 2)))
    return plan(data, valid=None, hold_out=0.2, system="comotion", parts={})


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    return RunFolder(tmp_path / "run.1")


@pytest.fixture
def begin(folder, planned):
    """Begins a run in the folder and leaves it again, as a fit that learns nothing."""

    def begun(seed: int = 0, **options) -> str:
        with folder.running(RunConfig(seed=seed), planned, **options) as told:
            return told

    return begun


def content(path: Path) -> dict[str, bytes]:
    return {str(f.relative_to(path)): f.read_bytes() for f in path.rglob("*") if f.is_file()}


def leave(folder: RunFolder, *names: str) -> None:
    for name in names:
        file = folder.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"something of value")


def test_a_run_that_is_in_the_folder_already_is_moved_aside(folder, begin, tmp_path):
    assert begin() == ""
    moved = tmp_path / "run.1-1"
    sentence = f"{folder.path} was there already: it is kept as {moved} (overwrite replaces it)"
    assert begin(seed=1) == sentence
    assert [read_toml(path / "config.toml").seed for path in (moved, folder.path)] == [0, 1]
    assert begin(seed=2, overwrite=True) == ""
    assert sorted(tmp_path.iterdir()) == [folder.path, moved]
    assert not list(tmp_path.rglob(".running")), "nothing is at work there any more"


@pytest.mark.parametrize(
    "left", ["checkpoint/state.safetensors", "model.safetensors", "metrics.jsonl", "config.toml"]
)
def test_whatever_a_run_has_left_is_moved_aside_and_never_gone_on_with(
    folder, begin, left, tmp_path
):
    leave(folder, left)
    before = content(folder.path)
    assert "it is kept as" in begin()
    assert content(tmp_path / "run.1-1") == before
    assert not folder.state.exists()
    assert not folder.model.exists()


@pytest.mark.parametrize("left", ["checkpoint/state.safetensors", "model.safetensors"])
def test_a_run_without_its_config_is_not_resumed(folder, begin, left):
    leave(folder, left)
    before = content(folder.path)
    with pytest.raises(BadInput, match=r"without its config\.toml .* cannot be resumed; leave res"):
        begin(resume=True)
    assert content(folder.path) == before


@pytest.mark.parametrize("text", ["", "[system", "\0"])
def test_a_damaged_config_is_not_resumed_and_says_where(folder, begin, text):
    begin()
    folder.config.write_text(text)
    with pytest.raises(BadInput, match=r"config\.toml"):
        begin(resume=True)
    assert folder.config.read_text() == text


def test_a_damaged_note_of_what_was_held_out_is_named(folder, begin):
    begin()
    assert folder.was_held_out()[0] == 0.2
    (folder.path / "data.toml").write_text("")
    with pytest.raises(BadInput, match=r"data\.toml cannot be read .* leave resume out"):
        folder.was_held_out()


def test_resuming_other_data_leaves_what_was_held_out_alone(folder, begin, planned):
    begin()
    before = folder.held_out.read_bytes()
    other = Trajectories.from_arrays(np.random.default_rng(1).normal(size=(9, 8, 2, 2)))
    others = plan(other, valid=None, hold_out=0.5, system="comotion", parts={})
    with folder.running(RunConfig(), others, resume=True):
        assert folder.held_out.read_bytes() == before
    assert folder.was_held_out()[0] == 0.2


def test_a_file_is_no_folder(folder, begin):
    folder.path.write_text("mine")
    with pytest.raises(BadInput, match="is a file; give the name of a folder"):
        begin()
    assert folder.path.read_text() == "mine"


def test_the_folder_one_is_in_is_not_moved_away(folder, begin, monkeypatch):
    begin()
    monkeypatch.chdir(folder.path)
    with pytest.raises(BadInput, match="because you are in it; give another folder"):
        begin()
    assert read_toml(folder.config) == RunConfig()


def test_two_fits_do_not_share_a_folder(folder, begin, planned):
    with (
        folder.running(RunConfig(), planned),
        pytest.raises(BadInput, match="another fit is at work in this folder; wait for it"),
    ):
        begin(seed=1)
    assert read_toml(folder.config).seed == 0


def hold(path: Path, ready) -> None:
    assert disk.claim(path / ".running") is not None
    ready.set()
    signal.pause()


def test_a_fit_that_was_killed_does_not_keep_its_folder(folder, begin):
    ready = CONTEXT.Event()
    other = CONTEXT.Process(target=hold, args=(folder.path, ready))
    other.start()
    assert ready.wait(60)
    with pytest.raises(BadInput, match="another fit is at work"):
        begin()
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join(60)
    assert begin() == ""


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("function", ["open", "replace", "rename"])
def test_a_disk_that_fails_while_a_run_begins_loses_nothing(
    folder, begin, monkeypatch, reason, function, tmp_path
):
    """At each of its writes in turn; what was there is there, here or aside, and whole."""
    begin()
    leave(folder, "model.safetensors", "checkpoint/state.safetensors")
    before = content(folder.path)
    real, calls, at, failed, said = getattr(os, function), 0, 0, True, []

    def failing(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(reason, os.strerror(reason), str(arguments[0]))
        return real(*arguments, **options)

    while failed:
        calls, at = 0, at + 1
        with monkeypatch.context() as patch:
            patch.setattr(os, function, failing)
            try:
                begin(seed=1)
                failed = False
            except BadInput as error:
                said.append(str(error))
        kept = [content(path) for path in tmp_path.iterdir()]
        assert any(before.items() <= found.items() for found in kept)
        assert not list(tmp_path.rglob(".running"))
        configs = [path / "config.toml" for path in tmp_path.iterdir()]
        assert all(read_toml(config) for config in configs if config.exists())
    assert said, "it has never failed"
    odd = [sentence for sentence in said if os.strerror(reason) not in sentence]
    assert not odd


def test_a_folder_that_is_deleted_meanwhile_is_made_again(folder, planned):
    with folder.running(RunConfig(), planned):
        for file in folder.path.iterdir():
            file.unlink()
        folder.path.rmdir()
        folder.log({"iteration": 1})
    assert folder.metrics.read_text() == '{"iteration": 1}\n'
