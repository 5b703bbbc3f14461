import webbrowser

import pytest

from comotion.cli import main


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_the_folder_of_a_run_alone_is_enough(demo, tmp_path, opened, capsys):
    for name in ("model.safetensors", "test.csv"):
        (tmp_path / name).write_bytes((demo / name).read_bytes())
    assert main(["explore", str(tmp_path), "--draws", "2", "--frames", "10"]) == 0
    page = tmp_path / "explore.html"
    assert opened == [page.as_uri()]
    assert f"wrote {page} (" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_file_that_was_asked_for_is_written_and_not_opened(demo, tmp_path, opened):
    out = tmp_path / "scene.html"
    words = [str(demo), str(demo / "test.csv"), "--draws", "2", "--frames", "10", "--out", str(out)]
    assert main(["explore", *words]) == 0
    assert out.is_file()
    assert opened == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{demo}", "--out", "scene.pdf"], "give a name that ends in .html"),
        (["{demo}", "--draws", "0", "--out", "{tmp}/a.html"], "draws=0 leaves nothing to explore"),
        (["{tmp}/model.safetensors", "--out", "{tmp}/a.html"], "there is no such file"),
    ],
)
def test_mistakes_are_told_in_a_sentence(words, sentence, demo, tmp_path, capsys):
    words = [word.format(demo=demo, tmp=tmp_path) for word in words]
    assert main(["explore", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_run_without_recordings_asks_for_some(demo, tmp_path, capsys):
    (tmp_path / "model.safetensors").write_bytes((demo / "model.safetensors").read_bytes())
    assert main(["explore", str(tmp_path)]) == 2
    assert "has kept no recordings; give a data file after it" in capsys.readouterr().err
