"""Docs that cannot lie: what they name must exist."""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import comotion
from comotion.cli import COMMANDS
from comotion.jobs.rows import RunRows
from comotion.reproduce import found, labels, table
from comotion.reproduce.runs import OURS, TRUE_DYNAMICS
from comotion.systems import DEFAULT

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_every_command_in_the_readme_exists():
    used = set(re.findall(r"^ {4}comotion (\w+)", README, flags=re.MULTILINE))
    assert used
    assert used <= set(COMMANDS)


def test_the_readme_is_short_and_its_pictures_exist():
    assert len(README.split()) < 600
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", README)
    assert len(pictures) >= 2
    links = [link for link in re.findall(r"\]\((.*?)\)", README) if "://" not in link]
    for place in (*pictures, *links):
        assert (ROOT / place).is_file(), place


PAGES = sorted((ROOT / "docs").rglob("*.md"))
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials" and page.stem != "index"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert "://" in link or (page.parent / link).exists(), link


def test_every_page_is_in_one_table_of_contents():
    listed = [ROOT / "docs" / "index.md"]
    for page in PAGES:
        for block in re.findall(r"```{toctree}\n(.*?)```", page.read_text(), flags=re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed += [(page.parent / f"{name}.md").resolve() for name in names]
    listed = [page for page in listed if page.name != "commands.md"]  # made when the site is built
    pages = [page for page in PAGES if page.name != "commands.md"]
    assert sorted(listed) == pages


def test_every_script_and_every_file_of_rows_that_reviewers_are_sent_to_exists():
    page = (ROOT / "docs" / "reviewers.md").read_text()
    scripts, rows = re.findall(r"(\w+\.py)", page), re.findall(r"`(\w+\.jsonl)`", page)
    assert len(scripts) > 8
    for name in scripts:
        assert (ROOT / "benchmarks" / name).is_file() or (ROOT / "tests" / name).is_file(), name
    for name in rows:
        assert (ROOT / "benchmarks" / "results" / name).is_file(), name


def test_every_make_target_in_the_readme_exists():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"make (\w+)", README)) <= targets


def test_the_ten_lines_use_only_public_names_and_real_parts():
    code = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)[0]
    tree = ast.parse(code)
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "cm"
    }
    assert names <= set(comotion.__all__)
    fit = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "cm.fit"
    )
    given = {str(keyword.arg): ast.unparse(keyword.value) for keyword in fit.keywords}
    for own in ("valid", "seed", "out"):
        given.pop(own, None)
    parts = {name: ast.literal_eval(value) for name, value in given.items()}
    comotion.system(parts.pop("system", DEFAULT), **parts)


@pytest.mark.parametrize("page", ["architecture.md", "extending.md", "notation.md"])
def test_every_module_or_class_the_docs_name_exists(page):
    text = (ROOT / "docs" / page).read_text()
    source = "\n".join(path.read_text() for path in (ROOT / "comotion").rglob("*.py"))
    for name in re.findall(r"`([A-Z]\w+)(?:\.\w+)?`", text):
        assert re.search(rf"\b{name}\b", source), f"{page} names {name}, which is nowhere"


def test_every_attribute_the_notation_names_is_one_of_its_class():
    found, bases = {}, {}
    for path in (ROOT / "comotion").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                own = {getattr(getattr(part, "target", part), "id", "") for part in node.body}
                own |= {getattr(part, "name", "") for part in node.body}
                found.setdefault(node.name, set()).update(own)
                bases.setdefault(node.name, set()).update(map(ast.unparse, node.bases))
    named = re.findall(r"`([A-Z]\w+)\.(\w+)", (ROOT / "docs" / "notation.md").read_text())
    assert len(named) > 20
    for kind, attribute in named:
        line = [kind, *bases[kind]]
        assert any(attribute in found.get(each, ()) for each in line), f"{kind}.{attribute}"


def test_the_map_lists_every_room():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = {room.strip() for layer in layers for room in layer.split("|")}
    table = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE)
    assert rooms == {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_page_of_results_is_what_its_rows_say(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    rows = RunRows(ROOT / "benchmarks" / "results" / "reproduce.jsonl").read()
    page = importlib.import_module("tables").page(rows)
    assert page == (ROOT / "docs/results.md").read_text(), "run python benchmarks/tables.py"
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", page):
        assert (ROOT / "docs" / picture).exists(), picture


def test_nothing_on_the_page_of_results_is_ahead_of_the_floor_by_more_than_it_says():
    """The floor knows the law and no better start than its own search finds: ours may tie it."""
    page = (ROOT / "docs/results.md").read_text()
    said = re.search(r"is anything ahead of it by more than (0\.\d+) of skill", page)
    assert said is not None
    rows = RunRows(ROOT / "benchmarks" / "results" / "reproduce.jsonl").read()
    shown = {
        row["id"]: row
        for label in labels()
        for line in found(table(label), rows, "fast", ["quick"]).lines
        for row in line.rows
    }
    floors = {
        str(row["run"]["scene"]): row["by_lead"]["test"]
        for row in shown.values()
        if row["run"]["name"] == TRUE_DYNAMICS
    }
    assert len(floors) > 5
    most = 0.0
    for row in shown.values():
        floor, made = floors[str(row["run"]["scene"])], row["by_lead"]["test"]
        future = np.array(made["lead"]) > 0
        for who in ("model", "constant velocity"):
            ahead = np.subtract(made[who]["skill_crps"], floor["model"]["skill_crps"])[future].max()
            most = max(most, ahead)
            known = (row["run"]["name"], row["run"]["scene"], who)
            assert ahead <= (0.02 if row["run"]["name"] == OURS else 0.0), known
    assert most == pytest.approx(float(said[1]), abs=5.1e-4)


def test_every_room_is_in_every_contract_about_who_speaks_what():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers, *others = settings["tool"]["importlinter"]["contracts"]
    rooms = {room.strip() for layer in layers["layers"] for room in layer.split("|")}
    speakers = [contract for contract in others if contract["name"].startswith("only ")]
    assert len(speakers) == 4
    for contract in speakers:
        silent = {name.removeprefix("comotion.") for name in contract["source_modules"]}
        spoken = re.findall(r"\w+", contract["name"].split("speak")[0].removeprefix("only"))
        assert rooms - silent == set(spoken) - {"and"}, contract["name"]


def test_no_two_classes_share_a_name():
    """But for `Options`, which every command has in its own file of `cli`."""
    homes: dict[str, list[str]] = {}
    for file in sorted((ROOT / "comotion").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    options = homes.pop("Options")
    assert all(home.startswith("comotion/cli/") for home in options)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}
