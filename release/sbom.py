"""What a release is made of, as CycloneDX 1.5: `python release/sbom.py > comotion.cdx.json`.

It lists what is installed here and asked for by comotion itself, directly or not, with versions and
licences; `--extras data,parquet` adds what those extras ask for.
"""

import argparse
import json
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "comotion"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="names with commas")
    extras = frozenset(filter(None, parser.parse_args().extras.split(",")))
    json.dump(bill(extras), sys.stdout, indent=2)


def bill(extras: frozenset[str] = frozenset()) -> dict[str, Any]:
    needs = _closure(ROOT, extras)
    root = needs.pop(ROOT)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", **_component(root[0])}},
        "components": [
            {"type": "library", **_component(found)} for _, (found, _) in sorted(needs.items())
        ],
        "dependencies": [
            {"ref": _reference(found), "dependsOn": [_reference(needs[n][0]) for n in sorted(asks)]}
            for found, asks in (root, *(entry for _, entry in sorted(needs.items())))
        ],
    }


def _closure(name: str, extras: frozenset[str]) -> dict[str, tuple[Distribution, frozenset[str]]]:
    """Every distribution asked for, with the names it asks for."""
    found: dict[str, tuple[Distribution, frozenset[str]]] = {}
    waiting = [(name, extras)]
    done: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in done:
            continue
        done.add((name, extras))
        try:
            one = distribution(name)
        except PackageNotFoundError:
            sys.exit(f"{name} is not installed: install comotion with the extras that are listed")
        asked = [Requirement(text) for text in one.requires or ()]
        asked = [r for r in asked if _holds(r, extras)]
        names = {canonicalize_name(r.name) for r in asked} - {canonicalize_name(name)}
        before = found.get(name, (one, frozenset()))[1]
        found[name] = (one, before | names)
        waiting += [(canonicalize_name(r.name), frozenset(r.extras)) for r in asked]
    return found


def _holds(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": e}) for e in (*extras, ""))


def _component(found: Distribution) -> dict[str, Any]:
    about = found.metadata
    licence = about.get("License-Expression") or about.get("License") or ""
    told = {"licenses": [{"license": {"name": licence.splitlines()[0]}}]} if licence else {}
    return {
        "bom-ref": _reference(found),
        "name": canonicalize_name(about["Name"]),
        "version": found.version,
        "purl": _reference(found),
        **told,
    }


def _reference(found: Distribution) -> str:
    return f"pkg:pypi/{canonicalize_name(found.metadata['Name'])}@{found.version}"


if __name__ == "__main__":
    main()
