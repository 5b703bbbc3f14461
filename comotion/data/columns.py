"""The names people give to the columns of a table, and the part that each column plays."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from comotion.data.checks import KEYS, POSITIONS, PREFIXES, VELOCITIES
from comotion.errors import BadInput

PARTS = (*KEYS, *POSITIONS, *VELOCITIES)

POSITION = (
    "pos_{0} {0}_pos pos{0} position_{0} {0}_position {0}_coord coord_{0} {0}_coordinate "
    "{0}_center center_{0} {0}_centroid centroid_{0} c{0} {0}_world world_{0} {0}_m {0}_cm {0}_mm "
    "{0}_px location_{0} {0}_location {0}#wcentroid"
)
VELOCITY = "v_{0} vel_{0} {0}_vel vel{0} velocity_{0} {0}_velocity"
# In order of trust: a table with both `track_id` and `id` numbers its rows by the latter.
SYNONYMS = {
    "sequence": "sequence_id seq scene scene_id recording recording_id trial trial_id video "
    "video_id session session_id episode experiment replicate clip run",
    "object": "object_id track track_id particle particle_id agent agent_id pedestrian "
    "pedestrian_id ped ped_id person person_id player player_id individual individual_id animal "
    "animal_id identity fish bird robot vehicle vehicle_id cell cell_id target_id instance body "
    "entity node id name label",
    "time": "t seconds time_s time_sec sec timestamp time_stamp datetime date position_t frame "
    "frame_id frame_number frame_no frame_idx frame_index frame_nr fr image step",
    **{axis: POSITION.format(axis) for axis in POSITIONS},
    **{f"v{axis}": VELOCITY.format(axis) for axis in POSITIONS},
}
FRAMES = tuple(word for word in SYNONYMS["time"].split() if word.startswith(("fr", "image")))


@dataclass(frozen=True)
class Roles:
    """The column that plays each part, what is left alone, and what was guessed."""

    column: Mapping[str, str]
    features: tuple[str, ...]
    static: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> "Roles":
        """The same where these columns are neither parts nor left alone."""
        column = {part: name for part, name in self.column.items() if name not in names}
        return replace(
            self,
            column=column,
            guessed=tuple(part for part in self.guessed if part in column),
            unused=tuple(name for name in self.unused if name not in names),
        )


def find_roles(
    names: Sequence[str], named: Mapping[str, str], extra: Sequence[str], where: str
) -> Roles:
    """Sort columns into their parts: those that were named, then exact names, then synonyms.

    Parts without a column are absent from the result; `complete` refuses those that are needed.
    """
    _refuse_repeated(names, where)
    _refuse_unknown(names, named, extra, where)
    prefixed = {p: tuple(name for name in names if name.startswith(p)) for p in PREFIXES}
    taken = {*named.values(), *extra, *prefixed["static_"], *prefixed["control_"]}
    column, guessed = dict(named), []
    for part in PARTS:
        if part not in column and part in names and part not in taken:
            column[part] = part
            taken.add(part)
    for part in PARTS:
        if part not in column and (found := _synonym(part, names, taken)):
            column[part] = found
            taken.add(found)
            guessed.append(part)
    return Roles(
        column,
        _features(column, where),
        prefixed["static_"],
        prefixed["control_"],
        tuple(extra),
        tuple(name for name in names if name not in taken),
        tuple(guessed),
    )


def complete(roles: Roles, names: Sequence[str], where: str) -> Roles:
    missing = [part for part in ("object", "time", "x") if part not in roles.column]
    if missing:
        part = missing[0]
        raise BadInput(
            f"{where} has no column {part!r} (it has {', '.join(names)}): add it, or say which "
            f"column holds it: columns={{{part!r}: NAME}}, --columns {part}=NAME."
        )
    return roles


def is_frame_number(column: str) -> bool:
    return plain(column) in FRAMES


def plain(name: str) -> str:
    """Lower case, words joined by _, without a unit in brackets: "Pos X (cm)" is pos_x."""
    name = re.sub(r"[(\[].*?[)\]]", "", name).strip().lower()
    return re.sub(r"[\s.\-_]+", "_", name).strip("_")


def _synonym(part: str, names: Sequence[str], taken: set[str]) -> str | None:
    free = {plain(name): name for name in reversed(names) if name not in taken}
    return next((free[word] for word in (part, *SYNONYMS[part].split()) if word in free), None)


def _features(column: Mapping[str, str], where: str) -> tuple[str, ...]:
    """Positions x, y, z without a gap, then velocities for all of them or for none."""
    positions = tuple(name for name in POSITIONS if name in column)
    velocities = tuple(name for name in VELOCITIES if name in column)
    wanted = tuple("v" + name for name in positions)
    if positions == ("x", "z"):
        raise BadInput(f"{where} has columns x and z but no y: add it or rename z to y.")
    if positions and velocities not in ((), wanted):
        raise BadInput(
            f"{where} has positions {', '.join(positions)} but velocities "
            f"{', '.join(velocities)}: give {', '.join(wanted)} or no velocities."
        )
    return positions + velocities


def _refuse_repeated(names: Sequence[str], where: str) -> None:
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise BadInput(f"{where} has two columns {repeated[0]!r}: remove or rename one.")


def _refuse_unknown(
    names: Sequence[str], named: Mapping[str, str], extra: Sequence[str], where: str
) -> None:
    strange = [part for part in named if part not in PARTS]
    if strange:
        raise BadInput(
            f"columns names the part {strange[0]!r}: the parts are {', '.join(PARTS)}; "
            "write PART=COLUMN, for example object=id."
        )
    absent = [name for name in (*named.values(), *extra) if name not in names]
    if absent:
        raise BadInput(
            f"{where} has no column {absent[0]!r}: it has {', '.join(names)}; choose one of them."
        )
