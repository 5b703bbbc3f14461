import importlib.metadata
import json
import tempfile

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


def test_what_is_wrong_is_told_in_words_and_by_the_exit_code(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert main(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["healthy"]
    assert told["failures"]["files"].startswith("FileNotFoundError: ")
    assert told["failures"]["integration"] is None
    assert told["facts"]["jax"] == importlib.metadata.version("jax")
