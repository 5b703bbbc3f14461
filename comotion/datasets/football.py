"""One football match as a camera saw it: players come and go, identities are lost and swapped."""

import json
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from comotion.data import Trajectories, read
from comotion.errors import BadInput

FPS = 10.0
MATCH, FRAMES = "skillcorner_match_data.json", "skillcorner_structured_data.json"


def football() -> Trajectories:
    """The match that kloppy carries for its own tests; one sequence for each half."""
    package = find_spec("kloppy")
    if package is None or package.origin is None:
        raise BadInput("football needs kloppy: pip install 'comotion[data]'.")
    files = Path(package.origin).parent / "tests" / "files"
    if not (files / FRAMES).is_file():
        raise BadInput(f"{FRAMES} is not in this version of kloppy: install kloppy 3.19.")
    match = json.loads((files / MATCH).read_text())
    columns = _columns(match, json.loads((files / FRAMES).read_text()))
    return read(columns, unit="m", keep_jumps=True, quiet=True)


def _columns(match: dict[str, Any], frames: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """A row for each player in each picture; whom nobody could name goes by the track's number."""
    others = {match["ball"]["trackable_object"]}
    others |= {referee["trackable_object"] for referee in match["referees"]}
    columns = defaultdict(list)
    for frame in frames:
        for seen in frame["data"] if frame["period"] else ():
            who = seen.get("trackable_object")
            if who in others or seen.get("group_name") == "referee":
                continue
            columns["sequence"].append(f"half {frame['period']}")
            columns["object"].append(f"track {seen['track_id']}" if who is None else str(who))
            columns["time"].append(frame["frame"] / FPS)
            columns["x"].append(seen["x"])
            columns["y"].append(seen["y"])
    return {name: np.array(column) for name, column in columns.items()}
