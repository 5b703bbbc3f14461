"""The reference of the command line: every page is what `comotion COMMAND --help` prints."""

# Sphinx is an extra:
# pyright: reportMissingImports=false

import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

from comotion.cli import COMMANDS

HEAD = """# Commands

What `comotion --help` and the help of every command print.

```text
{about}
```
"""


def help_text(*words: str) -> str:
    command = [sys.executable, "-m", "comotion", *words, "--help"]
    surroundings = {"COLUMNS": "96", "NO_COLOR": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings, check=True)
    return done.stdout.strip()


def write_page(app: Sphinx) -> None:
    page = [HEAD.format(about=help_text())]
    page += [f"## {name}\n\n```text\n{help_text(name)}\n```\n" for name in COMMANDS]
    file, text = Path(app.srcdir) / "reference" / "commands.md", "\n".join(page)
    if not file.is_file() or file.read_text() != text:  # so that nothing is built again in vain
        file.write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
