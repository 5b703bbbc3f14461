"""Types of the page's modules, as their comments declare them."""

import shutil
import subprocess
from pathlib import Path

import pytest

import comotion.report.explorer as explorer

ROOM = Path(explorer.__file__).parent
SETTINGS = "jsconfig.json"
FETCHED = ("--yes", "--fetch-retries=0", "--fetch-timeout=20000", "--package=typescript@7.0.2")


def compiled(room: Path) -> subprocess.CompletedProcess[str]:
    """By the TypeScript compiler on this computer, or by one that npm fetches and keeps."""
    own, npx = shutil.which("tsc"), shutil.which("npx")
    if own is None and npx is None:
        pytest.skip("there is neither a TypeScript compiler nor npm")
    words = [own] if own is not None else [str(npx), *FETCHED, "tsc"]
    settings = str(room / SETTINGS)
    done = subprocess.run([*words, "--project", settings], capture_output=True, text=True)
    if "npm error" in done.stderr:
        pytest.skip("npm cannot fetch a TypeScript compiler")
    return done


def test_types_hold_and_are_looked_at(tmp_path):
    done = compiled(ROOM)
    assert done.returncode == 0, done.stdout
    for folder in ("engine", "page"):
        shutil.copytree(ROOM / folder, tmp_path / folder)
    shutil.copy(ROOM / SETTINGS, tmp_path)
    wrong = tmp_path / "engine" / "normal.js"
    wrong.write_text(wrong.read_text() + '\nnormalsOf("many");\n')
    refused = compiled(tmp_path)
    assert refused.returncode != 0
    assert "normal.js" in refused.stdout
