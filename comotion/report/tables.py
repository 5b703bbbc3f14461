"""One table, four faces: terminal, Markdown, CSV and LaTeX."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import rich.table
from rich.text import Text

Measured = tuple[float, float]  # mean and standard deviation over runs
Cell = str | float | Measured | None
TOO_LONG = 1e6
LATEX = {"−": "$-$", "–": "--", "≠": r"$\neq$", "±": r"$\pm$", "…": r"\dots{}"}
"""What pdflatex does not read as it is."""


@dataclass(frozen=True)
class Column:
    """A heading, how its numbers are written, and which way they improve (None: neither)."""

    name: str
    digits: int = 2
    better: Literal["lower", "higher"] | None = None

    def write(self, cell: Cell, between: str = " ± ") -> str:
        if cell is None:
            return "–"
        if isinstance(cell, str):
            return cell
        if isinstance(cell, tuple):
            return between.join(self.write(number) for number in cell)
        if abs(cell) >= TOO_LONG and math.isfinite(cell):
            return f"{cell:.0e}"
        return f"{cell:z.{self.digits}f}" if math.isfinite(cell) else "–"


@dataclass(frozen=True)
class Table:
    """Rows of cells; the best cell of a column is bold, within rows whose `group` cell is equal.

    Rows whose number is in `apart` are there for comparison and never bold. Notes are printed
    below where the format has room for words.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    group: str | None = None
    notes: tuple[str, ...] = ()
    apart: frozenset[int] = frozenset()

    def to_rich(self) -> rich.table.Table:
        table = rich.table.Table(
            title=self.title,
            title_justify="left",
            box=None,
            pad_edge=False,
            caption="\n".join(self.notes) or None,
            caption_justify="left",
        )
        for k, column in enumerate(self.columns):
            table.add_column(column.name, justify="left" if self.is_text(k) else "right")
        for r, written in enumerate(self.written()):
            bold = ["bold" if self.is_best(r, k) else "" for k in self._indices]
            table.add_row(*map(Text, written, bold))
        return table

    def to_markdown(self) -> str:
        rules = [":--" if self.is_text(k) else "--:" for k in range(len(self.columns))]
        body = [
            [f"**{text}**" if self.is_best(r, k) else text for k, text in enumerate(written)]
            for r, written in enumerate(self.written())
        ]
        lines = [[column.name for column in self.columns], rules, *body]
        table = [f"| {' | '.join(_escaped(line, '|'))} |" for line in lines]
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([*table, *notes]) + "\n"

    def to_csv(self) -> str:
        """Full precision; a measured column becomes two, the second named "… sd"."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        measured = [any(isinstance(row[k], tuple) for row in self.rows) for k in self._indices]
        writer.writerow(
            name
            for column, two in zip(self.columns, measured, strict=True)
            for name in ([column.name, f"{column.name} sd"] if two else [column.name])
        )
        for row in self.rows:
            writer.writerow(
                value for cell, two in zip(row, measured, strict=True) for value in _flat(cell, two)
            )
        return out.getvalue()

    def to_latex(self) -> str:
        """A `tabular` for the booktabs package; what the numbers mean is in comments above it."""
        notes = [f"% {_latex(note)}" for note in self.notes]
        layout = "".join("l" if self.is_text(k) else "r" for k in self._indices)
        head = " & ".join(_latex(column.name) for column in self.columns)
        lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        for r in range(len(self.rows)):
            if r and self._group_of(r) != self._group_of(r - 1):
                lines.append(r"\midrule")
            lines.append(" & ".join(self._latex_cell(r, k) for k in self._indices) + r" \\")
        return "\n".join([*notes, *lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def is_best(self, r: int, k: int) -> bool:
        """Whether the cell has the best mean of its column within its group of several rows."""
        better, own = self.columns[k].better, _mean(self.rows[r][k])
        if better is None or own is None or r in self.apart:
            return False
        rivals = [
            value
            for s, row in enumerate(self.rows)
            if s not in self.apart
            and self._group_of(s) == self._group_of(r)
            and (value := _mean(row[k])) is not None
        ]
        return len(rivals) > 1 and own == (min(rivals) if better == "lower" else max(rivals))

    @property
    def _indices(self) -> range:
        return range(len(self.columns))

    def _group_of(self, r: int) -> Cell:
        if self.group is None:
            return None
        return self.rows[r][[column.name for column in self.columns].index(self.group)]

    def is_text(self, k: int) -> bool:
        return all(isinstance(row[k], str) for row in self.rows)

    def written(self) -> list[list[str]]:
        return [
            [column.write(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def _latex_cell(self, r: int, k: int) -> str:
        cell = self.rows[r][k]
        if isinstance(cell, str) or cell is None:
            return _latex(self.columns[k].write(cell))
        number = self.columns[k].write(cell, between=r" \pm ")
        return rf"$\mathbf{{{number}}}$" if self.is_best(r, k) else f"${number}$"


def _mean(cell: Cell) -> float | None:
    if isinstance(cell, tuple):
        return cell[0]
    return None if isinstance(cell, str) else cell


def _flat(cell: Cell, two: bool) -> list[Cell]:
    if not two:
        return [cell]
    return list(cell) if isinstance(cell, tuple) else [cell, None]


def _escaped(line: Sequence[str], mark: str) -> list[str]:
    return [text.replace(mark, "\\" + mark) for text in line]


def _latex(text: str) -> str:
    for mark in "&%_#$":
        text = text.replace(mark, "\\" + mark)
    for mark, written in LATEX.items():
        text = text.replace(mark, written)
    return text
