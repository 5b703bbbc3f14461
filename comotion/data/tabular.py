"""One table, long or wide, as trajectories, with notes on what was understood."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from comotion.data import columns, jumps
from comotion.data.assemble import assemble
from comotion.data.cells import DataTable, Source
from comotion.data.checks import KEYS, POSITIONS
from comotion.data.rows import Rows, long_rows, wide_groups, wide_rows
from comotion.data.units import FRAMES, Units, common_ending, common_unit
from comotion.data.wishes import Reading, Wishes
from comotion.errors import BadInput

HEADERLESS = ("time", "object", "x", "y")


def from_table(
    table: DataTable, wishes: Wishes, source: Source, notes: Sequence[str] = ()
) -> Reading:
    rows, told, units = _rows(table, wishes, source)
    data, cells = assemble(rows, source)
    data = replace(data, units=units)
    notes = [*notes, *told]
    if len(data) > len(rows.sequence_names):
        notes.append(
            f"{source.name}: its {len(rows.object_names)} objects are never there together, so it "
            f"is cut into {len(data)} pieces of up to {data.values.shape[1]} frames"
        )
    if wishes.keep_jumps:
        return Reading(data, tuple(notes))
    found = jumps.find_jumps(data)

    def line_of(place: jumps.Place) -> int:
        return source.line(int(rows.row[cells.row_at(place)]))

    word = "row" if source.text is None else "line"
    notes += found.sentences(source.name, word, line_of)
    return Reading(jumps.leave_out(data, found), tuple(notes))


def _rows(table: DataTable, wishes: Wishes, source: Source) -> tuple[Rows, list[str], Units]:
    table = DataTable([column for column in table.columns if column[0] not in wishes.ignore])
    names = table.names
    roles = columns.find_roles(names, wishes.named, wishes.extra, source.name)
    if len(table) == 0:
        raise BadInput(f"{source.name} has no rows: give at least two frames of one object.")
    groups = _side_by_side(roles)
    if groups:
        rows, origin = wide_rows(table, groups, roles, source)
        roles = roles.without({name for group in groups.values() for name in group.values()})
    else:
        rows, origin = long_rows(table, columns.complete(roles, names, source.name), source)
    if wishes.fps is not None:
        if origin:
            raise BadInput(
                f"{source.name} has dates as times, which are seconds already: leave fps out."
            )
        rows = replace(rows, time=rows.time / wishes.fps)
    seconds = bool(origin) or wishes.fps is not None
    units = Units(wishes.unit or _length(roles, groups), _time(roles, seconds))
    return rows, _about_columns(roles, len(groups), origin, wishes, source.name), units


def _side_by_side(roles: columns.Roles) -> dict[str, dict[str, str]]:
    """Columns of each object, where no column holds objects: x_m beside x_f is male and female,
    not metres."""
    if "object" in roles.column or {"x", "y", "z"} & set(roles.column) - set(roles.guessed):
        return {}
    guesses = [roles.column[name] for name in roles.guessed if name not in KEYS]
    groups = wide_groups([*guesses, *roles.unused])
    return groups if len(groups) > 1 or not guesses else {}


def _length(roles: columns.Roles, groups: Mapping[str, Any]) -> str:
    """As the headings of positions say; those of a wide table end with names of objects."""
    positions = [roles.column[name] for name in POSITIONS if name in roles.column]
    return "" if groups else common_unit(positions)


def _time(roles: columns.Roles, seconds: bool) -> str:
    if seconds:
        return "s"
    heading = roles.column.get("time", FRAMES[:-1])  # without one, rows are frames
    return FRAMES if columns.is_frame_number(heading) else common_unit([heading])


def _about_columns(
    roles: columns.Roles, objects: int, origin: str, wishes: Wishes, name: str
) -> list[str]:
    said = [f"{roles.column[part]!r} as {part}" for part in roles.guessed]
    notes = []
    if objects:
        said.append(f"columns of {objects} objects side by side")
        if "time" not in roles.column:
            said.append("rows as frames")
    if said:
        notes.append(f"{name}: read {', '.join(said)}")
    ends = [roles.column[p] for p in POSITIONS if not objects and p in roles.column]
    if (unit := common_ending(ends)) and not wishes.unit:
        notes.append(
            f"{name}: {', '.join(ends)} end with {unit!r}: lengths are in {unit} "
            "(else: unit=…, --unit)"
        )
    if origin:
        notes.append(f"{name}: time in seconds since {origin}")
    counted = columns.is_frame_number(roles.column.get("time", "frame"))
    if counted and wishes.fps is None:
        notes.append(f"{name}: time is counted in frames; fps=… (--fps) makes it seconds")
    # Without a heading, or called "Unnamed: 0": the index of a data frame.
    left = [n for n in roles.unused if n != "(index)" and not n.startswith("Unnamed: ")]
    if left:
        notes.append(f"{name}: left alone {', '.join(left)} (extra=… makes features of them)")
    return notes


def without_header(table: DataTable, wishes: Wishes, source: Source) -> Reading:
    """A table of numbers alone has the columns that were named, or those of pedestrian data."""
    given = () if isinstance(wishes.columns, Mapping) else tuple(wishes.columns)
    names = given or HEADERLESS
    if len(table.columns) != len(names):
        raise BadInput(
            f"{source.name} has no header and {len(table.columns)} columns: name them in order, "
            "for example columns=['time', 'object', 'x', 'y'] (--columns time,object,x,y)."
        )
    notes = [] if given else [f"{source.name} has no header: read as {', '.join(names)}"]
    named = [(name, column) for name, (_, column) in zip(names, table.columns, strict=True)]
    return from_table(DataTable(named), replace(wishes, columns={}), source, notes)
