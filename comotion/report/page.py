"""A report in one file: scores, pictures and settings, readable anywhere and without a network."""

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from comotion.backend.disk import replacing
from comotion.data import BadInput
from comotion.report.explorer import Explorer
from comotion.report.tables import Table

KINDS = {".png": "image/png", ".gif": "image/gif"}


def write_page(
    path: str | Path,
    *,
    title: str,
    figures: Mapping[str, Figure | str | Path],
    details: Mapping[str, Any],
    explorer: Explorer | None = None,
    summary: str = "",
    tables: Sequence[Table] = (),
    notes: Sequence[str] = (),
) -> Path:
    """Write a self-contained HTML page; readers see the whole page or the one before.

    - `figures`: caption → figure, or the path of a PNG or GIF; captions are also the alt texts;
    - `details`: name → value, listed at the end (system, data, seed, versions, …);
    - `explorer`: the fitted model to play with, shown before all else;
    - `summary`: a sentence that says it all, above it; `tables` and `notes` stand below it.
    """
    parts = [
        f"<h1>{escape(title)}</h1>",
        *([f'<p class="summary">{escape(summary)}</p>'] if summary else []),
        *([] if explorer is None else [f'<div class="explorer">{explorer.frame(760)}</div>']),
        *map(_table_part, tables),
        *([f'<p class="note">{"<br>".join(escape(note) for note in notes)}</p>'] if notes else []),
        *(_figure_part(caption, picture) for caption, picture in figures.items()),
        *([_details_part(details)] if details else []),
    ]
    page = PAGE.format(
        title=escape(title),
        css=files("comotion.report").joinpath("page.css").read_text(encoding="utf-8"),
        body="\n".join(parts),
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as whole:
        whole.write_text(page, encoding="utf-8")
    return path


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{css}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def figure_png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def _html_table(table: Table) -> str:
    head = "".join(
        f'<th scope="col"{_number(table, k)}>{escape(column.name)}</th>'
        for k, column in enumerate(table.columns)
    )
    body = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(
            f"<td{_number(table, k)}>{escape(text)}</td>" for k, text in enumerate(row[1:], start=1)
        )
        + "</tr>"
        for row in table.written()
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _table_part(table: Table) -> str:
    return f"<h2>{escape(table.title)}</h2>\n{_html_table(table)}"


def _number(table: Table, k: int) -> str:
    return "" if table.is_text(k) else ' class="number"'


def _figure_part(caption: str, picture: Figure | str | Path) -> str:
    kind, content = _picture(picture)
    width, height = Image.open(io.BytesIO(content)).size
    data = base64.b64encode(content).decode("ascii")
    return (
        f'<figure><img src="data:{kind};base64,{data}" alt="{escape(caption)}" '
        f'width="{width}" height="{height}" loading="lazy">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _picture(picture: Figure | str | Path) -> tuple[str, bytes]:
    if isinstance(picture, Figure):
        return "image/png", figure_png(picture)
    path = Path(picture)
    if path.suffix.lower() not in KINDS or not path.is_file():
        raise BadInput(
            f"{path} is no picture for the page; give a figure, or an existing PNG or GIF."
        )
    return KINDS[path.suffix.lower()], path.read_bytes()


def _details_part(details: Mapping[str, Any]) -> str:
    entries = "\n".join(
        f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>"
        for name, value in details.items()
    )
    return f"<h2>Details</h2>\n<dl>\n{entries}\n</dl>"
