"""Several JavaScript modules as one script: a file opened from a disk may not import others.

Each module becomes a function that is called once and gives what it exports, so that the names
inside it stay its own. The modules import by name and export declarations, nothing else.
"""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath

ROOT = "comotion.report.explorer"
IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "(?P<path>[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let) (\w+))", re.MULTILINE)


def joined(entry: str, call: str) -> str:
    """The module `entry` with all it imports, then `call`, which may use what `entry` exports."""
    wrapped: dict[str, str] = {}
    _add(entry, files(ROOT), wrapped)
    exported = ", ".join(EXPORT.findall(_source(files(ROOT), entry)))
    parts = [*wrapped.values(), f"const {{ {exported} }} = {_name(entry)};", call]
    return '"use strict";\n' + "\n".join(parts) + "\n"


def _add(path: str, root: Traversable, wrapped: dict[str, str]) -> None:
    """Modules that are imported come first; each once."""
    source = _source(root, path)
    for found in IMPORT.finditer(source):
        needed = normpath(join(dirname(path), found["path"]))
        if needed not in wrapped:
            _add(needed, root, wrapped)

    def as_constants(found: re.Match[str]) -> str:
        names = found["names"].replace(" as ", ": ")
        return f"const {{{names}}} = {_name(normpath(join(dirname(path), found['path'])))};\n"

    body = EXPORT.sub("", IMPORT.sub(as_constants, source))
    assert not re.search(r"^(import|export)\b", body, re.MULTILINE), path
    exported = ", ".join(EXPORT.findall(source))
    wrapped[path] = f"const {_name(path)} = (() => {{\n{body}return {{ {exported} }};\n}})();"


def _source(root: Traversable, path: str) -> str:
    return root.joinpath(path).read_text(encoding="utf-8")


def _name(path: str) -> str:
    return re.sub(r"\W", "_", path.removesuffix(".js"))
