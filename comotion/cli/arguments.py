"""From the words of a command line to a dataclass of options, with mistakes told in a sentence."""

import contextlib
import inspect
import io
import re
import textwrap
from collections.abc import Sequence
from typing import TypeVar

import tyro
from tyro.conf import DisallowNone, FlagCreatePairsOff

from comotion.errors import BadInput

Options = TypeVar("Options")

WIDTH = 78
SIDES, RULES = "│ ", set("─╭╮╰╯")


def parse(kind: type[Options], name: str, words: Sequence[str]) -> Options | None:
    """The options of a command; None if its help was asked for and printed."""
    help_, complaint = _page(), _page()
    try:
        with contextlib.redirect_stdout(help_), contextlib.redirect_stderr(complaint):
            return tyro.cli(
                kind,
                prog=f"comotion {name}",
                description=_description(inspect.cleandoc(kind.__doc__ or "")),
                args=list(words),
                config=(FlagCreatePairsOff, DisallowNone),
            )
    except SystemExit as exit_:
        if exit_.code == 0:
            print(re.sub(r"\n{3,}", "\n\n", _text(help_)), end="")
            return None
        sentence = _sentence(_text(complaint))
        raise BadInput(f"{sentence}; see `comotion {name} --help`") from None


def _page() -> io.TextIOWrapper:
    """Something to write on; the parser draws its frames according to the encoding."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _text(page: io.TextIOWrapper) -> str:
    page.seek(0)
    return page.read()


def _description(text: str) -> str:
    """Paragraphs at reading width; the parser would join lines that are not indented."""
    paragraphs = [
        paragraph if "\n  " in paragraph else textwrap.fill(paragraph, WIDTH)
        for paragraph in text.split("\n\n")
    ]
    return textwrap.indent("\n\n".join(paragraphs), "  ")


def _sentence(box: str) -> str:
    """The parser complains in a framed box of several parts; the first says what is wrong."""
    parts: list[list[str]] = [[]]
    for line in box.splitlines()[1:]:
        text = line.strip(SIDES)
        if text and set(text) <= RULES:
            parts.append([])
        elif text:
            parts[-1].append(text)
    message = " ".join(parts[0]).rstrip(".:")
    advice = " ".join(parts[1]) if len(parts) > 1 else ""
    wrong_value = re.match(r"Error parsing (--\S+): .*'(.*?)'", message)
    wanted = re.match(r"Argument helptext: (--\S+) (\S+)", advice)
    if wrong_value and wanted:
        return f"{wrong_value[1]} wants {wanted[2]}, not '{wrong_value[2]}'"
    meant = re.match(r"Perhaps you meant: (--\S+)", advice)
    return message + (f" (did you mean {meant[1]}?)" if meant else "")
