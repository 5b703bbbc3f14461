"""What every command that reads a table takes, so that tables can stay as they are."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from comotion.errors import BadInput

if TYPE_CHECKING:
    from comotion.data import Trajectories
    from comotion.data.wishes import Wishes


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    columns: Annotated[str, arg(metavar="PART=COLUMN,…", help_behavior_hint="")] = ""
    """which columns hold what, such as object=id,time=frame; usual names are recognised"""
    fps: Annotated[float | None, arg(metavar="NUMBER", help_behavior_hint="")] = None
    """frames a second, if times are frame numbers"""
    unit: Annotated[str, arg(metavar="UNIT", help_behavior_hint="")] = ""
    """what positions are measured in, such as cm; a heading such as "x (cm)" says it, too"""
    ignore: Annotated[str, arg(metavar="COLUMN,…", help_behavior_hint="")] = ""
    """columns not to look at"""
    keep_jumps: Annotated[bool, arg(help_behavior_hint="")] = False
    """leave steps alone that are too fast to be true"""

    @property
    def wishes(self) -> "Wishes":
        from comotion.data.wishes import Wishes

        return Wishes(
            columns=parse_columns(self.columns),
            fps=self.fps,
            ignore=words(self.ignore),
            keep_jumps=self.keep_jumps,
            unit=self.unit,
        )

    def read(self, path: Path) -> "Trajectories":
        """The trajectories in a file or folder; how it was understood is told as notes."""
        from comotion.cli.output import note
        from comotion.data.reading import understand

        reading = understand(path, self.wishes)
        for sentence in reading.notes:
            note(f"note: {sentence}")
        return reading.data


def parse_columns(text: str) -> dict[str, str] | list[str]:
    """`object=id,time=frame`, or the names of all columns in order for a file without a header."""
    pieces = words(text)
    if not any("=" in piece for piece in pieces):
        return pieces
    pairs = [piece.partition("=") for piece in pieces]
    if not all(part and equals and column for part, equals, column in pairs):
        raise BadInput(
            f"--columns {text}: write PART=COLUMN with commas between, such as object=id,time=frame"
        )
    return {part.strip(): column.strip() for part, _, column in pairs}


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
