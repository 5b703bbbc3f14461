"""The package as people install it: built, checked, and run in an empty environment."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LARGEST_INSTALL = 1e9


def test_every_package_that_is_imported_is_declared():
    declared = {name.split(">")[0].split("=")[0].split("[")[0] for name in SETTINGS["dependencies"]}
    homes = packages_distributions()
    known = {name: homes[name][0].lower() for name in ("PIL", "docstring_parser", "scipy", "numpy")}
    known |= {
        name: homes[name][0].lower()
        for name in ("matplotlib", "narwhals", "pandas", "threadpoolctl")
    }
    source = "\n".join(path.read_text() for path in (ROOT / "comotion").rglob("*.py"))
    for name, distribution in known.items():
        assert f"import {name}" in source or f"from {name}" in source, name
        assert distribution.replace("_", "-") in declared, distribution


def test_types_and_authors_are_declared():
    assert (ROOT / "comotion" / "py.typed").is_file()
    assert SETTINGS["authors"]
    assert "Typing :: Typed" in SETTINGS["classifiers"]


def run(*words: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_wheel_is_whole_and_runs_in_an_empty_environment_below_a_gigabyte(tmp_path):
    run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,), (sdist,) = ((tmp_path / "dist").glob(f"*.{end}") for end in ("whl", "tar.gz"))
    told = run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=ROOT)
    assert told.count("PASSED") == 2
    names = set(zipfile.ZipFile(wheel).namelist())
    for part in ("py.typed", "report/page.css", "cli/demo.py"):
        assert f"comotion/{part}" in names
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/tests/test_package.py") for name in archive.getnames())
    run(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    python = tmp_path / "empty" / "bin" / "python"
    versions = ("--constraint", ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", *versions, wheel, cwd=tmp_path)
    # What is unpacked; byte code, which Python makes of it, is 170 MB more.
    files = [file for file in (tmp_path / "empty").rglob("*") if file.suffix != ".pyc"]
    size = sum(file.stat().st_size for file in files if file.is_file())
    assert size < LARGEST_INSTALL, f"{size / 1e6:.0f} MB"
    command = tmp_path / "empty" / "bin" / "comotion"
    assert "all is well" in run(command, "doctor", cwd=tmp_path)
    run(command, "demo", "--quick", "--out", "demo", cwd=tmp_path)
    assert (tmp_path / "demo" / "report.html").is_file()
