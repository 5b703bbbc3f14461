import importlib.metadata
import json
import os
import tempfile

import jax

from comotion.cli import main


def test_a_healthy_computer_passes_every_check(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"jax              {importlib.metadata.version('jax')}" in lines
    assert [line for line in lines if line.endswith("works")] == [
        "Gaussian process works",
        "integration      works",
        "files            works",
    ]
    assert lines[-1] == "all is well"
    shown = next(line for line in lines if line.startswith("devices"))
    assert all(str(device) in shown for device in jax.devices())


def test_what_is_wrong_is_told_in_words_and_by_the_exit_code(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert main(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["healthy"]
    assert told["failures"]["files"].startswith("FileNotFoundError: ")
    assert told["failures"]["integration"] is None
    assert told["facts"]["jax"] == importlib.metadata.version("jax")


def test_the_devices_are_those_that_a_fit_would_use(comotion, environment):
    environment.pop("JAX_NUM_CPU_DEVICES", None)
    told = comotion("doctor")
    assert told.returncode == 0
    cores = min(len(os.sched_getaffinity(0)), 8)
    assert f"cpu:{cores - 1} (a fit shares its work among them)" in told.stdout
    assert f"cpu:{cores}" not in told.stdout
